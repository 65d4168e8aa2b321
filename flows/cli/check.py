"""`evalmill check`: check definition files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flows.cli import options


def check(
    files: Annotated[
        list[Path], typer.Argument(help="Definition files of any kind.", show_default=False)
    ],
    env: options.EnvFile = None,
    allow_outside: options.AllowOutside = False,
    json: options.Json = False,
) -> int:
    """Check definition files; every problem is reported as file:line: key: what; fix.

    Run files, and evaluations whose parts are found, are resolved and their data is read; no
    model is called and no Prefect is needed.

    Example: evalmill check deployments/quickstart.yaml
    """
    from tasks_lib.exit_codes import DONE, WRONG_FILES
    from tasks_lib.jsontext import dumps
    from tasks_lib.plan.check import check_file

    problems: list[str] = []
    warnings: list[str] = []
    for file in files:
        found = check_file(file, env, allow_outside)
        problems += found.problems
        warnings += found.warnings
    problems, warnings = list(dict.fromkeys(problems)), list(dict.fromkeys(warnings))
    if json:
        print(dumps({"problems": problems, "warnings": warnings}))
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for problem in problems:
        print(problem, file=sys.stderr)
    counted = f"{len(files)} file{'s' if len(files) > 1 else ''}"
    if problems:
        noun = "problems" if len(problems) > 1 else "problem"
        print(f"{len(problems)} {noun} in {counted}", file=sys.stderr)
        return WRONG_FILES
    print(f"{counted} in order", file=sys.stderr)
    return DONE

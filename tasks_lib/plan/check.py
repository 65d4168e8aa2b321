"""Checking a definition file as far as it can be checked alone."""

from dataclasses import dataclass
from pathlib import Path

from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.loading import load, load_environment
from tasks_lib.plan.preflight import check_prompts, null_warnings
from tasks_lib.plan.rows import open_rows
from tasks_lib.resolve import Overrides, resolve, undefined_names


@dataclass(frozen=True)
class Findings:
    """What is wrong with a file, and what is only old or doubtful; one text each."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_file(file: Path, env_file: Path | None = None, allow_outside: bool = False) -> Findings:
    """Return what is wrong with one definition file.

    A file that can run is also resolved, its data is read through, and its first prompts are
    made.
    """
    load_environment(env_file)
    warnings: tuple[str, ...] = ()
    try:
        document = load(file, anywhere=allow_outside)
        warnings = document.warnings
        if problems := undefined_names(document):
            raise DefinitionErrors(problems)
        if document.kind in ("run", "evaluation"):
            evaluation = resolve(file, Overrides(env_file=env_file, allow_outside=allow_outside))
            warnings += evaluation.warnings
            rows = open_rows(evaluation)
            warnings += tuple(null_warnings(evaluation, rows))
            check_prompts(evaluation, rows)
    except DefinitionErrors as error:
        return Findings(tuple(str(problem) for problem in error.problems), warnings)
    except DefinitionError as error:
        return Findings((str(error),), warnings)
    return Findings((), tuple(dict.fromkeys(warnings)))

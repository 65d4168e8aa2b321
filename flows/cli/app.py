"""The verbs of `evalmill`, each loaded only when it is used."""

import os
import resource
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from flows.collector import calm_garbage_collection

VERBS: dict[str, str] = {
    "run": "Run an evaluation.",
    "rescore": "Score stored traces again, without calling the evaluated model.",
    "check": "Check definition files; report everything wrong at once.",
    "plan": "Show what a run would do; call nothing.",
    "show": "Show a run's metrics, or one of its samples.",
    "export": "Write a run in the form of another tool.",
    "ls": "List the runs of the store, newest first.",
    "deploy": "Create or update Prefect deployments with their schedules.",
    "server": "Start, stop or look at the local Prefect server.",
    "schema": "Print the JSON Schema of definition files, for editors.",
    "ledger": "Work with the record of model calls.",
}
"""Verb -> what it does; its module is `flows.cli.<verb>`."""


MANY_FILES = 10_000


def make_app(arguments: list[str]) -> typer.Typer:
    """Return the command line, with the module of the verb in `arguments` loaded.

    The other verbs are listed by their help alone: loading all of them would cost every
    command the imports of each.
    """
    app = typer.Typer(
        name="evalmill",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_evalmill)
    used = next((word for word in arguments if not word.startswith("-")), None)
    for verb, summary in VERBS.items():
        command = getattr(import_module(f"flows.cli.{verb}"), verb) if verb == used else _unloaded
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=verb)
        else:
            app.command(verb, short_help=summary, help=summary if verb != used else None)(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"evalmill {version('evalmill')}")
        raise typer.Exit


def _evalmill(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Run LLM evaluations declared in YAML."""


def _unloaded() -> None:
    """Stand for a verb that is only listed."""


def main() -> NoReturn:
    """Run the command line; the exit code is the process's."""
    from flows.cli.failures import guarded
    from tasks_lib.streams import make_safe

    make_safe()
    _allow_many_files()
    calm_garbage_collection()
    arguments = sys.argv[1:] or ["--help"]
    _leave(guarded(make_app(arguments), arguments))


def _allow_many_files() -> None:
    """Let the process open as many files as it ever may: each call in flight is one."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= allowed < MANY_FILES and (allowed < most or most < 0):
        wanted = MANY_FILES if most < 0 else min(MANY_FILES, most)
        with suppress(ValueError, OSError):  # macOS may have a lower limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def _leave(code: int) -> NoReturn:
    """End the process without Python's clearing up.

    It takes 50 ms, and threads still at work don't survive it: one that an interruption found
    in native code, such as the import of Prefect, would make the process abort instead of
    exiting with its code.
    """
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)

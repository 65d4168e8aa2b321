"""`evalmill export`: a run in the form of other tools."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flows.cli import options
from flows.store import store_folder


def export(
    form: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="`task-result`: logs of LatticeFlow AI GO!."),
    ],
    run: Annotated[str, typer.Argument(help="Id or folder of a run; `last` is the newest.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", help="Folder to write to; default: the run's id.", show_default=False
        ),
    ] = None,
    link_logs: Annotated[
        bool,
        typer.Option("--link-logs", help="Have the evaluation load the logs when it is run."),
    ] = False,
    out: options.Store = None,
    json: options.Json = False,
) -> int:
    """Write a run's evaluation, and what came of it, in the form of another tool.

    `task-result` writes <evaluation key>.yaml and task_results/<spec key>/task_result_log.json.

    Example: evalmill export task-result last exported --link-logs
    """
    from tasks_lib.errors import DefinitionError
    from tasks_lib.jsontext import dumps
    from tasks_lib.results.load import find_run
    from tasks_lib.results.task_result.export import export_task_results

    if form != "task-result":
        raise DefinitionError(f"unknown format '{form}'", "FORMAT", "write 'task-result'")
    stored = find_run(run, store_folder(out))
    files = export_task_results(stored, folder or Path(stored.folder.run_id), link=link_logs)
    if json:
        print(dumps([str(file) for file in files]))
    print(f"{len(files)} files written; the evaluation is {files[0]}", file=sys.stderr)
    return 0

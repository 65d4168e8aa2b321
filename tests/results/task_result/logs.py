"""What the tests of task result logs share: exporting a run, and running what was exported."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.local import LocalDriver
from tasks_lib.plan import RunSettings
from tasks_lib.plan.planner import plan_run
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.results.load import load_run
from tasks_lib.results.task_result.export import export_task_results
from tasks_lib.runs.start import start_run
from tests.engine import Engine, Ran


@dataclass(frozen=True)
class Exported:
    """A run in the platform's form."""

    files: list[Path]

    @property
    def evaluation(self) -> Path:
        """The evaluation's file."""
        return self.files[0]

    @property
    def path(self) -> Path:
        """The only log."""
        _, path = self.files
        return path

    @property
    def log(self) -> dict[str, Any]:
        """What the only log holds."""
        found: dict[str, Any] = json.loads(self.path.read_text())
        return found

    @property
    def samples(self) -> list[dict[str, Any]]:
        """Its samples."""
        found: list[dict[str, Any]] = self.log["evidence"]["samples"]
        return found


def exported(engine: Engine, ran: Ran, *, link: bool = True) -> Exported:
    """Export a run of an engine into a folder of its own."""
    folder = engine.folder / f"exported-{ran.run.folder.run_id}"
    return Exported(export_task_results(ran.run, folder, link=link))


def run_file(engine: Engine, file: Path, run_id: str, overrides: Overrides | None = None) -> Ran:
    """Run a file to its end, in the engine's store."""
    settings = RunSettings(engine.store, run_id=run_id)
    run = start_run(*plan_run(resolve(file, overrides or Overrides(allow_outside=True)), settings))
    try:
        driver = LocalDriver(run)
        driver.start()
        result = driver.finish()
    finally:
        run.close()
    return Ran(result, load_run(run_id, engine.store))

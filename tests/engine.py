"""Whole runs in this process, of definitions written as Python values, with a mock model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from flows.local import LocalDriver
from tasks_lib.models.ledger import entries
from tasks_lib.plan import RescoreSource, RunSettings
from tasks_lib.plan.planner import plan_run
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.results.load import StoredRun, load_run
from tasks_lib.runs.start import start_run

ASK = {
    "type": "single_turn_solver",
    "input_builder": {
        "type": "chat_completion",
        "input_messages": [{"role": "user", "content": "{{ sample.q }}"}],
    },
}
"""A solver that asks what stands in the column `q`."""

EQUALS = {"type": "string_equals", "key": "right", "ground_truth": "{{ sample.a }}"}
"""A scorer that compares with the column `a`."""


@dataclass(frozen=True)
class Ran:
    """A run that reached its end."""

    result: Mapping[str, Any]
    run: StoredRun

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Rows of the metrics table by the name of the value."""
        return {row["name"]: row for row in self.result["metrics"]}

    @property
    def values(self) -> dict[str, float | None]:
        """Values of the metrics by name."""
        return {name: row["value"] for name, row in self.metrics.items()}

    @property
    def spec(self) -> dict[str, Any]:
        """What run.json says of the only specification."""
        (spec,) = self.run.record["specs"]
        found: dict[str, Any] = spec
        return found

    def trials(self, scorer: str | None = None) -> pd.DataFrame:
        """The scores of single trials."""
        scores = self.run.scores(scorer)
        return scores[scores["trial"].notna()]

    def aggregates(self, scorer: str | None = None) -> pd.DataFrame:
        """The scores that stand for all trials."""
        scores = self.run.scores(scorer)
        return scores[scores["trial"].isna()]


def python_scorer(source: str, *metrics: str, key: str = "own", **more: Any) -> dict[str, Any]:
    """A scorer that runs a snippet, with the mean of some of its scores."""
    found = [{"type": "mean", "field": field, "name": field} for field in metrics]
    return {
        "type": "python",
        "key": key,
        "compute_scores_snippet": source,
        "metrics": found,
        **more,
    }


def saying(*rules: Mapping[str, Any] | Sequence[str], default: str | None = None) -> dict[str, Any]:
    """A mock model; a list of texts is what it says to sample 0, 1, … in trial 0, 1, …"""
    written = [
        dict(rule)
        if isinstance(rule, Mapping)
        else {"sample_id": str(number), "replies": list(rule)}
        for number, rule in enumerate(rules)
    ]
    config = {"connection_type": "mock", "rules": written}
    if default is not None:
        config["default"] = default
    return {"key": "lab", "display_name": "Lab", "config": config}


@dataclass
class Engine:
    """Runs in one folder, sharing a store and so a ledger."""

    folder: Path
    number: int = 0

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def write(
        self,
        definition: Mapping[str, Any],
        data: Sequence[Mapping[str, Any]] = (),
        *,
        models: Sequence[Mapping[str, Any]] = (),
        datasets: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        specification: Mapping[str, Any] | None = None,
        config_spec: Sequence[Mapping[str, Any]] = (),
        run_config: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write a run file of one task; `data` is the dataset `qa`, which it reads."""
        all_data = {"qa": data, **(datasets or {})}
        for key, rows in all_data.items():
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (self.folder / f"{key}.jsonl").write_text(text)
        task = {
            "key": "exam",
            "display_name": "Exam",
            "description": "Asks.",
            "config_spec": list(config_spec),
            "definition": definition,
        }
        run = {
            "models": list(models),
            "datasets": [
                {
                    "key": key,
                    "display_name": key,
                    "source": {"type": "local", "file_path": f"{key}.jsonl"},
                }
                for key in all_data
            ],
            "tasks": [task],
            "evaluation": {
                "key": "e",
                "display_name": "E",
                "task_specifications": [
                    {"task_key": "exam"}
                    | ({"model_key": "lab"} if definition.get("solver") else {})
                    | (specification or {})
                ],
            },
            "run_config": run_config or {},
        }
        file = self.folder / "run.yaml"
        file.write_text(json.dumps(run))
        return file

    def run(
        self,
        definition: Mapping[str, Any] | None = None,
        data: Sequence[Mapping[str, Any]] = (),
        *,
        overrides: Overrides | None = None,
        rescore: Ran | Path | None = None,
        limit: int | None = None,
        batch_size: int | None = None,
        **more: Any,
    ) -> Ran:
        """Run what `write` writes, or wrote before, to its end."""
        if definition is not None:
            self.write(definition, data, **more)
        self.number += 1
        again = rescore.run.folder.path if isinstance(rescore, Ran) else rescore
        source = RescoreSource(str(again), num_samples=limit) if again else None
        settings = RunSettings(
            self.store, run_id=f"run-{self.number}", batch_size=batch_size, rescore=source
        )
        resolved = resolve(self.folder / "run.yaml", overrides or Overrides())
        run = start_run(*plan_run(resolved, settings))
        try:
            driver = LocalDriver(run)
            driver.start()
            result = driver.finish()
        finally:
            run.close()
        return Ran(result, load_run(f"run-{self.number}", self.store))

    def requests(self, ran: Ran) -> int:
        """How many calls of a run were paid for."""
        return sum(1 for _ in entries(self.store, ran.run.folder.run_id))

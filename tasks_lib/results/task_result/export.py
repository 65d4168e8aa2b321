"""Writing task result logs: what a run's specifications came to, in the platform's form."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from tasks_lib.resolve import Overrides, ResolvedEvaluation, ResolvedSpec, resolve
from tasks_lib.resolve.serialize import dumped, plain, stored_model, yaml_of
from tasks_lib.results.files import read_json, write_atomically, write_text
from tasks_lib.results.folder import part_range, parts
from tasks_lib.results.load import StoredRun
from tasks_lib.results.result_part import ResultPart, read_part
from tasks_lib.results.task_result.metrics import (
    keyed_scorers,
    metric_errors,
    metrics_data,
    run_metrics,
    stored_metrics,
)
from tasks_lib.results.task_result.samples import OWN_KEY, error, sample_evidence
from tasks_lib.results.task_result.tally import Tally, Tokens

LOG_FILE = "task_result_log.json"

Member = tuple[str, Any]
"""Name and value of a member of a JSON object; made when its turn comes."""


def export_task_results(stored: StoredRun, folder: Path, *, link: bool = False) -> list[Path]:
    """Write a run's evaluation and, for each specification, its task result log.

    No more of a run than one batch is in memory at a time.

    Args:
        stored: the run.
        folder: where `<evaluation key>.yaml` and `task_results/<spec key>/` are written.
        link: whether the evaluation names the logs, so that running it loads them.

    Returns:
        The files written, the evaluation first.

    Raises:
        StoreError: the run is not complete, or files can't be read or written.
    """
    stored.require_complete()
    # what was allowed when the run began is allowed still, wherever the store is now
    evaluation = resolve(stored.folder.resolved, Overrides(allow_outside=True))
    logs = {spec.key: Path("task_results", spec.key, LOG_FILE) for spec in evaluation.specs}
    document = evaluation.to_document()
    for written in document["evaluation"]["task_specifications"]:
        written.pop("task_result_log_path", None)
        if link:
            written["task_result_log_path"] = logs[written["key"]].as_posix()
    file = folder / f"{evaluation.key}.yaml"
    write_text(file, yaml_of(document))
    for spec in evaluation.specs:
        log = _Log(stored, evaluation, spec)
        write_atomically(folder / logs[spec.key], log.write)
    return [file, *(folder / log for log in logs.values())]


class _Log:
    """The log of one specification of a stored run."""

    def __init__(
        self, stored: StoredRun, evaluation: ResolvedEvaluation, spec: ResolvedSpec
    ) -> None:
        self._stored = stored
        self._evaluation = evaluation
        self._spec = spec
        done = next(entry for entry in stored.record["specs"] if entry["key"] == spec.key)
        self._num_trials: int = done["num_trials"]
        self._num_runs: int = done["num_runs"]
        self._scorers = keyed_scorers(stored, spec)
        self._metrics = stored_metrics(stored, spec.key)
        self._parts = parts(stored.folder.samples(spec.key))
        self._all = Tally()

    def write(self, path: Path) -> None:
        """Write the log; what its end says was counted while its samples were written."""
        with path.open("wb") as file:
            _write_object(file, self._members())
            file.write(b"\n")

    def _members(self) -> Iterator[Member]:
        yield "format_version", "v1"
        yield "app_version", f"evalmill {version('evalmill')}"
        yield "status", "failure" if self._failed() else "success"
        yield "evidence", partial(_write_object, members=self._evidence())
        yield "specification", self._specification()
        yield "execution", self._execution()
        yield "errors", []
        yield (
            OWN_KEY,
            {
                "run_id": self._stored.folder.run_id,
                "num_trials": self._num_trials,
                "num_runs": self._num_runs,
                "scorers": list(self._scorers),
            },
        )

    def _failed(self) -> bool:
        """Whether nothing came of the task: no metric has a value though there are some."""
        values = [row["value"] for row in self._metrics if row["metric_type"] != "actions"]
        return (bool(values) and all(value is None for value in values)) or bool(self._trouble())

    def _trouble(self) -> str | None:
        """Why a task without samples has no metrics."""
        file = self._stored.folder.evidence(self._spec.key)
        return read_json(file)["error"] if file.exists() else None

    def _evidence(self) -> Iterator[Member]:
        repeated = self._num_runs > 1
        yield "metrics", metrics_data(self._metrics, self._scorers)
        whole = bool(self._parts) and not repeated
        yield "samples", partial(_write_list, values=self._samples(self._all)) if whole else None
        runs = (partial(_write_object, members=self._run(n)) for n in range(self._num_runs))
        yield "runs", partial(_write_list, values=runs) if repeated else None
        trouble = self._trouble()
        errors = [error("code", trouble, "metric")] if trouble else metric_errors(self._metrics)
        yield "errors", errors
        yield "failures", self._all.failures()
        yield "model_token_usages", self._token_usages()

    def _run(self, number: int) -> Iterator[Member]:
        """What is said of one run of the samples."""
        tally = Tally()
        yield "index", number
        yield "metrics", run_metrics(self._stored, self._spec, self._scorers, number)
        yield "samples", partial(_write_list, values=self._samples(tally, number))
        yield "errors", []
        yield "failures", tally.failures()
        self._all.add(tally)

    def _samples(self, tally: Tally, run: int | None = None) -> Iterator[dict[str, Any]]:
        """The evidence of all samples; of one run of the samples alone, if so asked."""
        for part in self._read_parts(run):
            tally.count(part, self._spec.model_key, self._scorers)
            for sample in sample_evidence(
                part,
                self._scorers,
                solved=self._spec.task.definition.solver is not None,
                several=self._num_trials > 1,
            ):
                tally.ended_as(failed=bool(sample["errors"]))
                yield sample

    def _read_parts(self, run: int | None) -> Iterator[ResultPart]:
        for path in self._parts:
            start, stop = part_range(path)
            part = read_part(self._stored.folder, self._spec.key, self._scorers, start, stop)
            yield part if run is None else _of_run(part, run)

    def _token_usages(self) -> list[dict[str, Any]]:
        """Tokens by model; a model's id is its place among those of the evaluation."""
        places = {key: place for place, key in enumerate(self._evaluation.models)}
        return [
            {
                "model_id": places[key],
                "purpose": purpose,
                "prompt_tokens": tokens.prompt,
                "completion_tokens": tokens.completion,
                "model_key": key,
            }
            for (key, purpose), tokens in self._all.tokens.items()
        ]

    def _specification(self) -> dict[str, Any]:
        spec = self._spec
        trials = {"num_trials": self._num_trials} if self._num_trials > 1 else None
        return {
            "display_name": spec.display_name,
            "task": plain(spec.written),
            "config": plain(spec.config),
            "evaluated_entity": self._evaluated(),
            "run_config": {
                "num_samples": spec.num_samples,
                "subsampling": spec.subsampling,
                "cache_policy": self._evaluation.cache_policy,
                "trials_config": trials,
            },
            "repeatability_config": {"num_runs": self._num_runs} if self._num_runs > 1 else None,
        }

    def _evaluated(self) -> dict[str, Any] | None:
        """What is evaluated: a model, or else the datasets; a task may look at neither."""
        spec = self._spec
        if spec.model_key is not None:
            return {"type": "model", **stored_model(self._evaluation.models[spec.model_key])}
        if not spec.datasets:
            return None
        datasets = [dumped(dataset) for dataset in spec.datasets.values()]
        return {"type": "dataset", "datasets": datasets}

    def _execution(self) -> dict[str, Any]:
        record = self._stored.record
        started, ended = self._all.started, self._all.ended
        if started is None or ended is None:
            started, ended = _seconds(record["started_at"]), _seconds(record["finished_at"])
        tokens = self._all.tokens.get((self._spec.model_key or "", "test"), Tokens())
        return {
            "runtime": ended - started,
            "started_at": started,
            "ended_at": ended,
            "model_usage": {
                "num_samples": self._all.samples,
                "num_completion_tokens": tokens.completion,
                "num_prompt_tokens": tokens.prompt,
            },
        }


def _of_run(part: ResultPart, run: int) -> ResultPart:
    """Return what belongs to one run of the samples."""
    return ResultPart(
        [record for record in part.records if record.trial == run],
        {
            key: [score for score in scores if score.trial == run]
            for key, scores in part.scores.items()
        },
    )


def _write(file: BinaryIO, value: Any) -> None:
    """Write a value; a function writes its own, so that a large one is never in memory."""
    if callable(value):
        value(file)
    else:
        file.write(orjson.dumps(value))


def _write_object(file: BinaryIO, members: Iterable[Member]) -> None:
    separator = b"{"
    for name, value in members:
        file.write(separator + orjson.dumps(name) + b":")
        _write(file, value)
        separator = b",\n"
    file.write(b"}")


def _write_list(file: BinaryIO, values: Iterable[Any]) -> None:
    separator = b"[\n"
    for value in values:
        file.write(separator)
        _write(file, value)
        separator = b",\n"
    file.write(b"[]" if separator == b"[\n" else b"\n]")


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()

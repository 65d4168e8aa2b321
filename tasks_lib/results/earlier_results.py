"""Earlier results as datasets: the rows of a result with what came of them."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from tasks_lib.errors import DefinitionError, EvalmillError
from tasks_lib.jsontext import loads
from tasks_lib.resolve.earlier_results import is_log
from tasks_lib.results.folder import part_range, parts
from tasks_lib.results.load import StoredRun, load_run
from tasks_lib.results.result_part import ResultPart, read_part
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.task_result.index import LogIndex
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.samples import Sample
from tasks_lib.sources import Rows, Subsampling
from tasks_lib.sources.base import digest
from tasks_lib.sources.choosing import chosen_places

ADDED_COLUMNS = ("output_text", "trace", "scores")
"""Columns that rows of a result have beside the sample's own."""


@dataclass(frozen=True)
class StoredResult:
    """A specification's part of a complete run, read as `LoggedSamples` is."""

    run: StoredRun
    spec_key: str

    @property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """The samples `[start, stop)` that are read together."""
        return [part_range(path) for path in parts(self.run.folder.samples(self.spec_key))]

    def part(self, start: int, stop: int) -> ResultPart:
        """Return the rows and scores of one of the ranges."""
        scorers = self.run.scorer_keys(self.spec_key)
        return read_part(self.run.folder, self.spec_key, scorers, start, stop)

    def fingerprint(self) -> str:
        """Return a hash of the result."""
        return digest(self.run.folder.run_id, self.spec_key)


class ResultRows(Rows):
    """The solved rows of an earlier result, one for each sample, trial and row.

    Each has the sample's columns, and `output_text`, `trace` and `scores`, a mapping from
    scorers to their scores; these win over columns of the same name. Where there were
    several trials or runs, the id ends in `@` and the trial.

    Args:
        result: the result; read through once.

    Attributes:
        left_out: rows that have failed and so are no samples.
    """

    def __init__(self, result: StoredResult | LoggedSamples) -> None:
        self.left_out = 0
        self._result = result
        self._ranges = result.ranges
        # of each solved row, the range it is in and its place there
        self._in_range, self._inside = array("Q"), array("Q")
        self._several = False
        self._part = lru_cache(maxsize=4)(result.part)
        columns: dict[str, None] = {}
        for number, (start, stop) in enumerate(self._ranges):
            for place, record in enumerate(result.part(start, stop).records):
                self._several |= record.trial > 0
                if record.status == "ok":
                    self._in_range.append(number)
                    self._inside.append(place)
                    columns.update(dict.fromkeys(loads(record.sample)))
                else:
                    self.left_out += 1
        self.columns = tuple(dict.fromkeys([*columns, *ADDED_COLUMNS]))
        self._chosen: Sequence[int] = range(len(self._inside))

    def chosen(self, num_samples: int | None, subsampling: Subsampling) -> Self:
        """Keep so many rows only; return the rows themselves."""
        if num_samples is not None and num_samples < len(self):
            self._chosen = chosen_places(len(self), num_samples, subsampling)
        return self

    def __len__(self) -> int:
        return len(self._chosen)

    def take(self, places: Sequence[int]) -> list[Sample]:
        return [self._sample(place) for place in places]

    def fingerprint(self) -> str:
        return digest("result", self._result.fingerprint(), str(self._chosen))

    def _sample(self, place: int) -> Sample:
        found = self._chosen[place]
        part = self._part(*self._ranges[self._in_range[found]])
        position = self._inside[found]
        record = part.records[position]
        scores = {key: rows[position].values for key, rows in part.scores.items()}
        return Sample(self._id(record), place, _row(record, scores))

    def _id(self, record: SampleRecord) -> str:
        return f"{record.sample_id}@{record.trial}" if self._several else record.sample_id


def _row(record: SampleRecord, scores: dict[str, Any]) -> dict[str, Any]:
    return {
        **loads(record.sample),
        "output_text": record.output_text,
        "trace": loads(record.trace),
        "scores": {key: values for key, values in scores.items() if values is not None},
    }


def result_rows(key: str, store: Path) -> ResultRows:
    """Return the rows of an earlier result.

    Args:
        key: `<run id>/<specification's key>`, the run's id where it has one specification, or
            the absolute path of a task result log.
        store: where runs are.

    Raises:
        DefinitionError: there is no such result.
    """
    if is_log(key):
        return ResultRows(LoggedSamples(LogIndex(Path(key)), ""))
    run_id, _, spec_key = key.partition("/")
    try:
        run = load_run(run_id, store)
        run.require_complete()
    except EvalmillError as error:
        raise DefinitionError(error.problem, f"task result '{key}'", error.fix) from None
    keys = run.spec_keys
    spec_key = spec_key or (keys[0] if len(keys) == 1 else "")
    if spec_key not in keys:
        named = ", ".join(f"{run_id}/{known}" for known in keys)
        raise DefinitionError("there is no such result", f"task result '{key}'", f"known: {named}")
    return ResultRows(StoredResult(run, spec_key))

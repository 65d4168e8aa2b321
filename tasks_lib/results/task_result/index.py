"""Finding one's way in a task result log: its head in memory, its samples by their places."""

import re
from array import array
from pathlib import Path
from typing import Any, BinaryIO

from tasks_lib.errors import DefinitionError
from tasks_lib.jsontext import loads
from tasks_lib.results.task_result.json_stream import JsonStream
from tasks_lib.results.task_result.samples import OWN_KEY
from tasks_lib.trace.evidence import SampleEvidence, TaskResultLog

_FOLDER_NAME = re.compile(r"[A-Za-z0-9_-]{1,250}")
_NO_SCORERS = frozenset({"", "actions", "task_scorer"})
"""What stands for a scorer in metrics that none has made."""


class LogIndex:
    """A task result log, read through once.

    Args:
        path: the log.

    Attributes:
        path: the same.
        log: the log without its samples and without those of its runs.
        num_trials: trials of every sample; 1 is none.
        num_runs: runs of the samples; 1 is none.
        scorers: keys of the scorers that the log tells of.
        digest: hash of the file.

    Raises:
        DefinitionError: the file can't be read, or is no task result log.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.num_trials = self.num_runs = 1
        self._entries = [_Entries()]
        self._found: dict[str, None] = {}
        try:
            with path.open("rb") as file:
                stream = JsonStream(file)
                tree = self._walk(stream)
                self.digest = stream.digest()
            self.log = TaskResultLog.accept(tree, "the log")
        except OSError as error:
            raise DefinitionError(f"can't be read: {error.strerror or error}", str(path)) from None
        except (TypeError, ValueError) as error:
            raise DefinitionError(
                str(error), str(path), "give a task result log, such as evalmill export writes"
            ) from None
        if self.log["format_version"] != "v1":
            version = f"format_version is '{self.log['format_version']}'"
            raise DefinitionError(version, str(path), "evalmill reads 'v1'")
        own = self.log.get(OWN_KEY) or {}
        self.num_trials = own.get("num_trials", self.num_trials)
        self.scorers = self._scorers(own)

    def __len__(self) -> int:
        """Return the number of samples."""
        return max(len(entries) for entries in self._entries)

    @property
    def evidence(self) -> dict[str, Any]:
        """What came of the task, samples apart; nothing when it failed as a whole."""
        return self.log["evidence"] or {}

    def samples(self, place: int) -> list[tuple[int, list[dict[str, Any]]]]:
        """Return the evidence of one sample: run -> its rows.

        Raises:
            DefinitionError: the log changed since it was read through.
        """
        try:
            with self.path.open("rb") as file:
                return [
                    (run, [_read(file, *span) for span in entries.spans(place)])
                    for run, entries in enumerate(self._entries)
                ]
        except (OSError, ValueError) as error:
            raise DefinitionError(f"changed while it was used: {error}", str(self.path)) from None

    def _walk(self, stream: JsonStream) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for name in stream.members():
            if name == "evidence" and stream.peek() == "{":
                tree[name] = self._walk_evidence(stream, 0)
            else:
                tree[name] = stream.value()
        return tree

    def _walk_evidence(self, stream: JsonStream, run: int) -> dict[str, Any]:
        """Walk through the evidence of the task or of one of its runs."""
        tree: dict[str, Any] = {}
        for name in stream.members():
            if name == "samples" and stream.peek() == "[":
                self._walk_samples(stream, self._entries[run])
                tree[name] = None
            elif name == "runs" and stream.peek() == "[":
                for number in stream.elements():
                    self.num_runs = number + 1
                    self._entries[number:] = [_Entries()]  # samples of all runs stand in these
                    self._walk_evidence(stream, number)
                tree[name] = None
            else:
                tree[name] = stream.value()
        return tree

    def _walk_samples(self, stream: JsonStream, entries: "_Entries") -> None:
        for place in stream.elements():
            start, stop, sample = stream.measured()
            _check(sample, f"samples[{place}]")
            entries.add(start, stop, (sample.get(OWN_KEY) or {}).get("sample_index"))
            trials = sample.get("trials") or []
            self.num_trials = max(self.num_trials, len(trials))
            for scored in (sample, *trials):
                told = [*(scored.get("scores") or ()), *(scored.get("errors") or ())]
                self._found.update(
                    (entry["scorer_key"], None) for entry in told if "scorer_key" in entry
                )

    def _scorers(self, own: dict[str, Any]) -> list[str]:
        metrics = self.evidence.get("metrics") or ()
        made = (metric["scorer_key"] for metric in metrics if len(self))
        found = [key for key in dict.fromkeys([*self._found, *made]) if key not in _NO_SCORERS]
        keys: list[str] = own.get("scorers", found)
        for key in keys:
            if not _FOLDER_NAME.fullmatch(key):
                raise DefinitionError(f"'{key}' can't be a scorer's key", str(self.path))
        return keys


class _Entries:
    """Where the samples of one run of the task are, those made of one sample together."""

    def __init__(self) -> None:
        self._starts, self._stops = array("Q"), array("Q")
        self._first = array("Q")  # of each sample, the number of its first entry
        self._index: int | None = None

    def __len__(self) -> int:
        return len(self._first)

    def add(self, start: int, stop: int, index: int | None) -> None:
        """Take the next entry; `index` is that of its sample, where the log says it."""
        if index is None or index != self._index:
            missing = 0 if index is None else max(0, index - len(self._first))
            self._first.extend([len(self._starts)] * (missing + 1))
        self._index = index
        self._starts.append(start)
        self._stops.append(stop)

    def spans(self, place: int) -> list[tuple[int, int]]:
        """Return where the entries of a sample start and stop."""
        if place >= len(self._first):
            return []
        following = self._first[place + 1 : place + 2]
        last = following[0] if following else len(self._starts)
        found = range(self._first[place], last)
        return [(self._starts[number], self._stops[number]) for number in found]


def _check(sample: Any, where: str) -> None:
    """Check a sample's form, apart from outputs: a wrong one is that sample's error alone.

    Raises:
        ValueError: it has another form.
    """
    if isinstance(sample, dict):
        trials = sample.get("trials")
        if isinstance(trials, list):
            trials = [_outward(trial) if isinstance(trial, dict) else trial for trial in trials]
            sample = {**sample, "trials": trials}
        sample = _outward(sample)
    SampleEvidence.accept(sample, where)


def _outward(sample: dict[str, Any]) -> dict[str, Any]:
    """Return a sample or a trial without its output, and with an id that may be a number."""
    named = sample.get("sample_id")
    return {**sample, "solver": None, "sample_id": None if named is None else str(named)}


def _read(file: BinaryIO, start: int, stop: int) -> dict[str, Any]:
    file.seek(start)
    sample: dict[str, Any] = loads(file.read(stop - start))
    return sample

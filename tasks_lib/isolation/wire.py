"""What passes between a snippet's process and ours: JSON frames, records marked as such.

The mark is a random word made for each process, so that no data can be mistaken for it.
Arguments are plain JSON and records; results may hold anything, and what can't travel arrives
as a stand-in that looks like it in messages.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from tasks_lib.errors import bounded
from tasks_lib.trace import SolverTrace
from tasks_lib.trace.evidence import SampleScore
from tasks_lib.trace.grouped import GroupedSolverOutput, GroupedSolverTrace
from tasks_lib.trace.legacy import SingleSolverOutput
from tasks_lib.trace.plain import View, raw_of
from tasks_lib.trace.record import Record

HEADER = 8
"""Bytes that say how long a frame is."""

_RECORDS: dict[str, type[Record]] = {
    record.__name__: record
    for record in (
        SolverTrace,
        SingleSolverOutput,
        GroupedSolverTrace,
        GroupedSolverOutput,
        SampleScore,
    )
}
_NAMES = {record: name for name, record in _RECORDS.items()}


class Foreign:
    """Stands for an object that could not leave its process.

    Args:
        shown: its `repr`, bounded.
    """

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown


def framed(message: Any) -> bytes:
    """Return a message of plain JSON as a frame; NaN and lone surrogates survive.

    Raises:
        TypeError, ValueError: it is not plain JSON.
    """
    body = json.dumps(message, separators=(",", ":"), default=_raw).encode()
    return len(body).to_bytes(HEADER) + body


def _raw(value: Any) -> Any:
    if isinstance(value, View):
        return raw_of(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def arguments(values: tuple[Any, ...], mark: str) -> list[Any]:
    """Return what a snippet is called with, records at the top or one list deep marked."""
    return [_marked(value, mark) for value in values]


def _marked(value: Any, mark: str) -> Any:
    name = _NAMES.get(type(value))
    if name is not None:
        return {mark: name, "data": raw_of(value)}
    if type(value) is list and value and type(value[0]) in _NAMES:
        return [_marked(member, mark) for member in value]
    return value


def read_arguments(values: list[Any], mark: str) -> list[Any]:
    """Return arguments as they were before they travelled."""
    return [_read_argument(value, mark) for value in values]


def _read_argument(value: Any, mark: str) -> Any:
    if type(value) is dict and mark in value:
        return _RECORDS[value[mark]].view(value["data"])
    if type(value) is list and value and type(value[0]) is dict and mark in value[0]:
        return [_read_argument(member, mark) for member in value]
    return value


def result(value: Any, mark: str) -> Any:
    """Return what a snippet returned as plain JSON."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    name = _NAMES.get(type(value))
    if name is not None:
        return {mark: name, "data": result(raw_of(value), mark)}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {str(key): result(member, mark) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [result(member, mark) for member in value]
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return result(value.tolist(), mark)
    if hasattr(value, "model_dump"):
        return result(value.model_dump(), mark)
    if is_dataclass(value) and not isinstance(value, type):
        return result(asdict(value), mark)
    for kind in (str, bool, int, float):
        if isinstance(value, kind):  # such as the member of a string enum
            return kind(value)
    return {mark: "", "data": bounded(repr(value), 200)}


def read_result(value: Any, mark: str) -> Any:
    """Return what a snippet returned, records as such."""
    if isinstance(value, list):
        return [read_result(member, mark) for member in value]
    if not isinstance(value, dict):
        return value
    if mark in value:
        record = _RECORDS.get(value[mark])
        data = read_result(value["data"], mark)
        return record.view(data) if record is not None else Foreign(data)
    return {key: read_result(member, mark) for key, member in value.items()}

"""Solver outputs in groups: several conversations about one sample, in order or by name.

A group travels as one solver trace of all that was said, which also says where each
conversation ends: so it is stored like any other, and what knows no groups reads it as one.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from tasks_lib.trace.fields import Field
from tasks_lib.trace.legacy import SingleSolverOutput
from tasks_lib.trace.nested import LookedAt, NestedList, RecordList, dump
from tasks_lib.trace.plain import View, raw_of
from tasks_lib.trace.record import Record
from tasks_lib.trace.solver_trace import SolverTrace
from tasks_lib.trace.trace import Trace

_GROUP = "evalmill_group"
"""Key of a joined trace's `metadata.extra`: name, items and raw outputs of each conversation."""


class _Group(NestedList):
    """A list of records, or an object of them by name."""

    def read(self, record: View, raw: Any) -> Any:
        if isinstance(raw, dict):
            return {name: self.shape.view(member) for name, member in raw.items()}
        return super().read(record, raw)

    def write(self, value: Any, where: str) -> Any:
        if isinstance(value, dict):
            return {
                name: self.shape.accept(member, f"{where}.{name}") for name, member in value.items()
            }
        return super().write(value, where)

    def adopt(self, record: View, value: Any) -> None:
        if not isinstance(value, dict):
            super().adopt(record, value)

    def dump(self, record: View, exclude_unset: bool) -> Any:
        value = getattr(record, self.name)
        if isinstance(value, dict):
            return {name: dump(member, exclude_unset) for name, member in value.items()}
        return dump(value, exclude_unset)


class GroupedSolverOutput(Record):
    """Several legacy outputs for one sample, in order or by name."""

    solver_outputs: Field[RecordList[SingleSolverOutput] | dict[str, SingleSolverOutput]] = _Group(
        SingleSolverOutput
    )


class GroupedSolverTrace(Record):
    """Several solver traces for one sample, in order or by name."""

    solver_outputs: Field[RecordList[SolverTrace] | dict[str, SolverTrace]] = _Group(SolverTrace)


SolverOutput = SolverTrace | SingleSolverOutput | GroupedSolverTrace | GroupedSolverOutput


def _output_class(data: dict[str, Any]) -> type[SolverOutput]:
    if "trace" in data:
        return SolverTrace
    if "solver_outputs" not in data:
        return SingleSolverOutput
    group = data["solver_outputs"]
    members = group.values() if isinstance(group, dict) else group
    traced = all("trace" in member for member in members)
    return GroupedSolverTrace if traced else GroupedSolverOutput


SOLVER_OUTPUT: LookedAt[SolverOutput] = LookedAt(_output_class, "a solver output")


def joined(outputs: Iterable[SolverTrace] | Mapping[str, SolverTrace]) -> SolverTrace:
    """Return several solver traces as one; `regrouped` gives them back."""
    names: list[str] | None = None
    if isinstance(outputs, Mapping):
        names, outputs = list(outputs), outputs.values()
    members = [(output.trace.raw_items, output.raw_outputs_json) for output in outputs]
    lengths = [[len(items), len(raw_outputs)] for items, raw_outputs in members]
    trace = Trace.from_items(
        [item for items, _ in members for item in items],
        metadata={"extra": {_GROUP: {"names": names, "lengths": lengths}}},
    )
    return SolverTrace(trace, [raw for _, raw_outputs in members for raw in raw_outputs])


def is_grouped(output: SolverTrace) -> bool:
    """Return whether a solver trace is several, joined."""
    return _group(output) is not None


def regrouped(output: SolverTrace) -> SolverTrace | GroupedSolverTrace:
    """Return the solver traces that `joined` made one; any other trace as it is."""
    group = _group(output)
    if group is None:
        return output
    items, raw_outputs = iter(output.trace.raw_items), iter(output.raw_outputs_json)
    members = [
        SolverTrace(Trace.from_items(islice(items, n_items)), list(islice(raw_outputs, n_outputs)))
        for n_items, n_outputs in group["lengths"]
    ]
    if group["names"] is None:
        return GroupedSolverTrace(solver_outputs=members)
    return GroupedSolverTrace(solver_outputs=dict(zip(group["names"], members, strict=True)))


def _group(output: SolverTrace) -> dict[str, Any] | None:
    metadata = raw_of(output.trace).get("metadata")
    extra = metadata.get("extra") if metadata else None
    return extra.get(_GROUP) if extra else None

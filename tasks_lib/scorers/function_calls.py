"""The function calls a scorer looks for, and those a model made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Discriminator, Tag

from tasks_lib import jsontext
from tasks_lib.base import Definition
from tasks_lib.errors import SampleError, bounded
from tasks_lib.placeholders import neutralised
from tasks_lib.scorers.score import Row
from tasks_lib.scorers.templated import evaluated, rendered
from tasks_lib.templates import TemplateSource, compile_template
from tasks_lib.trace import SolverTrace, Trace
from tasks_lib.trace.grouped import GroupedSolverTrace


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made, or is looked for.

    Attributes:
        name: the function's.
        arguments: of a call that was made, None where they are no JSON object; of one that is
            looked for, None where any arguments do.
    """

    name: str
    arguments: dict[str, Any] | None = None

    def is_met_by(self, made: "Call") -> bool:
        """Tell whether `made` is the call that is looked for: arguments are equal throughout."""
        return self.name == made.name and self.arguments in (None, made.arguments)

    def to_json(self) -> dict[str, Any]:
        """Return the call as a JSON object."""
        return {"name": self.name, "arguments": self.arguments}


def _each_text(value: Any, change: Callable[[str], Any]) -> Any:
    """Return JSON `value` with `change` made to every text in it, keys apart."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _each_text(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_each_text(item, change) for item in value]
    return value


def _with_templates(arguments: dict[str, Any]) -> dict[str, Any]:
    _each_text(arguments, lambda text: compile_template(neutralised(text)))
    return arguments


class ListedCall(Definition):
    """A call that is looked for, with these very arguments if any are given."""

    name: TemplateSource
    """Name of the function, case kept."""
    arguments: Annotated[dict[str, Any], AfterValidator(_with_templates)] | None = None
    """All arguments of the call; every text in them is a template. Default: any arguments."""

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.arguments or ())))  # 1 and 1.0 are equal values


def _entry_form(value: Any) -> str:
    return "call" if isinstance(value, dict | ListedCall) else "text"


def _form(value: Any) -> str:
    return "list" if isinstance(value, list | tuple) else "text"


# Told apart by their form, so that complaints are about the one that is written.
_Text = Annotated[TemplateSource, Tag("text")]
_Entry = Annotated[_Text | Annotated[ListedCall, Tag("call")], Discriminator(_entry_form)]

FunctionCalls: TypeAlias = Annotated[
    _Text | Annotated[tuple[_Entry, ...], Tag("list")], Discriminator(_form)
]
"""Calls to look for: a template that gives a list of them, or the list itself. Each is a
function's name, or an object of `name` and `arguments`."""


def listed_calls(calls: FunctionCalls, row: Row) -> list[Call]:
    """Return the calls that `function_calls` lists for this row.

    Raises:
        SampleError: a template fails, or gives something that is no list of calls.
    """
    if isinstance(calls, str):
        listed = evaluated(calls, "function_calls", row)
    else:
        plain = [call if isinstance(call, str) else call.model_dump() for call in calls]
        listed = _each_text(plain, lambda text: rendered(text, "function_calls", row))
    if not isinstance(listed, list | tuple):
        raise _no_calls(f"'function_calls' gives {bounded(repr(listed), 80)}, which is no list")
    return [_listed(entry) for entry in listed]


def made_calls(row: Row) -> list[Call]:
    """Return the calls in the turns of the row's trace, in order.

    Raises:
        SampleError: there is no trace.
    """
    calls = []
    in_turn = False
    for item in trace_of(row).raw_items:
        if item["type"] == "function_call" and in_turn:
            calls.append(Call(item["name"], _decoded(item["arguments"])))
        elif item["type"] == "message" and item["role"] == "user":
            in_turn = True
    return calls


def trace_of(row: Row) -> Trace:
    """Return the row's trace.

    Raises:
        SampleError: the scorer is not shown one.
    """
    match row.shown_output:
        case SolverTrace() as output:
            return output.trace
        case None:
            what = "there is no solver output"
        case GroupedSolverTrace():
            what = "there are several, one of each conversation"
        case _:
            what = "the older message format has none"
    raise SampleError(
        "data",
        f"function calls are read from a trace, and {what}",
        fix="use a solver with 'message_format: open_responses'",
    )


def _listed(entry: Any) -> Call:
    match entry:
        case str():
            return Call(entry)
        case {"name": str(name)} if isinstance(entry.get("arguments"), dict | None):
            return Call(name, entry.get("arguments"))
    raise _no_calls(f"'function_calls' lists {bounded(repr(entry), 80)}")


def _decoded(arguments: str) -> dict[str, Any] | None:
    try:
        value = jsontext.loads(arguments)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _no_calls(problem: str) -> SampleError:
    fix = 'list names and objects such as {"name": "search", "arguments": {"query": "x"}}'
    return SampleError("data", problem, fix=fix)

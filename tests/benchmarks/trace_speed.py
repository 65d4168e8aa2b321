"""Reading and writing a trace, beside orjson on the same text."""

import json
import timeit
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import orjson

from tasks_lib.trace import SolverTrace, Trace, message_item
from tests.benchmarks.workbench import Result, Workbench

_CALLS = 100
_ROUNDS = 500
_SENTENCE = "The next train to Zürich leaves at 7:32 from platform 4 and takes 56 minutes. "


def measure(bench: Workbench) -> Iterator[Result]:
    """Time one turn, and ten turns with a function call each, in this process."""
    for name, items in (("1 turn", _conversation(1, calls=False)), ("10 turns", _conversation(10))):
        trace = Trace.from_items(items)
        text = trace.to_json()
        size = f"{name}, {len(text) / 1000:.1f} kB"
        plain = {"FORMAT": "open_responses", "items": items}
        loads, stored, foreign, dumps, written, made = _fastest(
            partial(orjson.loads, text),
            partial(_last_text_of_ours, text),
            partial(_last_text_of_anyones, text),
            partial(orjson.dumps, plain),
            trace.to_json,
            partial(SolverTrace, trace, [{}]),
        )
        read = f"Last text of a trace, {size}"
        yield Result(f"{read}, ours", stored, "us", "<= 1.50 x floor", loads, "orjson.loads")
        yield Result(f"{read}, anyone's", foreign, "us", "", loads, "orjson.loads")
        what = f"Text of a trace, {size}"
        yield Result(what, written, "us", "<= 2.00 x floor", dumps, "orjson.dumps")
        yield Result(f"A solver trace, {name}", made, "us", "<= 3 us")


def _last_text_of_ours(text: str) -> str | None:
    return Trace.from_json(text).get_last_assistant_text()


def _last_text_of_anyones(text: str) -> str | None:
    return Trace.load(text).get_last_assistant_text()


def _fastest(*functions: Callable[[], Any]) -> list[float]:
    """Return the least microseconds a call of each takes, over rounds that interleave them."""
    rounds = [
        [timeit.timeit(function, number=_CALLS) / _CALLS * 1e6 for function in functions]
        for _ in range(_ROUNDS)
    ]
    return [min(times) for times in zip(*rounds, strict=True)]


def _conversation(turns: int, calls: bool = True) -> list[dict[str, Any]]:
    items = [message_item("system", _SENTENCE * 3)]
    for turn in range(turns):
        items.append(message_item("user", _SENTENCE))
        if calls:
            shared = {"id": f"fc_{turn}", "call_id": f"call_{turn}", "status": "completed"}
            arguments = json.dumps({"from": "Bern", "to": "Zürich", "turn": turn})
            items.append(
                {"type": "function_call", **shared, "name": "trains", "arguments": arguments}
            )
            items.append({"type": "function_call_output", **shared, "output": _SENTENCE * 5})
        items.append(message_item("assistant", _SENTENCE * 6))
    return items

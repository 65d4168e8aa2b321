"""`function_call_coverage`: the model called the functions it should."""

from collections.abc import Iterable, Sequence
from typing import Literal

from tasks_lib.scorers.base import SampleScorer
from tasks_lib.scorers.function_calls import Call, FunctionCalls, listed_calls, made_calls
from tasks_lib.scorers.score import Row, Score


class FunctionCallCoverage(SampleScorer):
    """How many of the required function calls the model made.

    Each call meets one requirement: those with arguments choose first. Calls before the first
    user message do not count. Needs a solver with `message_format: open_responses`.
    """

    type: Literal["function_call_coverage"] = "function_call_coverage"
    function_calls: FunctionCalls
    """The required calls: a template that gives a list, or the list itself, of names and of
    objects with `name` and `arguments`."""
    mode: Literal["any_order", "in_order"] = "any_order"
    """`in_order`: all are made only if the calls hold the required ones in this order."""

    def judge(self, row: Row) -> Score:
        made = made_calls(row)
        required = listed_calls(self.function_calls, row)
        met = _met(required, made)
        n_met = sum(met)
        return Score(
            values={
                "all_required_calls_made": all(met)
                and (self.mode == "any_order" or _in_order(required, made)),
                "required_calls_coverage": n_met / len(required) if required else 1.0,
                "num_required_calls_made": n_met,
                "num_required_calls_not_made": len(required) - n_met,
                "num_unrequired_calls": len(made) - n_met,
                "num_required_calls_total": len(required),
            },
            metadata={
                "required_function_calls": [call.to_json() for call in required],
                "called_function_calls": [call.to_json() for call in made],
                "matched_required": [
                    call.to_json() for call, is_met in zip(required, met, strict=True) if is_met
                ],
                "unmatched_required": [
                    call.to_json() for call, is_met in zip(required, met, strict=True) if not is_met
                ],
            },
        )

    def shares(self) -> frozenset[str]:
        return frozenset({"required_calls_coverage"})

    def averaged(self) -> tuple[str, ...]:
        return "all_required_calls_made", "required_calls_coverage"


def _met(required: Sequence[Call], made: Iterable[Call]) -> list[bool]:
    """Tell of each requirement whether a call of its own meets it."""
    left = list(made)
    met = [False] * len(required)
    for index in sorted(range(len(required)), key=lambda at: required[at].arguments is None):
        for at, call in enumerate(left):
            if required[index].is_met_by(call):
                met[index] = True
                del left[at]
                break
    return met


def _in_order(required: Iterable[Call], made: Iterable[Call]) -> bool:
    """Tell whether the calls, some left out, are the required ones in their order."""
    calls = iter(made)
    return all(any(wanted.is_met_by(call) for call in calls) for wanted in required)

"""`disallowed_function_calls`: the model kept from functions it should not call."""

from typing import Literal

from tasks_lib.scorers.base import SampleScorer
from tasks_lib.scorers.function_calls import FunctionCalls, listed_calls, made_calls
from tasks_lib.scorers.score import Row, Score


class DisallowedFunctionCalls(SampleScorer):
    """Whether the model made none of the disallowed function calls, and how many it made.

    A name rules out every call of that function, a name with arguments the calls with these
    very arguments. Calls before the first user message do not count. Needs a solver with
    `message_format: open_responses`.
    """

    type: Literal["disallowed_function_calls"] = "disallowed_function_calls"
    function_calls: FunctionCalls
    """The disallowed calls: a template that gives a list, or the list itself, of names and of
    objects with `name` and `arguments`."""

    def judge(self, row: Row) -> Score:
        made = made_calls(row)
        disallowed = listed_calls(self.function_calls, row)
        found = [call for call in made if any(rule.is_met_by(call) for rule in disallowed)]
        return Score(
            values={
                "no_disallowed_calls_made": not found,
                "num_disallowed_calls_made": len(found),
            },
            metadata={
                "disallowed_function_call_names": [call.name for call in disallowed],
                "disallowed_calls": [call.to_json() for call in found],
            },
        )

    def averaged(self) -> tuple[str, ...]:
        return ("no_disallowed_calls_made",)

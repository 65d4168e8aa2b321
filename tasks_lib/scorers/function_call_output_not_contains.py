"""`function_call_output_not_contains`: a function never answered what it should not."""

from typing import Literal

from tasks_lib.scorers.function_outputs import FunctionOutputs


class FunctionCallOutputNotContains(FunctionOutputs):
    """No output of the function matches the pattern; right, too, when it was never called.

    Outputs of calls before the first user message do not count. Needs a solver with
    `message_format: open_responses`.
    """

    type: Literal["function_call_output_not_contains"] = "function_call_output_not_contains"

    def is_right(self, matches: list[str]) -> bool:
        return not matches

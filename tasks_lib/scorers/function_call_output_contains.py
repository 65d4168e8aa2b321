"""`function_call_output_contains`: a function answered what it should."""

from typing import Literal

from tasks_lib.scorers.function_outputs import FunctionOutputs


class FunctionCallOutputContains(FunctionOutputs):
    """Some output of the function matches the pattern; wrong when it was never called.

    Outputs of calls before the first user message do not count. Needs a solver with
    `message_format: open_responses`.
    """

    type: Literal["function_call_output_contains"] = "function_call_output_contains"

    def is_right(self, matches: list[str]) -> bool:
        return bool(matches)

"""What the scorers share that look for a pattern in the outputs of a function."""

import re
from abc import abstractmethod
from typing import Annotated, Any

from pydantic import AfterValidator

from tasks_lib.errors import SampleError, bounded
from tasks_lib.placeholders import neutralised
from tasks_lib.scorers.base import SampleScorer
from tasks_lib.scorers.function_calls import trace_of
from tasks_lib.scorers.score import Row, Score
from tasks_lib.scorers.templated import rendered
from tasks_lib.templates import TemplateSource
from tasks_lib.trace import Trace
from tasks_lib.trace.turns import call_pairs

SEARCH_SECONDS = 5.0
"""Time one output may be searched for; a pattern that backtracks without end fails its row."""


def _pattern(source: str) -> str:
    if not re.search(r"\{[{%#]", source) and source == neutralised(source):
        _compiled(source)
    return source


class FunctionOutputs(SampleScorer):
    """Looks for a regular expression in what one function answered the model."""

    function_name: TemplateSource
    """Name of the function, case kept; sees `sample` and `solver_output`."""
    pattern: Annotated[TemplateSource, AfterValidator(_pattern)]
    """Regular expression to look for anywhere in an output, case kept; a template like the
    name."""

    @abstractmethod
    def is_right(self, matches: list[str]) -> bool:
        """Return whether these are the outputs that should match."""

    def judge(self, row: Row) -> Score:
        trace = trace_of(row)
        name = rendered(self.function_name, "function_name", row)
        try:
            pattern = _compiled(rendered(self.pattern, "pattern", row))
        except ValueError as error:
            raise SampleError("template", str(error)) from None
        matches = [output for output in _outputs(trace, name) if _occurs(pattern, output)]
        return Score(
            values={"is_correct": self.is_right(matches)},
            metadata={"function_call_name": name, "matching_outputs": matches},
        )

    def averaged(self) -> tuple[str, ...]:
        return ("is_correct",)


def _outputs(trace: Trace, name: str) -> list[str]:
    """Return the texts that the function's calls in turns were answered with, in call order."""
    return [
        trace.get_function_output_text(output)
        for call, output in call_pairs(trace.conversation_items)
        if call.name == name and output is not None
    ]


def _compiled(pattern: str) -> Any:
    import regex

    try:
        return regex.compile(pattern)
    except regex.error as error:
        shown = bounded(repr(pattern), 80)
        raise ValueError(f"{shown} is no regular expression: {error}") from None


def _occurs(pattern: Any, text: str) -> bool:
    try:
        return pattern.search(text, timeout=SEARCH_SECONDS, concurrent=True) is not None
    except TimeoutError:
        raise SampleError(
            "data",
            f"looking for {bounded(repr(pattern.pattern), 80)} in an output of {len(text):,} "
            f"characters took more than {SEARCH_SECONDS:g} s",
            fix="write a pattern that tries fewer ways to match",
        ) from None

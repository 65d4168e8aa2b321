"""Looking at the first prompts before anything is called."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from tasks_lib.errors import DefinitionError, DefinitionErrors, SampleError
from tasks_lib.models.predictor import Curious, FirstCall
from tasks_lib.resolve import ResolvedEvaluation, ResolvedSpec
from tasks_lib.results.stored_samples import StoredSamples
from tasks_lib.scorers.base import ModelScorer, SampleScorer
from tasks_lib.scorers.python import PythonScorer
from tasks_lib.scorers.score import Row
from tasks_lib.sources import Rows
from tasks_lib.trace import SolverTrace, Trace, input_items, message_item

LOOKED_AT = 5
"""Samples whose prompts are made beforehand."""

_NUMBERS = re.compile(r"\d+")
_OF_THE_SAMPLE = re.compile(r"'sample\b")
"""A template's complaint about the sample, which is known, and not about replies to come."""


def check_prompts(evaluation: ResolvedEvaluation, rows: Mapping[str, Rows]) -> None:
    """Refuse an evaluation none of whose first prompts can be made, for one reason.

    Prompts of judges are made with a reply that is made up; only what they want of the sample
    counts.

    Args:
        evaluation: what is to be evaluated.
        rows: the selected rows of each specification.

    Raises:
        DefinitionErrors: what is wrong, of every specification.
    """
    problems = [
        problem
        for spec in evaluation.specs
        if spec.log is None
        for problem in _problems(spec, rows[spec.key])
    ]
    if problems:
        raise DefinitionErrors(problems)


def _problems(spec: ResolvedSpec, rows: Rows) -> Iterator[DefinitionError]:
    definition = spec.task.definition
    solver = definition.solver
    samples = rows.read(0, min(LOOKED_AT, len(rows)))
    asks = solver is not None and solver.calls_models and not isinstance(rows, StoredSamples)
    shown = [sample.data for sample in samples]
    replies: list[SolverTrace | None] = [None] * len(samples)
    if solver is not None:
        made = [_tried(partial(solver.first_input, sample)) if asks else None for sample in samples]
        if (problem := _common(made, spec)) is not None:
            yield problem
            return
        replies = [made_up_trace(first) for first in made]
        if solver.postprocessor is not None:
            return  # scorers see what it makes of a sample
    for key, scorer in spec.scorers.items():
        look: Callable[[Row], Any]
        if isinstance(scorer, ModelScorer):
            look = partial(_first_question, scorer)
        elif isinstance(scorer, SampleScorer) and not isinstance(scorer, PythonScorer):
            look = scorer.judge
        else:
            continue
        ends = [
            _tried(partial(look, Row(sample, reply)))
            for sample, reply in zip(shown, replies, strict=True)
        ]
        if (problem := _common(ends, spec, key)) is not None:
            yield problem


def _tried(make: Callable[[], Any]) -> Any:
    """What was made, or the complaint of a template that it can't be."""
    try:
        return make()
    except SampleError as error:
        return error if error.error_class == "template" else None
    except Exception:  # the sample's own trouble, when its turn comes
        return None


def _first_question(scorer: ModelScorer, row: Row) -> None:
    """Make what a scorer asks first, and ask nobody."""
    with suppress(FirstCall):
        asyncio.run(scorer.ask(row, Curious()))


def _common(
    ends: Sequence[Any], spec: ResolvedSpec, scorer: str | None = None
) -> DefinitionError | None:
    """The complaint that all of them share; of a scorer's, only one about the sample."""
    failures = [end for end in ends if isinstance(end, SampleError)]
    if not failures or len(failures) < len(ends):
        return None
    if len({(end.where, _NUMBERS.sub("#", end.problem)) for end in failures}) > 1:
        return None
    first = failures[0]
    if scorer is not None and not _OF_THE_SAMPLE.search(first.problem):
        return None
    who = f"task '{spec.key}'" if scorer is None else f"task '{spec.key}', scorer '{scorer}'"
    samples = "the only sample" if len(ends) == 1 else f"each of the first {len(ends)} samples"
    return DefinitionError(
        f"{first.problem} (in {samples})",
        where=f"{who}: {first.where}" if first.where else who,
        fix=first.fix or "mend the template or the data, or run with --no-preflight",
    )


def made_up_trace(first_input: Any, reply: str = "OK") -> SolverTrace:
    """Return a trace of a conversation that was not held.

    Args:
        first_input: what the model would be sent; None when that is not known.
        reply: what it is made to say.
    """
    try:
        items = input_items(first_input)
    except ValueError:
        items = []
    said = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
    return SolverTrace(
        Trace.from_items([*items, message_item("assistant", reply)]), [{"choices": [said]}]
    )

"""Looking at the first prompts before anything is called."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tasks_lib.errors import DefinitionError, DefinitionErrors, SampleError
from tasks_lib.models.predictor import input_of_first_call
from tasks_lib.resolve import ResolvedEvaluation, ResolvedSpec
from tasks_lib.results.stored_samples import StoredSamples
from tasks_lib.samples import Sample
from tasks_lib.scorers.base import ModelScorer, SampleScorer
from tasks_lib.scorers.python import PythonScorer
from tasks_lib.scorers.score import Row
from tasks_lib.sources import Rows
from tasks_lib.templates import noting_nulls
from tasks_lib.trace import SolverTrace, Trace, input_items, message_item

LOOKED_AT = 5
"""Samples whose prompts are made beforehand."""
NULLS_IN = 50
"""Samples that are looked at for nulls."""

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


def null_warnings(evaluation: ResolvedEvaluation, rows: Mapping[str, Rows]) -> list[str]:
    """Return which columns are null in some of the first samples and so written as `None`.

    Args:
        evaluation: what is to be evaluated.
        rows: the selected rows of each specification.
    """
    return [
        warning
        for spec in evaluation.specs
        if spec.log is None
        for warning in _null_warnings(spec, rows[spec.key])
    ]


@dataclass(frozen=True)
class _Look:
    """What is made of every sample: its first prompt, or what a scorer asks or compares.

    Attributes:
        scorer: whose it is; None for the solver.
        make: makes it, and calls nobody.
    """

    scorer: str | None
    make: Callable[[Sample], Any]


def _looks(spec: ResolvedSpec, rows: Rows) -> Iterator[_Look]:
    solver = spec.task.definition.solver
    asks = solver is not None and solver.calls_models and not isinstance(rows, StoredSamples)

    def row(sample: Sample) -> Row:
        if solver is None:
            return Row(sample.data, None)
        first = _tried(partial(solver.first_input, sample)) if asks else None
        return Row(sample.data, made_up_trace(first))

    if solver is not None and asks:
        yield _Look(None, solver.first_input)
    if solver is not None and solver.postprocessor is not None:
        return  # scorers see what it makes of a sample
    for key, scorer in spec.scorers.items():
        if isinstance(scorer, ModelScorer):
            yield _Look(key, partial(_first_question, scorer, row))
        elif isinstance(scorer, SampleScorer) and not isinstance(scorer, PythonScorer):
            yield _Look(key, partial(_judged, scorer, row))


def _problems(spec: ResolvedSpec, rows: Rows) -> Iterator[DefinitionError]:
    samples = rows.read(0, LOOKED_AT)
    for look in _looks(spec, rows):
        ends = [_tried(partial(look.make, sample)) for sample in samples]
        if (problem := _common(ends, spec, look.scorer)) is not None:
            yield problem
            if look.scorer is None:
                return


def _null_warnings(spec: ResolvedSpec, rows: Rows) -> Iterator[str]:
    samples = rows.read(0, NULLS_IN)
    looks = list(_looks(spec, rows))
    written: Counter[str] = Counter()
    for sample in samples:
        if _has_null(sample.data):
            with noting_nulls() as nulls:
                for look in looks:
                    _tried(partial(look.make, sample))
            written.update(nulls)
    for name, count in written.items():
        owner, _, column = name.partition(".")
        if owner == "sample":
            yield (
                f"{spec.key}: column '{column}' is empty in {count} of the first {len(samples)} "
                f"samples and written as 'None'; to leave it out, write {{{{ {name} or '' }}}}"
            )


def _has_null(data: Mapping[str, Any]) -> bool:
    """Whether a sample, or a row in it where datasets are side by side, has a null."""
    return any(
        value is None or (isinstance(value, dict) and _has_null(value)) for value in data.values()
    )


def _tried(make: Callable[[], Any]) -> Any:
    """What was made, or the complaint of a template that it can't be."""
    try:
        return make()
    except SampleError as error:
        return error if error.error_class == "template" else None
    except Exception:  # the sample's own trouble, when its turn comes
        return None


def _first_question(scorer: ModelScorer, row: Callable[[Sample], Row], sample: Sample) -> None:
    """Make what a scorer asks first, and ask nobody."""
    input_of_first_call(lambda models: scorer.ask(row(sample), models))


def _judged(scorer: SampleScorer, row: Callable[[Sample], Row], sample: Sample) -> None:
    scorer.judge(row(sample))


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

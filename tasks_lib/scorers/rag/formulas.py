"""The scores of a retrieval-augmented answer, out of which claims are entailed by what."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Finding = Literal["correct", "recalled", "response_in_chunks", "target_in_chunks"]
"""What may be found out of a row; the fields of `Evidence`."""

ScoreName = Literal[
    "precision",
    "recall",
    "f1_score",
    "claim_recall",
    "context_precision",
    "context_utilization",
    "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant",
    "hallucination",
    "self_knowledge",
    "faithfulness",
]

SCORES: tuple[ScoreName, ...] = get_args(ScoreName)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Which claims are entailed; empty where it was not found out.

    Attributes:
        n_response: how many claims the response makes.
        n_target: how many claims the target makes.
        correct: per response claim, whether the target entails it.
        recalled: per target claim, whether the response entails it.
        response_in_chunks: per retrieved text, per response claim, whether it entails it.
        target_in_chunks: per retrieved text, per target claim, whether it entails it.
    """

    n_response: int
    n_target: int
    correct: Sequence[bool] = ()
    recalled: Sequence[bool] = ()
    response_in_chunks: Sequence[Sequence[bool]] = ()
    target_in_chunks: Sequence[Sequence[bool]] = ()

    def among(self, response: Sequence[bool], target: Sequence[bool]) -> "Evidence":
        """Return the evidence of the claims that are marked true."""
        return Evidence(
            sum(response),
            sum(target),
            _chosen(self.correct, response),
            _chosen(self.recalled, target),
            [_chosen(chunk, response) for chunk in self.response_in_chunks],
            [_chosen(chunk, target) for chunk in self.target_in_chunks],
        )

    @property
    def relevant(self) -> list[bool]:
        """Per retrieved text, whether it entails a target claim."""
        return [any(chunk) for chunk in self.target_in_chunks]

    @property
    def response_found(self) -> list[bool]:
        """Per response claim, whether a retrieved text entails it."""
        return _any_of(self.response_in_chunks, self.n_response)

    @property
    def target_found(self) -> list[bool]:
        """Per target claim, whether a retrieved text entails it."""
        return _any_of(self.target_in_chunks, self.n_target)

    def response_found_in(self, *, relevant: bool) -> list[bool]:
        """Per response claim, whether a relevant (or an irrelevant) text entails it."""
        pairs = zip(self.response_in_chunks, self.relevant, strict=True)
        return _any_of([chunk for chunk, mark in pairs if mark is relevant], self.n_response)


def _chosen(values: Sequence[bool], marks: Sequence[bool]) -> list[bool]:
    return [value for value, mark in zip(values, marks, strict=True) if mark] if values else []


def _any_of(chunks: Sequence[Sequence[bool]], count: int) -> list[bool]:
    return [any(chunk[i] for chunk in chunks) for i in range(count)]


def _neither(left: Sequence[bool], right: Sequence[bool]) -> list[bool]:
    return [not (one or other) for one, other in zip(left, right, strict=True)]


def _without(left: Sequence[bool], right: Sequence[bool]) -> list[bool]:
    return [one and not other for one, other in zip(left, right, strict=True)]


def _share(marks: Sequence[bool]) -> float | None:
    return sum(marks) / len(marks) if marks else None


def _f1_score(found: Evidence) -> float | None:
    precision, recall = _share(found.correct), _share(found.recalled)
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _noise_in_relevant(found: Evidence) -> float | None:
    return _share(_without(found.response_found_in(relevant=True), found.correct))


def _noise_in_irrelevant(found: Evidence) -> float | None:
    outside = _without(
        found.response_found_in(relevant=False), found.response_found_in(relevant=True)
    )
    return _share(_without(outside, found.correct))


_Formula = tuple[Callable[[Evidence], float | None], frozenset[Finding]]

_FORMULAS: dict[ScoreName, _Formula] = {
    "precision": (lambda found: _share(found.correct), frozenset({"correct"})),
    "recall": (lambda found: _share(found.recalled), frozenset({"recalled"})),
    "f1_score": (_f1_score, frozenset({"correct", "recalled"})),
    "claim_recall": (lambda found: _share(found.target_found), frozenset({"target_in_chunks"})),
    "context_precision": (lambda found: _share(found.relevant), frozenset({"target_in_chunks"})),
    "context_utilization": (
        lambda found: _share(_chosen(found.recalled, found.target_found)),
        frozenset({"target_in_chunks", "recalled"}),
    ),
    "noise_sensitivity_in_relevant": (
        _noise_in_relevant,
        frozenset({"correct", "response_in_chunks", "target_in_chunks"}),
    ),
    "noise_sensitivity_in_irrelevant": (
        _noise_in_irrelevant,
        frozenset({"correct", "response_in_chunks", "target_in_chunks"}),
    ),
    "hallucination": (
        lambda found: _share(_neither(found.response_found, found.correct)),
        frozenset({"correct", "response_in_chunks"}),
    ),
    "self_knowledge": (
        lambda found: _share(_without(found.correct, found.response_found)),
        frozenset({"correct", "response_in_chunks"}),
    ),
    "faithfulness": (
        lambda found: _share(found.response_found),
        frozenset({"response_in_chunks"}),
    ),
}


def findings_for(scores: Iterable[ScoreName]) -> frozenset[Finding]:
    """Return what must be found out to compute these scores."""
    return frozenset[Finding]().union(*(_FORMULAS[score][1] for score in scores))


def rag_scores(scores: Iterable[ScoreName], found: Evidence) -> dict[str, float | None]:
    """Return these scores, each from 0 to 1; None where there is nothing to divide by."""
    return {score: _FORMULAS[score][0](found) for score in scores}

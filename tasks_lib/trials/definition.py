"""What a task may say of trials."""

from collections.abc import Collection
from typing import Annotated, Self

from pydantic import Field, model_validator

from tasks_lib.base import Definition
from tasks_lib.trials.aggregators import Aggregator, UnbiasedPassAggregator


class ScoreAggregator(Definition):
    """How one score is aggregated over trials."""

    score_name: str
    """The score, of every scorer that produces it."""
    aggregator: Aggregator
    """What its values come to."""

    @property
    def result_name(self) -> str:
        """Name of what they come to, among the aggregated scores."""
        return self.aggregator.score_name or f"{self.score_name}.{self.aggregator.label}"


class Trials(Definition):
    """How often every sample is solved and scored, and how its scores are aggregated."""

    num_trials: Annotated[int, Field(ge=2)]
    """Trials of every sample, at least two."""
    score_aggregators: tuple[ScoreAggregator, ...] | None = None
    """Further results beside the mean, which numbers and booleans always get."""

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        seen: set[str] = set()
        for entry in self.score_aggregators or ():
            name, aggregator = entry.result_name, entry.aggregator
            if name in seen:
                raise ValueError(
                    f"two aggregators give '{name}'; give one a 'score_name' of its own"
                )
            if name == entry.score_name and aggregator.function != "mean":
                raise ValueError(
                    f"'{name}' always is the mean of the score of that name; "
                    f"give {aggregator.label} another 'score_name'"
                )
            seen.add(name)
        return self

    def unknown_scores(self, given: Collection[str]) -> list[str]:
        """Return the scores that aggregators name and no scorer gives."""
        named = dict.fromkeys(entry.score_name for entry in self.score_aggregators or ())
        return [name for name in named if name not in given]

    def check_enough(self, num_trials: int) -> None:
        """Check that every aggregator can be computed of so many trials.

        Raises:
            ValueError: one needs more.
        """
        for entry in self.score_aggregators or ():
            aggregator = entry.aggregator
            if isinstance(aggregator, UnbiasedPassAggregator) and aggregator.k > num_trials:
                raise ValueError(
                    f"{aggregator.label} of '{entry.score_name}' needs {aggregator.k} trials, "
                    f"and there are {num_trials}; raise 'num_trials' or lower 'k'"
                )

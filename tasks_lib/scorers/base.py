"""What a scorer is: a definition that turns a row into named scores."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

from pydantic import model_validator

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.keys import UserKey, unique_keys
from tasks_lib.metrics import Metric
from tasks_lib.metrics.mean import Mean
from tasks_lib.models.predictor import Predictor
from tasks_lib.scorers.no_answer import marked
from tasks_lib.scorers.score import Row, Score
from tasks_lib.solvers.call_range import CallRange, CallRanges

Datasets: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""Name of a dataset -> the columns of each of its rows."""


class BaseScorer(Definition, ABC):
    """Scores rows; the kinds below say how many at a time."""

    type: str
    key: UserKey | None = None
    """Name in results; made from the type where it is left out."""
    display_name: str | None = None
    """Name shown to people."""
    purpose: Literal["score", "qa"] = "score"
    """`qa`: checks the evaluation itself; its metrics stay out of the headline."""
    metrics: tuple[Metric, ...] | None = None
    """What to aggregate; the scorer's own choice where it is left out."""

    @model_validator(mode="after")
    def _metric_keys_differ(self) -> Self:
        self.keyed_metrics()
        return self

    def shares(self) -> frozenset[str]:
        """Return the scores whose numbers always lie between 0 and 1.

        Their means get bounds, and intervals that end there.
        """
        return frozenset()

    def averaged(self) -> tuple[str, ...]:
        """Return the scores whose means are the metrics when the author names none."""
        return ()

    def columns(self) -> Mapping[str, str]:
        """Return the columns a sample must have: the field that names each -> its name."""
        return {}

    def calls(self) -> CallRanges:
        """Return how many calls of each model a row takes, as far as the definition tells."""
        return {}

    def keyed_metrics(self) -> dict[str, Metric]:
        """Return the metrics in force, each under its own key, in order.

        Raises:
            ValueError: two were given the same key.
        """
        metrics = self.metrics
        if metrics is None:
            metrics = tuple(Mean(field=score) for score in self.averaged())
        keys = unique_keys((metric.key, metric.made_key()) for metric in metrics)
        return dict(zip(keys, metrics, strict=True))


class SampleScorer(BaseScorer, ABC):
    """Scores each row by itself, on the CPU alone."""

    @abstractmethod
    def judge(self, row: Row) -> Score:
        """Return the scores of one row; members say here what they are."""

    def score(self, row: Row) -> Score:
        """Return the scores of one row, marked when the model gave no answer to score.

        Raises:
            SampleError: the row can't be scored.
        """
        return marked(self.judge(row), row.solver_output)

    def score_each(self, rows: Sequence[Row]) -> list[Score | SampleError]:
        """Score rows one by one; a failure is that row's alone."""
        return [attempted(self.judge, row) for row in rows]


def attempted(judge: Callable[[Row], Score], row: Row) -> Score | SampleError:
    """Return the scores of one row, marked as `score` does, or why it has none."""
    try:
        return marked(judge(row), row.solver_output)
    except SampleError as error:
        return error
    except Exception as error:
        return SampleError("code", f"{type(error).__name__}: {error}")


class ModelScorer(BaseScorer, ABC):
    """Asks a model about each row; runs on the model loop, many rows at a time."""

    @property
    @abstractmethod
    def asked_model(self) -> str:
        """Key of the model that is asked."""

    @property
    @abstractmethod
    def calls_per_row(self) -> CallRange:
        """How many calls one row takes, as far as the definition tells."""

    def calls(self) -> CallRanges:
        return {self.asked_model: self.calls_per_row}

    @abstractmethod
    async def ask(self, row: Row, calls: Predictor) -> Score:
        """Return the scores of one row; members say here what they are."""

    async def score(self, row: Row, calls: Predictor) -> Score:
        """Return the scores of one row, marked when the model gave no answer to score.

        Raises:
            SampleError: the row can't be scored.
        """
        return marked(await self.ask(row, calls), row.solver_output)


class AllSamplesScorer(BaseScorer, ABC):
    """Scores all rows together, because a score depends on the other rows."""

    @abstractmethod
    def score_all(self, rows: Sequence[Row], datasets: Datasets | None = None) -> list[Score]:
        """Return one score per row, in order.

        Args:
            rows: all rows that were evaluated, in dataset order.
            datasets: of a task with several datasets, the rows of each by its name; those of
                the first are as many as `rows`. None for the one-dataset form.

        Raises:
            SampleError: no row gets a score.
        """

"""What is counted while the samples of a task result log are written."""

from dataclasses import dataclass, field

from tasks_lib.jsontext import loads
from tasks_lib.results.result_part import ResultPart
from tasks_lib.results.task_result.samples import Scorers
from tasks_lib.scorers.base import ModelScorer


@dataclass(slots=True)
class Tokens:
    """Tokens of one model."""

    prompt: int = 0
    completion: int = 0


@dataclass(slots=True)
class Tally:
    """Counts of what was written.

    Attributes:
        total: samples written; those that a postprocessor made count each.
        failed: of these, with an error.
        samples: samples of the dataset, once each trial.
        tokens: by model and what it was called for, `test` or `judge`.
        started: when the first row began, seconds since the epoch; None before there is one.
        ended: when the last one ended.
    """

    total: int = 0
    failed: int = 0
    samples: int = 0
    tokens: dict[tuple[str, str], Tokens] = field(default_factory=dict)
    started: float | None = None
    ended: float | None = None

    def failures(self) -> dict[str, int]:
        """Return how many samples failed, out of how many."""
        return {"num_errors": self.failed, "num_total": self.total}

    def ended_as(self, *, failed: bool) -> None:
        """Count one sample."""
        self.total += 1
        self.failed += failed

    def count(self, part: ResultPart, model_key: str | None, scorers: Scorers) -> None:
        """Count times, tokens and samples of a part.

        Args:
            part: the rows.
            model_key: the evaluated model.
            scorers: the scorers by key, of which some ask models.
        """
        for record in part.records:
            self._lasted(record.started_at / 1e6, record.started_at / 1e6 + record.duration_s)
            self.samples += record.row == 0
            if model_key is not None:
                self._used(model_key, "test", record.input_tokens, record.output_tokens)
        for key, scores in part.scores.items():
            scorer = scorers[key]
            if isinstance(scorer, ModelScorer):
                for score in scores:
                    used = (loads(score.metadata) if score.metadata else {}).get("usage")
                    if used:
                        tokens = used["input_tokens"], used["output_tokens"]
                        self._used(scorer.asked_model, "judge", *tokens)

    def add(self, other: "Tally") -> None:
        """Count what another has counted."""
        self.total += other.total
        self.failed += other.failed
        self.samples += other.samples
        for (model_key, purpose), tokens in other.tokens.items():
            self._used(model_key, purpose, tokens.prompt, tokens.completion)
        if other.started is not None and other.ended is not None:
            self._lasted(other.started, other.ended)

    def _used(self, model_key: str, purpose: str, prompt: int, completion: int) -> None:
        tokens = self.tokens.setdefault((model_key, purpose), Tokens())
        tokens.prompt += prompt
        tokens.completion += completion

    def _lasted(self, started: float, ended: float) -> None:
        self.started = started if self.started is None else min(self.started, started)
        self.ended = ended if self.ended is None else max(self.ended, ended)

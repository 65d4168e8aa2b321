"""What calls will cost, before any is made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tasks_lib.definitions.model import Model
from tasks_lib.definitions.price import Price
from tasks_lib.jsontext import dumps
from tasks_lib.models.predictor import input_of_first_call
from tasks_lib.plan.plan import Plan
from tasks_lib.plan.preflight import made_up_trace
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.samples import Sample
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.scorers.score import Row
from tasks_lib.solvers.call_range import CallRange

CHARACTERS_PER_TOKEN = 4.0
ASSUMED_REPLY = 300
"""Tokens of a reply where no parameter limits them."""
QUESTIONS = 5
"""Samples whose questions to judges are made to see their size."""

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


@dataclass(frozen=True)
class Estimate:
    """What one caller's calls of one model come to.

    Attributes:
        model: the model's key.
        caller: `solver`, or `scorer:<key>`.
        calls: of all samples and trials.
        prompt_tokens: of a first call; None when it can't be built beforehand.
        reply_tokens: of a call.
        reply_limited: whether `reply_tokens` is the most a reply may have, and not assumed.
        least_usd: the cost of the least calls; None when unknown.
        most_usd: the cost of the most; None when unknown or without end.
    """

    model: str
    caller: str
    calls: CallRange
    prompt_tokens: int | None
    reply_tokens: int
    reply_limited: bool
    least_usd: float | None
    most_usd: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return {
            "model": self.model,
            "caller": self.caller,
            "calls": {"least": self.calls.least, "most": self.calls.most},
            "prompt_tokens": self.prompt_tokens,
            "reply_tokens": self.reply_tokens,
            "reply_tokens_from": "limit" if self.reply_limited else "assumed",
            "least_usd": self.least_usd,
            "most_usd": self.most_usd,
        }


def tokens_of(model_input: Any) -> float:
    """Return about how many tokens a model input has."""
    return len(dumps(model_input)) / CHARACTERS_PER_TOKEN


def estimates(
    plan: Plan, spec: ResolvedSpec, probe: Sequence[tuple[Sample, Any]], attempts: int
) -> list[Estimate]:
    """Return what the calls of a specification come to, caller by caller.

    Args:
        plan: the plan.
        spec: one of its specifications.
        probe: some samples, each with its first model input; None where it can't be foretold.
        attempts: samples times trials.
    """
    return list(_estimates(plan, spec, probe, attempts))


def _estimates(
    plan: Plan, spec: ResolvedSpec, probe: Sequence[tuple[Sample, Any]], attempts: int
) -> Iterator[Estimate]:
    definition = spec.task.definition
    models = plan.evaluation.models
    first_inputs = [first for _, first in probe if first is not None]
    said = ASSUMED_REPLY
    if definition.solver is not None:
        prompt = _mean([tokens_of(first) for first in first_inputs])
        for key, per_sample in definition.solver.calls(spec.model_key or "").items():
            reply, limited = _reply_tokens(models[key], first_inputs)
            said = reply if key == spec.model_key else said
            yield _estimate(plan, key, "solver", per_sample, attempts, prompt, reply, limited)
    words = "word " * int(said * CHARACTERS_PER_TOKEN / len("word "))
    for scorer_key, scorer in spec.scorers.items():
        if isinstance(scorer, ModelScorer):
            sizes = [_question(scorer, *pair, words) for pair in probe[:QUESTIONS]]
            prompt = _mean([size for size in sizes if size is not None])
            for key, per_row in scorer.calls().items():
                reply, limited = _reply_tokens(models[key], [])
                caller = f"scorer:{scorer_key}"
                yield _estimate(plan, key, caller, per_row, attempts, prompt, reply, limited)


def _estimate(
    plan: Plan,
    key: str,
    caller: str,
    each: CallRange,
    attempts: int,
    prompt: float | None,
    reply: int,
    limited: bool,
) -> Estimate:
    least = most = None
    known = plan.prices.get(key)
    if known is not None and prompt is not None:
        grows = caller == "solver"
        least = attempts * _usd(known.price, each.least, prompt, reply, grows)
        if each.most is not None:
            most = attempts * _usd(known.price, each.most, prompt, reply, grows)
    if known is not None and known.price.input == known.price.output == 0:
        least = most = 0.0
    calls = each.times(attempts, attempts)
    tokens = None if prompt is None else round(prompt)
    return Estimate(key, caller, calls, tokens, reply, limited, least, most)


def _usd(price: Price, calls: int, prompt: float, reply: int, grows: bool) -> float:
    """The cost of calls for one sample; in a conversation each shows the replies before it.

    What is said to the model between its replies is taken to be as long as they are.
    """
    sent = calls * prompt + (calls * (calls - 1) * reply if grows else 0)
    return price.of(round(sent), calls * reply)


def _reply_tokens(model: Model, inputs: Sequence[Any]) -> tuple[int, bool]:
    """Tokens of a reply, and whether that is a limit."""
    first = inputs[0] if inputs and isinstance(inputs[0], dict) else {}
    for settings in (first, model.parameters):
        for name in _LIMITS:
            limit = settings.get(name)
            if isinstance(limit, int) and limit > 0:
                return limit, True
    return ASSUMED_REPLY, False


def _question(scorer: ModelScorer, sample: Sample, first_input: Any, words: str) -> float | None:
    """Tokens of what a scorer asks first about a sample; None when that takes a real reply."""
    row = Row(sample.data, made_up_trace(first_input, words))
    try:
        asked = input_of_first_call(lambda models: scorer.ask(row, models))
    except Exception:  # whatever a made-up reply can't do
        return None
    return None if asked is None else tokens_of(asked)


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def summed_usd(found: Sequence[Estimate]) -> dict[str, float | None] | None:
    """Return the cost of all together, `least` and `most`; None when one is not known."""
    if any(one.least_usd is None for one in found):
        return None
    mosts = [one.most_usd for one in found]
    return {
        "least": sum(one.least_usd or 0.0 for one in found),
        "most": None if None in mosts else sum(most or 0.0 for most in mosts),
    }

"""The tokens that a reply states."""

from typing import Any, NamedTuple

_MOST_TOKENS = 2**31  # a count beyond is nonsense, and one that storage can't hold


class TokenCounts(NamedTuple):
    """The tokens of one reply.

    Attributes:
        sent: prompt tokens, those from the provider's cache included.
        made: completion tokens, reasoning included.
        cached: of the prompt tokens, those from the provider's cache.
        reasoned: of the completion tokens, those that were reasoning.
        counted: whether the reply counts both prompt and completion.
    """

    sent: int = 0
    made: int = 0
    cached: int = 0
    reasoned: int = 0
    counted: bool = False


def token_usage(usage: Any) -> tuple[dict[str, Any], TokenCounts]:
    """Return the token counts under the task language's names, and what they come to.

    A count that is missing or no number is null, and counts as 0. Where a provider's total is
    more than prompt and completion, the rest was reasoning that is counted apart. Cache reads
    and writes in Anthropic's form are not part of its prompt tokens, and are added.
    """
    if not isinstance(usage, dict):
        return {}, TokenCounts()
    sent = _tokens(usage, "prompt_tokens", "input_tokens", "num_prompt_tokens")
    made = _tokens(usage, "completion_tokens", "output_tokens", "num_completion_tokens")
    result = {"num_prompt_tokens": sent, "num_completion_tokens": made}
    reasoned = _detail(usage, "completion", "output", "reasoning_tokens")
    if reasoned := reasoned or _tokens(usage, "num_reasoning_tokens") or 0:
        result["num_reasoning_tokens"] = reasoned
    beside = _tokens(usage, "cache_read_input_tokens") or 0
    cached = beside or _detail(usage, "prompt", "input", "cached_tokens")
    if cached := cached or _tokens(usage, "num_cached_tokens", "prompt_cache_hit_tokens") or 0:
        result["num_cached_tokens"] = cached
    total = _tokens(usage, "total_tokens")
    if sent is not None and total is not None:
        made = max(made or 0, total - sent)
    counted = sent is not None and made is not None
    sent = (sent or 0) + beside + (_tokens(usage, "cache_creation_input_tokens") or 0)
    return result, TokenCounts(sent, made or 0, cached, reasoned, counted)


def usage_counts(output: Any) -> TokenCounts:
    """Return the tokens that a reply or a model output of any shape states."""
    return token_usage(output.get("usage") if isinstance(output, dict) else None)[1]


def _detail(usage: dict[str, Any], chat: str, responses: str, name: str) -> int:
    """A count among the details of another, as either OpenAI API has it; 0 without one."""
    for kind in (chat, responses):
        details = usage.get(f"{kind}_tokens_details")
        if isinstance(details, dict):
            return _tokens(details, name) or 0
    return 0


def _tokens(counts: dict[str, Any], *names: str) -> int | None:
    for name in names:
        count = counts.get(name)
        if isinstance(count, int | float) and 0 <= count < _MOST_TOKENS:
            return int(count)
    return None

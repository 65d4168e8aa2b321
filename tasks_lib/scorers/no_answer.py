"""Why a model's reply shows no answer; rows that are scored all the same are marked with it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from tasks_lib.scorers.score import Score
from tasks_lib.trace import SolverTrace

NoAnswer = Literal["empty", "refusal", "truncated", "reasoning_only"]
"""Why there is nothing to see in a reply: nothing at all (or white space), a refusal or a
provider's filter, cut off before the answer, or thoughts without an answer."""

_VISIBLE_PARTS = frozenset({"output_text", "text"})
_THOUGHT_PARTS = frozenset({"reasoning_text", "summary_text"})
_CALLS = frozenset({"function_call", "custom_task_output_message"})


def no_answer(solver_output: SolverTrace | None) -> NoAnswer | None:
    """Return why the last raw output shows no answer; None when it shows one.

    A tool call is an answer, and so is anything that is neither a chat completion nor Open
    Responses items. Without a solver, or without raw outputs, nothing is said.
    """
    raw_outputs = solver_output.raw_outputs_json if solver_output is not None else ()
    if not raw_outputs:
        return None
    raw = raw_outputs[-1]
    message = _message(raw)
    if message is not None:
        return _chat_no_answer(message, raw["choices"][0].get("finish_reason"))
    items = raw.get("items") if isinstance(raw, dict) else None
    if not isinstance(items, list):
        return None
    details = raw.get("incomplete_details")
    return _items_no_answer(items, details.get("reason") if isinstance(details, dict) else None)


def marked(score: Score, solver_output: SolverTrace | None) -> Score:
    """Return `score`, with `no_answer` in its metadata where the model gave none."""
    reason = no_answer(solver_output)
    if reason is None:
        return score
    return replace(score, metadata={"no_answer": reason, **(score.metadata or {})})


def _message(raw_output: Any) -> dict[str, Any] | None:
    """Return the first choice's message of a chat completion."""
    match raw_output:
        case {"choices": [{"message": dict() as message}, *_]}:
            return message
    return None


def _chat_no_answer(message: Mapping[str, Any], finish_reason: Any) -> NoAnswer | None:
    if _says(_parts(message), _VISIBLE_PARTS) or message.get("tool_calls"):
        return None
    return _name(
        refused=_visible(message.get("refusal")) or finish_reason == "content_filter",
        cut=finish_reason == "length",
        reasoned=_visible(message.get("reasoning_content")) or _visible(message.get("reasoning")),
    )


def _items_no_answer(items: list[Any], incomplete: Any) -> NoAnswer | None:
    if _answers(items):
        return None
    items = [item for item in items if isinstance(item, dict)]
    parts = [part for item in items for part in _parts(item)]
    if _says(parts, _VISIBLE_PARTS) or any(item.get("type") in _CALLS for item in items):
        return None
    return _name(
        refused=any(_visible(part.get("refusal")) for part in parts)
        or incomplete == "content_filter",
        cut=any(item.get("status") == "incomplete" for item in items)
        or incomplete == "max_output_tokens",
        reasoned=_says(parts, _THOUGHT_PARTS)
        or any(item.get("type") == "reasoning" for item in items),
    )


def _answers(items: list[Any]) -> bool:
    """Whether the last item is text to be seen, as in nearly every reply: a quick look."""
    match items:
        case [*_, {"content": [{"type": "output_text", "text": str(text)}]}]:
            return _visible(text)
    return False


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the content parts of a message; content that is text is one part."""
    content = message.get("content")
    if isinstance(content, list):
        return [part for part in content if isinstance(part, dict)]
    return [{"type": "text", "text": content}]


def _name(*, refused: bool, cut: bool, reasoned: bool) -> NoAnswer:
    """Return the most telling reason: a reply cut off while it thought is `truncated`."""
    if refused:
        return "refusal"
    if cut:
        return "truncated"
    return "reasoning_only" if reasoned else "empty"


def _says(parts: Iterable[Mapping[str, Any]], kinds: frozenset[str]) -> bool:
    return any(part.get("type") in kinds and _visible(part.get("text")) for part in parts)


def _visible(text: Any) -> bool:
    return isinstance(text, str) and bool(text) and not text.isspace()

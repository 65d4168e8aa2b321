"""Measures a dialogue: how long it took, and whether it was cut off."""

from __future__ import annotations

from typing import Any

_MAX_REPLIES = int("<< config.max_replies >>")


def compute_scores(sample: dict[str, Any], solver_output: Any) -> dict[str, Any]:
    """Score one conversation.

    Scores: `user_messages`, the opening included; `cut_off`, the user had not ended it when
    no more replies were allowed; `words_per_reply` of the assistant.
    """
    trace = solver_output.trace
    user_messages = len(trace.user_messages)
    replies = [message.text for message in trace.assistant_messages]
    return {
        "user_messages": user_messages,
        "cut_off": user_messages > _MAX_REPLIES,
        "words_per_reply": sum(len(reply.split()) for reply in replies) / len(replies),
    }

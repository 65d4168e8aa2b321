"""Compares translations with their references by characters, and looks for missing ones."""

from __future__ import annotations

from typing import Any

from sacrebleu import sentence_chrf

_SOURCE_COLUMN = "<< config.source_column >>"
_REFERENCE_COLUMN = "<< config.reference_column >>"


def compute_scores(sample: dict[str, Any], solver_output: Any) -> dict[str, Any]:
    """Score one translation.

    Scores: `chrf`, from 0 to 1; `untranslated`, the reply is empty or the source itself,
    though the reference is not. The texts are kept for the metric of the whole corpus.
    """
    source, reference = str(sample[_SOURCE_COLUMN]), str(sample[_REFERENCE_COLUMN])
    reply = (solver_output.trace.get_last_assistant_text() or "").strip()
    return {
        "scores": {
            "chrf": sentence_chrf(reply, [reference]).score / 100,
            "untranslated": reply in ("", source.strip()) and reply != reference.strip(),
        },
        "metadata": {"reply": reply, "reference": reference},
    }

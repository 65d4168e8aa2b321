"""BLEU of the whole corpus, the number that papers give."""

from __future__ import annotations

from typing import Any

from sacrebleu import corpus_bleu


def compute_metrics(scores: list[Any]) -> dict[str, float]:
    """Return BLEU of all translations together, from 0 to 1."""
    replies = [score.metadata["reply"] for score in scores]
    references = [score.metadata["reference"] for score in scores]
    return {"Corpus BLEU": corpus_bleu(replies, [references]).score / 100}

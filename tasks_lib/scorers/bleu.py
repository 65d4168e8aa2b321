"""`bleu`: how many word sequences of the expected text the answer has."""

from functools import cache
from typing import Any, Literal

from tasks_lib.scorers.text_comparison import TextComparison


class Bleu(TextComparison):
    """BLEU of the answer against one reference, from 0 (no overlap) to 1 (the same words).

    Sequences of 1 to 4 tokens weigh the same, tokens are those of mteval-13a, case counts,
    short answers are penalised, and nothing is smoothed: an answer that shares no sequence of
    four tokens scores 0, even the very text where it has fewer. No measure for single words.
    """

    type: Literal["bleu"] = "bleu"

    def compared(self, expected: str, predicted: str) -> dict[str, Any]:
        return {"bleu_score": _bleu(predicted, expected)}

    def shares(self) -> frozenset[str]:
        return frozenset({"bleu_score"})

    def averaged(self) -> tuple[str, ...]:
        return ("bleu_score",)


def _bleu(hypothesis: str, reference: str) -> float:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    score: float = _corpus_bleu().corpus_score([hypothesis], [[reference]]).score
    # sacrebleu would keep the last 65,536 texts of all runs, each of them twice.
    Tokenizer13a.__call__.cache_clear()
    TokenizerRegexp.__call__.cache_clear()
    return min(score / 100, 1.0)  # equal texts come out as 100.00000000000004


@cache
def _corpus_bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize="13a", smooth_method="none", force=True)

"""`recall`: how much of what should be found was."""

from typing import Literal

from tasks_lib.metrics.count_ratio import CountRatio


class Recall(CountRatio):
    """True positives over all positives there are, of counts summed over the rows."""

    type: Literal["recall"] = "recall"
    num_false_negatives_field: str
    """Score field with the number of false negatives of a row."""

    @property
    def false_fields(self) -> tuple[str, ...]:
        return (self.num_false_negatives_field,)

"""`precision`: how much of what was found is right."""

from typing import Literal

from tasks_lib.metrics.count_ratio import CountRatio


class Precision(CountRatio):
    """True positives over all positives that were found, of counts summed over the rows."""

    type: Literal["precision"] = "precision"
    num_false_positives_field: str
    """Score field with the number of false positives of a row."""

    @property
    def false_fields(self) -> tuple[str, ...]:
        return (self.num_false_positives_field,)

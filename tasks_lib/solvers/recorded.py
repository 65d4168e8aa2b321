"""Traces that a column of the dataset holds."""

from typing import Any

from tasks_lib.errors import SampleError
from tasks_lib.trace import Trace


def recorded_trace(sample: dict[str, Any], column: str) -> Trace:
    """Return the trace that a column of a sample holds.

    Raises:
        SampleError: there is no such column, or it holds no trace.
    """
    if column not in sample:
        raise SampleError(
            "data",
            f"there is no column '{column}'",
            fix="name the trace's column in 'trace_column'",
        )
    try:
        return Trace.load(sample[column])
    except ValueError as error:
        raise SampleError("data", f"column '{column}' holds no trace: {error}") from None

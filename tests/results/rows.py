"""Rows for the tests of tables."""

from collections.abc import Sequence
from typing import Any

from tasks_lib.results.schemas import (
    SampleRecord,
)
from tasks_lib.results.score_records import ScoreRecord

RECORD = SampleRecord(
    spec_key="spec",
    sample_id="1",
    sample_index=0,
    trial=0,
    row=0,
    sample='{"q":"?"}',
    trace='{"items":[]}',
    raw_outputs="[]",
    output_text="yes",
    finish_reason="stop",
    status="ok",
    error_stage=None,
    error_class=None,
    error_message=None,
    calls=1,
    ledger_hits=0,
    input_tokens=3,
    output_tokens=5,
    cost_usd=None,
    started_at=1_700_000_000_123_456,
    duration_s=0.25,
)


def scored(values: Sequence[dict[str, Any] | None], first: int = 0) -> list[ScoreRecord]:
    """Scored rows with these values, of samples from `first` on."""
    return [
        ScoreRecord(str(index), index, 0, 0, "ok", values=found)
        for index, found in enumerate(values, first)
    ]

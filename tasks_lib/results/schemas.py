"""The columns of the Parquet tables of a run."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from tasks_lib.results.score_kinds import ScoreKind

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = "1"


Place = tuple[int, int, int | None]
"""Where a row stands: sample index, row, and trial; None for the aggregate over trials."""


@dataclass(slots=True)
class SampleRecord:
    """One row of `samples`: what a sample's trial came to.

    Attributes:
        spec_key: the task specification.
        sample_id: the sample's id.
        sample_index: its place in the dataset's order.
        trial: zero-based trial, or run of a repeatability.
        row: zero-based place among the rows a postprocessor made of one sample.
        sample: the dataset row as JSON.
        trace: the conversation as JSON, in Open Responses form; empty items when there is none.
        raw_outputs: the evaluated model's outputs as a JSON list.
        output_text: the last assistant text; null when there is none.
        finish_reason: why the model's last reply ended; null when unknown.
        status: `ok`, `error` or `skipped`.
        error_stage: `dataset` or `solver`; null unless status is `error`.
        error_class: one of `errors.ERROR_CLASSES`; null unless status is `error`.
        error_message: what went wrong; null unless status is `error`.
        calls: model replies used.
        ledger_hits: of these, taken from the ledger.
        input_tokens: prompt tokens of these.
        output_tokens: completion tokens of these.
        cost_usd: the price of these, paid now or when they were recorded; null when unknown.
        started_at: UTC, microseconds since the epoch.
        duration_s: seconds from start to the row's end.
    """

    spec_key: str
    sample_id: str
    sample_index: int
    trial: int
    row: int
    sample: str
    trace: str
    raw_outputs: str
    output_text: str | None
    finish_reason: str | None
    status: Literal["ok", "error", "skipped"]
    error_stage: str | None
    error_class: str | None
    error_message: str | None
    calls: int
    ledger_hits: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    started_at: int
    duration_s: float

    @property
    def place(self) -> Place:
        """Where the row stands."""
        return self.sample_index, self.row, self.trial


SAMPLE_COLUMNS = tuple(field.name for field in fields(SampleRecord))

SCORE_COLUMNS = (
    "sample_id",
    "sample_index",
    "trial",
    "row",
    "status",
    "error_class",
    "error_message",
    "excluded",
    "action_rules",
    "metadata",
)
"""The columns of `scores` that come before the score fields."""

METRIC_COLUMNS = (
    "spec_key",
    "task_key",
    "model_key",
    "scorer_key",
    "purpose",
    "metric_key",
    "metric_type",
    "name",
    "value",
    "stderr",
    "ci_low",
    "ci_high",
    "ci_level",
    "ci_method",
    "n",
    "n_total",
    "n_error",
    "n_skipped",
    "n_excluded",
    "bound_low",
    "bound_high",
    "reason",
)


def sample_schema() -> "pa.Schema":
    """Schema of `samples`."""
    import pyarrow as pa

    text = pa.string()
    types: dict[str, Any] = {
        "sample_index": pa.int64(),
        "trial": pa.int32(),
        "row": pa.int32(),
        "calls": pa.int32(),
        "ledger_hits": pa.int32(),
        "input_tokens": pa.int64(),
        "output_tokens": pa.int64(),
        "cost_usd": pa.float64(),
        "started_at": pa.timestamp("us", tz="UTC"),
        "duration_s": pa.float64(),
    }
    nullable = {
        "output_text",
        "finish_reason",
        "error_stage",
        "error_class",
        "error_message",
        "cost_usd",
    }
    columns = [pa.field(name, types.get(name, text), name in nullable) for name in SAMPLE_COLUMNS]
    return pa.schema(columns, metadata=_metadata("samples"))


def score_schema(kinds: dict[str, ScoreKind]) -> "pa.Schema":
    """Schema of `scores` for score fields of the given kinds, in that order."""
    import pyarrow as pa

    types: dict[str, Any] = {
        "sample_index": pa.int64(),
        "trial": pa.int32(),
        "row": pa.int32(),
        "excluded": pa.bool_(),
        "action_rules": pa.list_(pa.field("element", pa.string())),  # as Parquet names it
    }
    nullable = {"trial", "error_class", "error_message", "metadata"}
    by_kind: dict[str, Any] = {
        "bool": pa.bool_(),
        "share": pa.float64(),
        "number": pa.float64(),
        "text": pa.string(),
        "json": pa.string(),
        "null": pa.string(),
    }
    columns = [
        pa.field(name, types.get(name, pa.string()), name in nullable) for name in SCORE_COLUMNS
    ]
    for name, kind in kinds.items():
        columns.append(pa.field(name, by_kind[kind], True, metadata={"kind": kind}))
    return pa.schema(columns, metadata=_metadata("scores"))


def metric_schema() -> "pa.Schema":
    """Schema of `metrics.parquet`."""
    import pyarrow as pa

    numbers = {"value", "stderr", "ci_low", "ci_high", "ci_level", "bound_low", "bound_high"}
    types: dict[str, Any] = {name: pa.float64() for name in numbers}
    types |= {name: pa.int64() for name in METRIC_COLUMNS if name == "n" or name[:2] == "n_"}
    required = {"spec_key", "task_key", "scorer_key", "metric_key", "name", "n", "n_total"}
    return pa.schema(
        [
            pa.field(name, types.get(name, pa.string()), name not in required)
            for name in METRIC_COLUMNS
        ],
        metadata=_metadata("metrics"),
    )


def _metadata(table: str) -> dict[str, str]:
    return {"evalmill.table": table, "evalmill.schema_version": SCHEMA_VERSION}

"""The metrics table, as people read it in a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rich import box
from rich.table import Table
from rich.text import Text

from tasks_lib.report.listing import ListedRow
from tasks_lib.report.text import one_line


def metrics_table(metrics: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of metric rows, headline metrics first.

    Args:
        metrics: rows of the metrics table; a specification's and model's column is shown
            only where they differ between rows.
    """
    headline = [row for row in metrics if row["purpose"] != "qa"]
    ordered = headline + [row for row in metrics if row["purpose"] == "qa"]
    several_specs = len({row["spec_key"] for row in ordered}) > 1
    several_models = len({row["model_key"] for row in ordered}) > 1
    skipped = any(row["n_skipped"] for row in ordered)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    if several_specs:
        table.add_column("task")
    if several_models:
        table.add_column("model")
    table.add_column("scorer")
    table.add_column("metric")
    table.add_column("value", justify="right")
    table.add_column("95% interval", justify="right")
    table.add_column("n", justify="right")
    table.add_column("errors", justify="right")
    if skipped:
        table.add_column("skipped", justify="right")
    rest = "the rest" if skipped else "errors"
    table.add_column(f"if {rest} were worst…best", justify="right")
    for row in ordered:
        cells = [row["spec_key"]] if several_specs else []
        cells += [row["model_key"] or "-"] if several_models else []
        name = row["name"] + (" (qa)" if row["purpose"] == "qa" else "")
        cells += [row["scorer_key"], name, number(row["value"]), _interval(row)]
        cells += [f"{row['n']:,}", f"{row['n_error']:,}"]
        cells += [f"{row['n_skipped']:,}"] if skipped else []
        cells.append(_bounds(row))
        table.add_row(*(Text(one_line(cell, 60)) for cell in cells))
    return table


def reasons(metrics: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what the table can't say: why a value or an interval is missing."""
    return [
        f"{row['scorer_key']}.{row['name']}: {row['reason']}" for row in metrics if row["reason"]
    ]


def number(value: float | None) -> str:
    """Return a number with four significant digits, or `-`."""
    return "-" if value is None else f"{value:.4g}"


def _interval(row: Mapping[str, Any]) -> str:
    if row["ci_low"] is None or row["ci_high"] is None:
        return "-"
    return f"{row['ci_low']:.4g} … {row['ci_high']:.4g}"


def _bounds(row: Mapping[str, Any]) -> str:
    if not (row["n_error"] or row["n_skipped"]) or row["bound_low"] is None:
        return ""
    return f"{row['bound_low']:.4g} … {row['bound_high']:.4g}"


def runs_table(records: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of runs, in the order given; `records` are their `run.json`."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("run", "status", "started", "samples", "errors", "models"):
        justify: Literal["left", "right"] = "right" if name in ("samples", "errors") else "left"
        table.add_column(name, justify=justify, no_wrap=name in ("run", "status", "started"))
    for record in records:
        specs = record["specs"]
        errors = [spec["n_error"] for spec in specs if spec["n_error"] is not None]
        models = dict.fromkeys(spec["model_key"] for spec in specs if spec["model_key"])
        table.add_row(
            Text(record["run_id"]),
            record["status"],
            record["started_at"][:19].replace("T", " "),
            f"{sum(spec['n_samples'] for spec in specs):,}",
            f"{sum(errors):,}" if errors else "-",
            Text(one_line(", ".join(models) or "-", 40)),
        )
    return table


def listing_table(rows: Sequence[ListedRow]) -> Table:
    """Return a table of listed rows; columns that say the same of all of them are left out."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    specs = len({row.spec_key for row in rows}) > 1
    trials = len({row.trial for row in rows}) > 1
    errors = any(row.error_class for row in rows)
    if specs:
        table.add_column("task")
    table.add_column("sample", no_wrap=True)
    if trials:
        table.add_column("trial", justify="right")
    table.add_column("failed in" if errors else "scorer")
    if errors:
        table.add_column("class")
    table.add_column("message" if errors else "score")
    for row in rows:
        cells = [row.spec_key] if specs else []
        cells.append(row.sample_id)
        cells += ["all" if row.trial is None else str(row.trial)] if trials else []
        cells.append(row.scorer_key or "solver")
        cells += [row.error_class or "-"] if errors else []
        table.add_row(
            *(Text(one_line(cell, 60)) for cell in cells), Text(one_line(row.reason, 300))
        )
    return table

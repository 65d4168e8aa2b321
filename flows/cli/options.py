"""Flags that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    Path, typer.Argument(help="A run file, an evaluation file or a task file.", show_default=False)
]
ModelKey = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="KEY",
        help="Evaluated model: a key, provider/model, or a model file.",
    ),
]  # fmt: skip
DatasetKey = Annotated[
    str | None,
    typer.Option(
        "--dataset", metavar="KEY",
        help="Dataset of a task file: a key, a dataset file, or a CSV, JSONL or Parquet file.",
    ),
]  # fmt: skip
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Value of a config parameter; repeatable."),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", "-n", min=1, metavar="N", help="Evaluate N samples only."),
]
Most = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="List N at most.")
]
Subsampling = Annotated[
    str | None,
    typer.Option(
        "--subsampling", metavar="head|random", help="Which N samples: the first, or at random."
    ),
]
Trials = Annotated[
    int | None,
    typer.Option("--trials", min=1, metavar="N", help="Solve every sample N times."),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="DIR", help="The store; default $EVALMILL_STORE, else .evalmill."
    ),
]
EnvFile = Annotated[
    Path | None,
    typer.Option("--env", metavar="FILE", help="A further .env file; it wins over ./.env."),
]
AllowOutside = Annotated[
    bool,
    typer.Option("--allow-outside", help="Let the files name others outside of their project."),
]
RunId = Annotated[
    str | None, typer.Option("--run-id", metavar="ID", help="The run's id; default: made.")
]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume", metavar="RUN", help="Continue a run, `last` the newest; nothing is paid twice."
    ),
]
RetryErrors = Annotated[
    str | None,
    typer.Option(
        "--retry-errors",
        metavar="RUN",
        help="Do again what ended in an error in a run (`last`: the newest); the rest is kept.",
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache", metavar="reuse|update|no-cache",
        help="Which recorded replies are used: all, this run's, none.",
    ),
]  # fmt: skip
Connections = Annotated[
    int | None,
    typer.Option(
        "--max-connections", "-j", min=1, metavar="N", help="Calls in flight of a model at most."
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option("--batch-size", min=1, metavar="N", help="Samples a Prefect task run handles."),
]
NoPrefect = Annotated[
    bool, typer.Option("--no-prefect", help="Run in this process alone, without any server.")
]
NoPreflight = Annotated[
    bool,
    typer.Option(
        "--no-preflight",
        help="Go on though the first prompts can't be made, or a model gives no usable reply.",
    ),
]
MaxErrorRate = Annotated[
    float,
    typer.Option(
        "--max-error-rate", min=0.0, max=1.0, metavar="R",
        help="Share of rows that may fail before the exit code is 3.",
    ),
]  # fmt: skip
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under", metavar="METRIC=VALUE", help="Exit 1 when a metric is lower; repeatable."
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--budget-usd", min=0.0, metavar="X",
        help="Begin no further call when fresh ones have cost X; what is left is skipped.",
    ),
]  # fmt: skip
Prices = Annotated[
    Path | None,
    typer.Option(
        "--prices", metavar="FILE", help="Prices of models; it wins over the list that is shipped."
    ),
]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show more detail.")]

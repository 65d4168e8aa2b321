"""The parameters of deployable flows, as Prefect's UI shows them in a form."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field


def _shown(title: str, description: str, **rules: Any) -> Any:
    """Return a field whose title and description survive Prefect's own rendering of schemas."""
    return Field(json_schema_extra={"title": title, "description": description}, **rules)


File = Annotated[
    str,
    _shown(
        "File",
        "Path of a run file, an evaluation file or a task file; a relative path starts at the "
        "deployment's working folder.",
    ),
]
Model = Annotated[
    str | None,
    _shown(
        "Model",
        "Evaluated model: the key of a model, provider/model, or the path of a model file. "
        "None: as the file says.",
    ),
]
Dataset = Annotated[
    str | None,
    _shown(
        "Dataset",
        "For a task file: the key of a dataset, or the path of a dataset file or a data file.",
    ),
]
Config = Annotated[
    dict[str, str | int | float | bool],
    _shown("Config", 'Values of config parameters, such as {"language": "fr"}.'),
]
Limit = Annotated[
    int | None,
    _shown("Samples", "Evaluate so many samples of each task only. None: all.", ge=1),
]
Subsampling = Annotated[
    Literal["head", "random"] | None,
    _shown("Subsampling", "Which samples: the first ones, or random ones. None: as the file says."),
]
Trials = Annotated[
    int | None,
    _shown("Trials", "Solve every sample so often. None: as the file says.", ge=1),
]
Cache = Annotated[
    Literal["reuse", "update", "no-cache"] | None,
    _shown(
        "Recorded replies",
        "reuse: replies recorded by any run are used again; update: only those of the same run; "
        "no-cache: none. None: as the file says.",
    ),
]
MaxConnections = Annotated[
    int | None,
    _shown("Connections", "Calls in flight of one model at most. None: as the model says.", ge=1),
]
BatchSize = Annotated[
    int | None,
    _shown("Batch size", "Samples that one Prefect task run handles. None: chosen.", ge=1),
]
Preflight = Annotated[
    bool,
    _shown(
        "Preflight",
        "Whether to refuse a run whose first prompts can't be made, and to stop one whose model "
        "gives no usable reply.",
    ),
]
MaxErrorRate = Annotated[
    float,
    _shown(
        "Allowed errors",
        "Share of samples, 0 to 1, that may fail before the flow run is marked as failed.",
        ge=0,
        le=1,
    ),
]
FailUnder = Annotated[
    dict[str, float],
    _shown(
        "Gates",
        'Least value of metrics, such as {"is_correct_mean": 0.8}; below, the flow run fails.',
    ),
]
Budget = Annotated[
    float | None,
    _shown(
        "Budget",
        "USD: when fresh calls have cost so much, no further one begins, what is left is "
        "skipped, and the flow run fails. None: no end.",
        ge=0,
    ),
]
Store = Annotated[
    str | None,
    _shown("Store", "Folder for the results. None: $EVALMILL_STORE, else .evalmill."),
]
TraceSource = Annotated[
    str,
    _shown(
        "Traces",
        "What is scored again: a run's id or folder, `last` for the newest run of the store, or "
        "a Parquet or JSONL file with a column of traces, or a folder of such files.",
    ),
]
TraceColumn = Annotated[
    str, _shown("Trace column", "For a file of traces: the column that holds them.")
]
EnvFile = Annotated[
    str | None,
    _shown("Environment file", "A further .env file with keys and URLs; it wins over ./.env."),
]
AllowOutside = Annotated[
    bool,
    _shown("Files outside", "Let the files name others outside of their project."),
]


def config_texts(config: Mapping[str, str | int | float | bool]) -> dict[str, str]:
    """Return config values as they would be written after `--set NAME=`."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in config.items()
    }

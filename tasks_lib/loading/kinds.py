"""The kinds of file, and how a file without a stated kind is recognised."""

from typing import Any, Literal

from tasks_lib.base import Definition
from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.definitions.dataset import Dataset
from tasks_lib.definitions.evaluation import Evaluation
from tasks_lib.definitions.model import Model
from tasks_lib.definitions.price import PriceFile
from tasks_lib.definitions.run_file import RunFile
from tasks_lib.definitions.task import Task

Kind = Literal["task", "dataset", "model", "model-adapter", "evaluation", "run", "prices"]

MODELS: dict[Kind, type[Definition]] = {
    "task": Task,
    "dataset": Dataset,
    "model": Model,
    "model-adapter": ModelAdapter,
    "evaluation": Evaluation,
    "run": RunFile,
    "prices": PriceFile,
}
"""What a file of each kind holds."""
_PARTS = (Model, Dataset, Task, Evaluation)

_MARKS: dict[str, Kind] = {
    "models": "run",
    "model_adapters": "run",
    "datasets": "run",
    "evaluation": "run",
    "run_config": "run",
    "task_specifications": "evaluation",
    "definition": "task",
    "process_input": "model-adapter",
    "process_output": "model-adapter",
    "source": "dataset",
    "generator_specification": "dataset",
    "prices": "prices",
}


def model_of(kind: Kind) -> type[Definition]:
    """Return what a file of a kind holds, ready to check one.

    The parts of a run file are checked by themselves later. Built before the whole, which
    takes over their schemas, they are built once: a third of the time.
    """
    if kind == "run":
        for part in _PARTS:
            part.model_rebuild()
    return MODELS[kind]


def kind_of(tree: Any) -> Kind:
    """Return the kind of file a mapping with these keys is; a run file when nothing tells."""
    if not isinstance(tree, dict):
        return "run"
    for key, kind in _MARKS.items():
        if key in tree:
            return kind
    return "model" if "config" in tree and "key" in tree else "run"

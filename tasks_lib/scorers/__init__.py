"""The scorers a task may name. To add one: write its file, then list it here."""

from typing import Annotated

from pydantic import Field

from tasks_lib.scorers.python import PythonScorer
from tasks_lib.scorers.python_all_samples import PythonAllSamplesScorer
from tasks_lib.scorers.string_equals import StringEquals

Scorer = Annotated[
    StringEquals | PythonScorer | PythonAllSamplesScorer,
    Field(discriminator="type"),
]

__all__ = ["Scorer"]

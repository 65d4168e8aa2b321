"""The scorers a task may name.

A scorer is a definition (the fields are what YAML says) that turns a `Row`, a sample with what
its solver left, into a `Score`: named values, which metrics aggregate, and metadata. Its base
class, in `base`, says how many rows it gets at a time and whether it calls models:

- `SampleScorer.judge(row)`: one row, on the CPU alone.
- `ModelScorer.ask(row, calls)`: one row, asking a model; `judging` reads verdicts out of what
  judges reply, `rag` checks claims.
- `AllSamplesScorer.score_all(rows)`: all rows at once.

A row that can't be scored raises a SampleError and is an error row. Templates in fields are
rendered by `templated`; the text to score where no template gives it is `answers`'.

To add one: write its file, list it below, and add an example to `tests/scorers/test_union.py`.
"""

from typing import Annotated

from pydantic import Field

from tasks_lib import compat
from tasks_lib.scorers import reusable
from tasks_lib.scorers.bleu import Bleu
from tasks_lib.scorers.disallowed_function_calls import DisallowedFunctionCalls
from tasks_lib.scorers.function_call_coverage import FunctionCallCoverage
from tasks_lib.scorers.function_call_output_contains import FunctionCallOutputContains
from tasks_lib.scorers.function_call_output_not_contains import FunctionCallOutputNotContains
from tasks_lib.scorers.labeler_via_model import LabelerViaModel
from tasks_lib.scorers.model_as_a_judge_classifier import ModelAsAJudgeClassifier
from tasks_lib.scorers.model_as_a_judge_scorer import ModelAsAJudgeScorer
from tasks_lib.scorers.python import PythonScorer
from tasks_lib.scorers.python_all_samples import PythonAllSamplesScorer
from tasks_lib.scorers.rag_checker import RagChecker
from tasks_lib.scorers.string_equals import StringEquals
from tasks_lib.scorers.string_equals_mcqa import StringEqualsMCQA

Scorer = Annotated[
    StringEquals
    | StringEqualsMCQA
    | Bleu
    | FunctionCallCoverage
    | DisallowedFunctionCalls
    | FunctionCallOutputContains
    | FunctionCallOutputNotContains
    | ModelAsAJudgeClassifier
    | ModelAsAJudgeScorer
    | LabelerViaModel
    | RagChecker
    | PythonScorer
    | PythonAllSamplesScorer,
    Field(discriminator="type"),
]

__all__ = ["Scorer"]

compat.provide("latticeflow.core.experimental.scorers", reusable)

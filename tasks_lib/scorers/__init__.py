"""The scorers a task may name. To add one: write its file, then list it here."""

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

"""From definitions to what is meant: keys looked up, config put in, defaults explicit."""

from tasks_lib.resolve.called_models import called_models
from tasks_lib.resolve.columns import check_dataset_columns
from tasks_lib.resolve.evaluation import resolve
from tasks_lib.resolve.fingerprint import fingerprint
from tasks_lib.resolve.resolved import Overrides, ResolvedEvaluation, ResolvedSpec
from tasks_lib.resolve.undefined_names import undefined_names

__all__ = [
    "Overrides",
    "ResolvedEvaluation",
    "ResolvedSpec",
    "called_models",
    "check_dataset_columns",
    "fingerprint",
    "resolve",
    "undefined_names",
]

"""From definitions to what is meant: keys looked up, config put in, defaults explicit.

- `evaluation`: `resolve`, from a file and the command line to `resolved`, specification by
  specification (`specs`, `tasks`; `task_file` where a task is run alone, `repeatability` where
  specifications are run again).
- `library` finds what keys name, in the run file or the files of the `project`; `parts` are
  pieces of files on their way to typed definitions; `earlier_results` are named by run or path.
- Asked of what is resolved: `columns`, `fingerprint`; `serialize` makes it plain
  YAML again, without secrets. `undefined_names` looks at placeholders alone.
"""

from tasks_lib.resolve.columns import check_dataset_columns
from tasks_lib.resolve.evaluation import resolve
from tasks_lib.resolve.fingerprint import fingerprint
from tasks_lib.resolve.resolved import Overrides, ResolvedEvaluation, ResolvedSpec
from tasks_lib.resolve.undefined_names import undefined_names

__all__ = [
    "Overrides",
    "ResolvedEvaluation",
    "ResolvedSpec",
    "check_dataset_columns",
    "fingerprint",
    "resolve",
    "undefined_names",
]

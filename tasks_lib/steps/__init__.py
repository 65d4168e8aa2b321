"""The steps of a run: plain functions over a run folder and a range of samples.

A Prefect flow conducts them, or a driver calls them in turn. They are idempotent: a part that
is already written is not made again. Their arguments are paths, keys and ranges; samples,
traces and secrets never travel through an orchestrator.

- `solving`: `solve_batch`; a sample in a trial is one of `attempts`.
- `scoring`: `score_batch` and `score_all`. `outcomes` asks scorers about rows, those that ask
  models in `model_scoring`; `trial_aggregates` joins trials, `action_rules` leaves rows out,
  `system_task` computes what has no samples.
- `reduction`: `reduce`, from scores to metrics and the verdict. `sample_totals` counts what calls
  came to, `spec_outcome` how rows ended; `repeatability` compares runs of the same samples;
  `task_result` takes over the metrics of a log.
- `resume`: what a continued run keeps, and what it does again.
"""

from tasks_lib.steps.reduction import reduce
from tasks_lib.steps.scoring import score_all, score_batch
from tasks_lib.steps.solving import solve_batch

__all__ = ["reduce", "score_all", "score_batch", "solve_batch"]

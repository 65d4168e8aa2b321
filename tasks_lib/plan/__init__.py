"""The plan: what one run will do, settled and explained before anything is called.

- `planner`: `plan_run` opens the rows (`rows`, `rescore`), compares with the run that is
  continued (`previous_run`) and makes the plan.
- `settings`: what the command line says. `plan`: the plan itself. `batches`: how samples are cut.
- `check`, `preflight`, `gates`: what can be found wrong before a call. `explain`, `estimate`,
  `prices`: what a plan means, and what it will cost.
"""

from tasks_lib.plan.plan import MAX_BATCHES_AT_ONCE, Plan, SpecPlan, make_plan, models_to_call
from tasks_lib.plan.settings import RescoreSource, RunSettings

__all__ = [
    "MAX_BATCHES_AT_ONCE",
    "Plan",
    "RescoreSource",
    "RunSettings",
    "SpecPlan",
    "make_plan",
    "models_to_call",
]

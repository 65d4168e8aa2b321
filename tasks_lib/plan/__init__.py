"""The plan: what one run will do, settled and explained before anything is called."""

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

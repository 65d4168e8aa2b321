"""What a run has paid, in words."""

from tasks_lib.plan import models_to_call
from tasks_lib.plan.prices import usd
from tasks_lib.runs.run import Run


def paid_words(run: Run) -> str:
    """Return what the run's fresh calls have cost so far; empty where nobody is paid."""
    spending = run.models.spending
    of_budget = "" if spending.budget is None else f" of {usd(spending.budget)}"
    if spending.unpriced and not spending.usd:
        return "cost unknown"
    if spending.unpriced:
        return f"{usd(spending.usd)}{of_budget} and {spending.unpriced:,} calls of unknown cost"
    if not spending.usd and not of_budget:
        return ""
    return f"{usd(spending.usd)}{of_budget}"


def why_unknown(run: Run) -> str:
    """Return why the cost of calls is not known; empty where it is."""
    if not run.models.spending.unpriced:
        return ""
    called = models_to_call(run.plan.evaluation, run.plan.settings)
    unknown = [f"'{key}'" for key in called if key not in run.plan.prices]
    if not unknown:
        return "replies without token counts"
    return f"no price for model {', '.join(unknown)}"


def budget_to_go_on(run: Run) -> str:
    """Return a budget, as a flag's value, that lets a stopped run do about as much again."""
    budget = run.models.spending.budget or 0.5
    return f"{2 * max(budget, run.models.spending.usd):.2g}"

"""The steps of a run, which a Prefect flow conducts or a driver calls in turn."""

from tasks_lib.steps.steps import reduce, score_all, score_batch, solve_batch

__all__ = ["reduce", "score_all", "score_batch", "solve_batch"]

"""Trials: every sample solved and scored several times, and what its scores come to.

To add an aggregator: write its class in `aggregators`, and list it there in `Aggregator`.
"""

from tasks_lib.trials.aggregation import aggregated
from tasks_lib.trials.definition import ScoreAggregator, Trials

__all__ = ["ScoreAggregator", "Trials", "aggregated"]

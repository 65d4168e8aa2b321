"""Tasks with trials, for the tests of whole runs."""

from tests.engine import ASK, EQUALS

DATA = [{"q": "2 + 2", "a": "4"}, {"q": "1 + 3", "a": "4"}]


def task(*aggregators, trials=4, scorers=(EQUALS,), **more):
    written = [
        {"score_name": score, "aggregator": {"function": function, **fields}}
        for score, function, fields in aggregators
    ]
    return {
        "dataset": {"key": "qa"},
        "solver": ASK,
        "scorers": list(scorers),
        "trials": {"num_trials": trials, "score_aggregators": written or None},
        **more,
    }


def means(*fields, scorer=EQUALS):
    return {**scorer, "metrics": [{"type": "mean", "field": f, "name": f} for f in fields]}

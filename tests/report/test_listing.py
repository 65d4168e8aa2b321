from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tasks_lib.errors import DefinitionError
from tasks_lib.report.listing import ListedRow, failed_rows, rows_scored
from tasks_lib.report.tables import listing_table
from tests.engine import ASK, EQUALS, Engine, Ran, python_scorer, saying

SCORES = """
def compute_scores(sample):
    if sample["n"] == 4:
        raise ValueError("four\\x1b[2J")
    return {"n": sample["n"], "label": sample["q"], "whole": sample["n"] % 2 == 0}
"""


def ran(folder: Path, **more: Any) -> Ran:
    definition = {"dataset": {"key": "qa"}, "solver": ASK}
    definition["scorers"] = [EQUALS, python_scorer(SCORES)]
    data = [{"q": f"{i}?", "a": "x", "n": i} for i in range(6)]
    refused = {"contains": "3?", "error": {"status": 400, "message": "refused"}}
    model = saying(refused, default="x")
    return Engine(folder).run(definition, data, models=[model], batch_size=2, **more)


def test_failures_are_listed_where_they_happened_and_only_there(tmp_path: Path):
    run = ran(tmp_path).run
    found = failed_rows(run, 10)
    assert [(row.sample_id, row.scorer_key, row.error_class) for row in found.rows] == [
        ("3", None, "model"),
        ("4", "own", "code"),
    ]
    assert "refused" in found.rows[0].reason
    first = failed_rows(run, 1)
    assert (first.total, first.rows) == (2, found.rows[:1])


@pytest.mark.parametrize(
    ("score", "value", "samples"),
    [
        ("whole", "false", ["1", "5"]),
        ("whole", "True", ["0", "2"]),
        ("own.whole", "true", ["0", "2"]),
        ("n", "2", ["2"]),
        ("n", "2.0", ["2"]),
        ("n", "two", []),
        ("label", "5?", ["5"]),
        ("is_correct", "false", []),
    ],
)
def test_rows_are_listed_by_a_score(tmp_path: Path, score: str, value: str, samples: list[str]):
    found = rows_scored(ran(tmp_path).run, score, value, 10)
    assert [row.sample_id for row in found.rows] == samples
    assert found.total == len(samples)


def test_a_score_that_nobody_gave_is_refused_with_those_there_are(tmp_path: Path):
    run = ran(tmp_path).run
    with pytest.raises(DefinitionError, match="no score 'wohle'; did you mean 'whole'"):
        rows_scored(run, "wohle", "true", 10)
    with pytest.raises(DefinitionError, match="its scores: n, label, whole, is_correct"):
        rows_scored(run, "zzz", "true", 10)


def test_every_trial_is_listed_and_what_they_come_to_is_not(tmp_path: Path):
    run = ran(tmp_path, specification={"trials": {"num_trials": 2}}).run
    found = rows_scored(run, "whole", "true", 10)
    assert [(row.sample_id, row.trial) for row in found.rows] == [
        ("0", 0), ("0", 1), ("2", 0), ("2", 1),
    ]  # fmt: skip


def test_the_table_names_task_and_trial_where_they_differ():
    one = ListedRow("a", "7", 0, 0, None, "model", "said\x1b[2J\nmuch")
    console = Console(width=100)
    with console.capture() as captured:
        console.print(listing_table([one]))
        console.print(listing_table([one, ListedRow("b", "7", None, 0, "own", "code", "")]))
    short, long = captured.get().split("much", 1)
    assert "task" not in short
    assert "trial" not in short
    assert r"said\x1b[2J " in short
    assert all(word in long for word in ("task", "trial", "all", "own", "code"))

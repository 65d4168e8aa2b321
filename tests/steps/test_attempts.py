from pathlib import Path
from typing import Any

import pytest

from tasks_lib.errors import DefinitionError, SampleError
from tasks_lib.jsontext import loads
from tasks_lib.results.error_text import error_text, unexpected
from tasks_lib.secrets import remember
from tests.engine import ASK, EQUALS, Engine, saying

ECHO = {"matches": "(?s)(.*)", "reply": r"\1"}


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def samples(
    engine: Engine, solver: Any, data: Any, *rules: Any, **more: Any
) -> list[dict[str, Any]]:
    """The sample rows of a run."""
    definition = {"dataset": {"key": "qa"}, "scorers": [EQUALS]}
    if solver:
        definition["solver"] = solver
        more["models"] = [saying(*rules, default="x")]
    ran = engine.run(definition, data, **more)
    frame = ran.run.samples().astype(object)
    rows: list[dict[str, Any]] = frame.where(frame.notna(), None).to_dict("records")
    return rows


def test_a_record_says_all_of_a_sample(engine: Engine):
    data = [{"sample_id": "one", "q": "12345678", "a": "x", "extra": {"n": 10**30}}]
    (row,) = samples(engine, ASK, data)
    assert {name: row[name] for name in ("sample_id", "sample_index", "trial", "row")} == {
        "sample_id": "one",
        "sample_index": 0,
        "trial": 0,
        "row": 0,
    }
    assert loads(row["sample"]) == data[0]
    assert [item["role"] for item in loads(row["trace"])["items"]] == ["user", "assistant"]
    assert loads(row["raw_outputs"])[0]["choices"][0]["message"]["content"] == "x"
    assert (row["output_text"], row["finish_reason"], row["status"]) == ("x", "stop", "ok")
    assert (row["calls"], row["ledger_hits"], row["input_tokens"], row["output_tokens"]) == (
        1,
        0,
        2,
        1,
    )
    assert row["duration_s"] > 0
    assert row["started_at"].year >= 2024


def test_one_bad_sample_is_an_error_row_and_the_rest_goes_on(engine: Engine):
    """BR-020."""
    error = {"status": 400, "message": "The prompt was filtered"}
    data = [{"q": f"{i}?", "a": "x"} for i in range(3)] + [{"a": "x"}]
    rows = samples(engine, ASK, data, {"contains": "1?", "error": error})
    assert [row["status"] for row in rows] == ["ok", "error", "ok", "error"]
    filtered, incomplete = rows[1], rows[3]
    assert (filtered["error_stage"], filtered["error_class"]) == ("solver", "model")
    assert filtered["error_message"] == "model 'lab': HTTP 400: The prompt was filtered"
    assert (incomplete["error_class"], incomplete["calls"]) == ("template", 0)
    assert "'q'" in incomplete["error_message"]
    for row in (filtered, incomplete):
        assert row["output_text"] is None
        assert loads(row["trace"])["items"] == loads(row["raw_outputs"]) == []
        assert loads(row["sample"])["a"] == "x"


def test_what_the_calls_cost_is_kept_also_of_a_sample_that_failed(engine: Engine):
    snippet = (
        "async def run_solver(sample, model, trace):\n"
        "    await model.predict([{'role': 'user', 'content': '12345678'}])\n"
        "    raise ValueError('after the call')"
    )
    (row,) = samples(engine, {"type": "python", "run_solver_snippet": snippet}, [{"a": "x"}])
    assert (row["status"], row["error_class"]) == ("error", "code")
    assert "ValueError: after the call" in row["error_message"]
    assert (row["calls"], row["input_tokens"], row["output_tokens"]) == (1, 2, 1)


def test_odd_characters_survive_everywhere(engine: Engine):
    """BR-030."""
    odd = "yes\0no \x1b[2J\x1b[31mred line\r\nline \u2028 \U0001f600"
    (row,) = samples(engine, ASK, [{"sample_id": odd, "q": odd, "a": odd}], ECHO)
    assert row["sample_id"] == row["output_text"] == odd
    assert loads(row["sample"]) == {"sample_id": odd, "q": odd, "a": odd}
    assert loads(row["raw_outputs"])[0]["choices"][0]["message"]["content"] == odd
    assert loads(row["trace"])["items"][1]["content"][0]["text"] == odd


def test_half_a_character_is_marked_where_text_is_stored_and_kept_in_json(engine: Engine):
    half = "half \ud800"
    (row,) = samples(engine, ASK, [{"sample_id": half, "q": half, "a": half}], ECHO)
    assert row["sample_id"] == row["output_text"] == "half \ufffd"
    assert loads(row["sample"])["q"] == half
    assert loads(row["raw_outputs"])[0]["choices"][0]["message"]["content"] == half


def test_without_a_solver_samples_are_taken_as_they_are(engine: Engine):
    rows = samples(engine, None, [{"a": "x"}, {"a": "y"}])
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert [row["calls"] for row in rows] == [0, 0]
    assert [loads(row["sample"])["a"] for row in rows] == ["x", "y"]


def test_recorded_traces_are_replayed_without_a_model(engine: Engine):
    items = [
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "message", "role": "assistant", "content": "x"},
    ]
    solver = {"type": "pass_through_solver", "trace_column": "log"}
    rows = samples(engine, solver, [{"log": {"items": items}, "a": "x"}, {"log": 1, "a": "x"}])
    assert [row["status"] for row in rows] == ["ok", "error"]
    assert rows[0]["output_text"] == "x"
    assert (rows[1]["error_class"], rows[1]["error_stage"]) == ("data", "solver")
    assert rows[0]["calls"] == rows[1]["calls"] == 0


def test_errors_are_bounded_storable_and_show_no_secret():
    remember("sk-very-secret-value")
    long = "x" * 485 + "sk-very-secret-value" + "y\ud800" * 1_000
    told = error_text(SampleError("code", long))
    assert len(told) <= 1_000
    assert "secret" not in told
    told.encode()


def test_an_error_nobody_foresaw_says_its_kind():
    error = unexpected(ZeroDivisionError("division by zero"))
    assert (error.error_class, str(error)) == ("code", "ZeroDivisionError: division by zero")
    ours = unexpected(DefinitionError("what", "where", "fix"))
    assert ours.problem == "DefinitionError: what"

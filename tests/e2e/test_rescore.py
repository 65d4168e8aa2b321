"""`evalmill rescore`: recorded conversations of elsewhere, in one file or in a folder of them."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.e2e.lab import ALONE, jsonl, model


def said(answer: str, target: str, **more: object) -> dict[str, object]:
    """A row with a recorded conversation."""
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": answer}]
    return {
        "target": target,
        "trace": {"items": [m | {"type": "message"} for m in messages]},
        **more,
    }


@pytest.fixture
def traces(lab):
    """A folder of three files of conversations, and a note."""
    folder = lab.folder / "traces"
    lab.write_files(
        {
            "traces/b.jsonl": jsonl([said("x", "x"), said("y", "other")]),
            "traces/a.jsonl": jsonl([said("x", "x")]),
            "traces/notes.md": "of last week",
            "traces/.hidden": "",
        }
    )
    pq.write_table(pa.Table.from_pylist([said("z", "z")]), folder / "c.parquet")
    return folder


def rescored(lab, source, *arguments):
    return lab.evalmill("rescore", source, lab.folder / "run.yaml", "--json", *ALONE, *arguments)


def test_the_files_of_a_folder_are_scored_in_the_order_of_their_names(lab, traces):
    ran = rescored(lab, traces)
    assert ran.exit_code == 0, ran.stderr
    (metric,) = ran.json["metrics"]
    assert (metric["n"], metric["value"], metric["model_key"]) == (4, 0.75, None)
    assert ran.json["warnings"] == ["no Parquet or JSONL, and so left out: notes.md"]
    wrong = lab.evalmill("show", "last", "--where", "is_correct=false", "--json").json["rows"]
    assert [row["sample_id"] for row in wrong] == ["b/1"]
    assert "assistant: y" in lab.evalmill("show", "last", "b/1").stdout
    assert rescored(lab, traces, "-n", "3").json["metrics"][0]["n"] == 3
    assert lab.asked == 0


@pytest.mark.parametrize("source", ["traces", "traces/b.jsonl"])
def test_scoring_traces_can_be_resumed(lab, traces, source):
    ran = rescored(lab, lab.folder / source).json
    resumed = lab.evalmill("rescore", "--resume", "last", "--json", *ALONE)
    assert resumed.exit_code == 0, resumed.stderr
    assert (resumed.json["run_id"], resumed.json["metrics"]) == (ran["run_id"], ran["metrics"])
    (traces / "b.jsonl").write_text(jsonl([said("x", "y")]))
    changed = lab.evalmill("rescore", "--resume", "last", *ALONE)
    assert changed.exit_code == 2
    assert "have changed since run" in changed.stderr


def test_bad_files_are_refused_with_file_and_line(lab, traces):
    with (traces / "a.jsonl").open("a") as file:
        file.write('{"target": \n')
    with (traces / "b.jsonl").open("a") as file:
        file.write("[1]\n")
    refused = rescored(lab, traces)
    assert (refused.exit_code, refused.stdout) == (2, "")
    first, second = refused.stderr.splitlines()
    assert first.startswith(f"{traces}/a.jsonl:2: not JSON")
    assert second.startswith(f"{traces}/b.jsonl:3: a row must be an object")


def test_a_trace_column_that_is_not_there_is_refused_with_what_was_meant(lab, traces):
    refused = rescored(lab, traces, "--trace-column", "traec")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.strip().endswith("has no column 'traec' of traces; did you mean 'trace'?")


def test_a_folder_without_traces_is_refused(lab):
    (lab.folder / "empty").mkdir()
    refused = rescored(lab, lab.folder / "empty")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "empty' holds no traces; name a run, or Parquet or JSONL files" in refused.stderr
    assert not lab.evalmill.store.exists()


def test_a_run_comes_before_a_folder_of_its_name(lab, traces):
    lab.run("--run-id", "traces", "-n", "2")
    ran = lab.evalmill("rescore", "traces", "run.yaml", "--json", *ALONE, cwd=lab.folder)
    assert ran.json["metrics"][0]["n"] == 2


def test_the_evaluated_model_needs_no_key_to_be_scored_again(lab, traces):
    lab.run("--run-id", "first")
    keyed = "  api_key: $LAB_KEY_THAT_IS_NOT_SET\n"
    lab.write(model_yaml=model("http://127.0.0.1:9/v1") + keyed)
    for source in ("first", traces):
        ran = rescored(lab, source)
        assert ran.exit_code == 0, ran.stderr

"""Every folder of `cases/` is run by the real command and compared with what it expects.

A folder holds `run.yaml`, which opens with why the case exists, what it refers to, and in
`expected/` any of these, each by specification:

- `conversations.json`: sample id -> `said`, entries `[role, text]`, `["call", name, arguments]`
  or `["output", text]`; and what else is told of a sample (`outputs`, `calls`, `error`, …).
- `scores.json`: scorer -> sample id -> values, or `{"error": part of its message}`.
- `metrics.json`: scorer -> name -> values of some columns of the metrics table.
- `requests.json`: sample id -> texts of the messages of every request, in order.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.jsontext import loads
from tasks_lib.models.ledger import entries
from tasks_lib.results.load import StoredRun, load_run
from tasks_lib.results.schemas import SCORE_COLUMNS
from tasks_lib.results.scores import score_name
from tasks_lib.trace import Trace, output_text
from tasks_lib.trace.content import content_text
from tests.command_line import CommandLine

CASES = Path(__file__).with_name("cases")
ALL = sorted(path.parent.name for path in CASES.glob("*/run.yaml"))


@pytest.mark.parametrize("name", ALL)
def test_case(name: str, evalmill: CommandLine) -> None:
    folder = CASES / name
    done = evalmill("run", folder / "run.yaml", "--json", "--no-prefect", "--max-error-rate", "1")
    assert done.exit_code == 0, done.stderr
    run = load_run(done.json["run_id"], evalmill.store)
    found = {
        "conversations": conversations(run),
        "scores": scores(run),
        "metrics": metrics(done.json["metrics"]),
        "requests": requests(evalmill.store, run),
    }
    expected = {path.stem: json.loads(path.read_text()) for path in folder.glob("expected/*.json")}
    assert expected.keys() <= found.keys()
    assert expected, "say what is expected"
    for part, wanted in expected.items():
        assert rounded(told(found[part], wanted)) == rounded(wanted), part


@pytest.mark.parametrize("name", ALL)
def test_a_case_opens_with_why_it_exists(name: str) -> None:
    first = (CASES / name / "run.yaml").read_text().splitlines()[0]
    assert first.startswith("# ")
    assert len(first.split()) > 5


def test_every_folder_is_a_case() -> None:
    assert sorted(path.name for path in CASES.iterdir() if path.is_dir()) == ALL


def told(found: Any, wanted: Any) -> Any:
    """What was found, without what the case does not tell of a sample, a score or a metric.

    Specifications, scorers and samples must all be told; where an error is told, a part of
    its message is enough.
    """
    if not (isinstance(found, dict) and isinstance(wanted, dict)):
        return found
    if wanted.keys() & {"said", "error", "value", "n"}:
        found = {key: value for key, value in found.items() if key in wanted}
        error = wanted.get("error")
        if isinstance(error, str) and error in str(found.get("error")):
            found["error"] = error
        return found
    return {key: told(value, wanted.get(key)) for key, value in found.items()}


def rounded(value: Any) -> Any:
    """Floats to twelve digits: the last ones depend on the order of a sum."""
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def conversations(run: StoredRun) -> dict[str, dict[str, dict[str, Any]]]:
    """Specification -> sample -> all that a case may tell of its solving."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in run.samples().to_dict("records"):
        Trace.load(row["trace"], strict=True)
        trace = loads(row["trace"])
        found.setdefault(row["spec_key"], {})[row["sample_id"]] = {
            "said": [entry(item) for item in trace["items"]],
            "outputs": [output_text(raw) for raw in loads(row["raw_outputs"])],
            "text": known(row["output_text"]),
            "finish_reason": known(row["finish_reason"]),
            "calls": row["calls"],
            "ended_by": ((trace.get("metadata") or {}).get("extra") or {}).get("ended_by"),
            "error": known(row["error_message"]),
            "error_class": known(row["error_class"]),
        }
    return found


def entry(item: dict[str, Any]) -> list[Any]:
    """A trace item as a case writes it."""
    match item["type"]:
        case "message":
            return [item["role"], content_text(item["content"])]
        case "function_call":
            return ["call", item["name"], loads(item["arguments"])]
        case "function_call_output":
            return ["output", item["output"]]
        case kind:
            return [kind, item["content"]]


def scores(run: StoredRun) -> dict[str, dict[str, dict[str, Any]]]:
    """Specification -> scorer -> sample -> values."""
    apart = {"spec_key", "scorer_key", *SCORE_COLUMNS}
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for spec in run.spec_keys:
        for scorer in run.scorer_keys(spec):
            rows = run.scores(scorer)
            for row in rows[rows["spec_key"] == spec].to_dict("records"):
                by_sample = found.setdefault(spec, {}).setdefault(scorer, {})
                by_sample[row["sample_id"]] = (
                    {"error": row["error_message"]}
                    if row["status"] == "error"
                    else {score_name(key): row[key] for key in row if key not in apart}
                )
    return found


def metrics(rows: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Specification -> scorer -> name -> row of the metrics table."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["spec_key"], {}).setdefault(row["scorer_key"], {})[row["name"]] = row
    return found


def requests(store: Path, run: StoredRun) -> dict[str, dict[str, list[list[str]]]]:
    """Specification -> sample -> texts of the messages of its requests, in order of calls."""
    found: dict[str, dict[str, list[list[str]]]] = {}
    for entry in entries(store, run.folder.run_id):
        texts = [message["content"] for message in json.loads(entry.request)["messages"]]
        found.setdefault(entry.call.spec_key, {}).setdefault(entry.call.sample_id, []).append(texts)
    return found


def known(value: Any) -> Any:
    """A cell of a data frame, None where there is none."""
    return value if isinstance(value, str) else None

"""Complaints that users of other tools had, each held against the command line."""

import json
import math

import pyarrow.parquet as pq
import pytest

from tasks_lib.results.load import load_run
from tests.e2e.lab import TASK, dataset, jsonl, mock, questions


def csv_of(lab, text, task=TASK, replies=None):
    lab.write(qa_csv=text, qa_yaml=dataset("qa.csv"), task_yaml=task)
    if replies is not None:
        lab.write(model_yaml=mock(replies))


def scores(ran, column="is_correct", scorer="string_equals"):
    return list(ran.run.scores(scorer)[column])


def test_br_004_cells_that_spell_missing_values_are_text(lab):
    csv_of(
        lab,
        'id,question,target\n1,ISO code of Namibia?,NA\n2,SQL word for a missing value?,"null"\n'
        "3,What does print(None) show?,None\n4,Left blank on purpose,\n",
        TASK.replace("{{ sample.target }}", "{{ sample.target or '' }}"),
        ["NA", "null", "None", "x"],
    )
    ran = lab.run()
    assert scores(ran) == [True, True, True, False]
    targets = [json.loads(sample)["target"] for sample in ran.run.samples()["sample"]]
    assert targets == ["NA", "null", "None", None]
    assert ran.prompts()[0] == "ISO code of Namibia?"
    for part in ran.run.folder.path.rglob("*.parquet"):
        assert b"nan" not in part.read_bytes()


def test_br_005_long_digits_stay_as_they_are(lab):
    lab.write(
        qa_jsonl='{"sample_id":"9007199254740993","n":9007199254740993,"q":"a"}\n'
        '{"sample_id":"9007199254740995","n":null,"q":"b"}\n',
        task_yaml=TASK.replace("{{ sample.question }}", "{{ sample.q }} {{ sample.n }}").replace(
            "sample.target", "sample.n"
        ),
    )
    ran = lab.run()
    assert list(ran.run.samples()["sample_id"]) == ["9007199254740993", "9007199254740995"]
    assert list(ran.run.scores()["sample_id"]) == ["9007199254740993", "9007199254740995"]
    assert ran.prompts()[0] == "a 9007199254740993"
    kept = [json.loads(sample)["n"] for sample in ran.run.samples()["sample"]]
    assert kept == [9007199254740993, None]


def test_br_006_leading_zeros_stay(lab):
    csv_of(
        lab,
        "sample_id,question,target\n007,A Boston zip code? ANSWER=02116,02116\n"
        "0042,A Holtsville zip code? ANSWER=501,00501\n",
    )
    ran = lab.run()
    assert list(ran.run.samples()["sample_id"]) == ["007", "0042"]
    assert scores(ran) == [True, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(
            '{"input":"a","target":"b"}\n\n{"input":"c","target":"d"}\n'
            '{"input": "a", "target" "b"}\n["not","an","object"]\n\n',
            ("qa.jsonl:4", "column 25", "qa.jsonl:5", "a row must be an object"),
            id="BR-007 broken lines are named by their physical number",
        ),
        pytest.param(
            '{"sample_id":"q1","q":"1+1?"}\n{"sample_id":"q1","q":"2+2?"}\n{"sample_id":"q2"}\n',
            ("'q1'", "qa.jsonl:1", "qa.jsonl:2"),
            id="BR-008 an id that is there twice",
        ),
        pytest.param(
            '{"sample_id":1,"q":"1+1?"}\n{"sample_id":"1","q":"2+2?"}\n',
            ("'1'", "qa.jsonl:1", "qa.jsonl:2"),
            id="BR-008 a number and its text are one id",
        ),
    ],
)
def test_bad_data_is_refused_before_any_call(lab, text, words):
    lab.write(qa_jsonl=text)
    ran = lab.evalmill("run", lab.folder / "run.yaml", "--no-prefect")
    assert ran.exit_code == 2
    for word in words:
        assert word in ran.stderr
    assert lab.asked == 0


def test_br_012_and_br_014_data_is_data(lab):
    """Template syntax in data stays text; columns named like methods of a dict are columns."""
    page = "<p>{{ user.name }} {% for %} {# note #} {{ 7*7 }}</p>"
    prompt = (
        "Summarise: {{ sample.html }} {{ sample.basket.items | join(', ') }} / "
        "{{ sample.basket.values | sum }} / {{ sample.basket.count }} ANSWER={{ sample.reply }}"
    )
    rows = [
        {
            "html": page,
            "basket": {"items": ["apple", "pear"], "values": [1, 2], "count": 2},
            "reply": "It shows {{ 6*6 }}",
            "target": "It shows {{ 6*6 }}",
        },
        {"html": page, "basket": {"count": 0}, "reply": "", "target": ""},
    ]
    lab.write(qa_jsonl=jsonl(rows), task_yaml=TASK.replace("{{ sample.question }}", prompt))
    ran = lab.run()
    assert ran.exit_code == 3
    assert ran.prompts() == [f"Summarise: {page} apple, pear / 3 / 2 ANSWER=It shows {{{{ 6*6 }}}}"]
    assert ran.run.samples()["output_text"][0] == "It shows {{ 6*6 }}"
    assert scores(ran)[0] is True
    failed = ran.run.samples().iloc[1]
    assert (failed["status"], failed["error_class"]) == ("error", "template")
    assert "items" in failed["error_message"]
    assert lab.asked == 1


def test_br_028_replies_cut_at_the_limit_are_counted_aloud(lab):
    lab.write(
        qa_jsonl=jsonl([{"question": "a", "target": "42"}, {"question": "b", "target": "7"}]),
        model_yaml=mock([{"reply": "The answer is 4", "finish_reason": "length"}, "7"]),
    )
    ran = lab.run()
    assert ran.exit_code == 0
    assert list(ran.run.samples()["finish_reason"]) == ["length", "stop"]
    assert scores(ran) == [False, True]
    assert "1 of 2 replies truncated" in ran.stderr
    assert any("1 of 2 replies truncated" in words for words in ran.run.record["warnings"])


def test_br_055_errors_leave_numerator_and_denominator_visibly(lab):
    rows = questions(8, wrong=2) + jsonl(
        {"question": f"FAULT=400 {number}?", "target": "x"} for number in range(2)
    )
    lab.write(qa_jsonl=rows)
    ran = lab.run("--max-error-rate", "0.2")
    assert ran.exit_code == 0
    row = ran.metrics["is_correct_mean"]
    told = {name: row[name] for name in ("value", "n", "n_total", "n_error", "bound_low")}
    assert told == {"value": 0.75, "n": 8, "n_total": 10, "n_error": 2, "bound_low": 0.6}
    stored = ran.run.metrics().iloc[0]
    assert {name: stored[name] for name in told} == told
    shown = lab.evalmill("show", "last").stdout
    for text in ("0.75", "8", "2", "0.6 … 0.8"):
        assert text in shown


def python_task(snippet, metrics):
    """A task whose only scorer is this snippet."""
    scorers = TASK.index("  scorers:")
    body = "".join(f"        {line}\n" for line in snippet.splitlines())
    return (
        TASK[:scorers]
        + "  scorers:\n    - type: python\n      key: own\n      compute_scores_snippet: |\n"
        + body
        + f"      metrics: {json.dumps(metrics)}\n"
    )


def test_br_058_nan_is_not_scored_and_not_written(lab):
    snippet = (
        "def compute_scores(sample):\n"
        "    value = float(sample['target'])\n"
        "    return {'score': value, 'passed': None if value != value else value > 0.5}"
    )
    metrics = [{"type": "mean", "field": "score"}, {"type": "mean", "field": "passed"}]
    values = ["0.9", "0.6", "NaN", "0.7", "0.8"]
    lab.write(
        qa_jsonl=jsonl({"question": f"q{value}", "target": value} for value in values),
        task_yaml=python_task(snippet, metrics),
    )
    ran = lab.run()
    mean, passed = ran.metrics["score_mean"], ran.metrics["passed_mean"]
    assert mean["value"] == pytest.approx(0.75)
    assert (mean["n"], passed["value"], passed["n"]) == (4, 1.0, 4)
    assert mean["reason"] == "1 of 5 scored rows have no number in 'score'"
    assert "NaN" not in ran.finished.stdout + ran.stderr
    assert not any(math.isnan(value) for value in ran.run.metrics()["value"])


def test_br_059_a_run_without_scores_has_no_number(lab):
    lab.write(broken_yaml=mock([{"error": {"status": 400}}] * 3))
    failing = lab.run("-n", "3", "-m", "broken.yaml")
    assert failing.exit_code == 3
    row = failing.metrics["is_correct_mean"]
    assert (row["value"], row["n"], row["n_error"]) == (None, 0, 3)
    assert row["reason"]
    abstaining = "def compute_scores(sample):\n    return {'score': None}"
    lab.write(task_yaml=python_task(abstaining, [{"type": "mean", "field": "score"}]))
    unscored = lab.run("-n", "2")
    assert unscored.metrics["score_mean"]["value"] is None
    assert unscored.metrics["score_mean"]["reason"]
    lab.write(task_yaml=TASK, qa_jsonl="\n")
    empty = lab.evalmill("run", lab.folder / "run.yaml", "--no-prefect")
    assert empty.exit_code == 2
    assert "has no samples" in empty.stderr


def test_br_082_and_br_085_scores_of_any_kind_fit_one_schema(lab):
    """Columns that are empty first, values of different kinds: no batch is lost."""
    snippet = (
        "VALUES = [1, 'C', {'style': 0.5}, None, True]\n"
        "def compute_scores(sample):\n"
        "    number = int(sample['target'])\n"
        "    if number == 5: raise ValueError('timeout')\n"
        "    late = {'late': 'ok'} if number == 4 else {'late': None}\n"
        "    return {'odd': VALUES[number], **late, **({'rare': 0.5} if number == 3 else {})}"
    )
    lab.write(
        qa_jsonl=jsonl({"question": f"q{n}", "target": str(n)} for n in range(6)),
        task_yaml=python_task(snippet, [{"type": "mean", "field": "rare"}]),
    )
    ran = lab.run("--batch-size", "2")
    assert ran.exit_code == 3
    kept = ran.run.scores("own")
    assert [json.loads(v) if v is not None and v == v else None for v in kept["odd"][:5]] == [
        1, "C", {"style": 0.5}, None, True,
    ]  # fmt: skip
    assert list(kept["late"])[4] == "ok"
    assert list(kept["status"]) == ["ok"] * 5 + ["error"]
    assert ran.metrics["rare_mean"]["value"] == 0.5
    for folder in ("samples/exam", "scores/exam/own"):
        files = sorted((ran.run.folder.path / folder).iterdir())
        schemas = [pq.read_schema(file) for file in files]
        assert len(files) == 3
        assert all(schema.equals(schemas[0], check_metadata=True) for schema in schemas)
    errors = pq.read_table(ran.run.folder.path / "scores/exam/own")["error_message"].to_pylist()
    assert sum(error is not None for error in errors) == 1
    clean = lab.run("-n", "2", "--batch-size", "1")
    part = next((clean.run.folder.path / "samples/exam").iterdir())
    assert pq.read_schema(part).equals(
        pq.read_schema(next((ran.run.folder.path / "samples/exam").iterdir()))
    )


def test_br_089_scores_belong_to_their_samples_in_whatever_order_replies_come(lab):
    names = [f"case-{number}" for number in range(10)]
    rules = [
        {"sample_id": name, "reply": name, "latency_s": (10 - number) * 0.03}
        for number, name in enumerate(names)
    ]
    lab.write(
        qa_jsonl=jsonl({"sample_id": n, "question": f"Who? {n}", "target": n} for n in names),
        model_yaml=mock(rules),
    )
    ran = lab.run("-j", "5", "--batch-size", "10")
    samples = ran.run.samples()
    assert ran.metrics["is_correct_mean"]["value"] == 1.0
    assert list(samples["sample_id"]) == list(samples["output_text"]) == names
    for name, trace in zip(names, samples["trace"], strict=True):
        assert f"Who? {name}" in trace


HOSTILE = {
    "globals": "{{ self.__init__.__globals__ }}",
    "classes": "{{ (1).__class__.__base__ }}",
    "range": "{% for i in range(10**9) %}x{% endfor %}",
    "repeat": "{{ 'x' * 10**10 }}",
}


def test_br_097_templates_can_neither_look_inside_nor_run_away(lab):
    templates = [{"key": key, "text": text} for key, text in HOSTILE.items()]
    tasks = ", ".join(f"{{$ref: {template['key']}.yaml}}" for template in templates)
    specs = "".join(f"    - {{task_key: {t['key']}, model_key: lab}}\n" for t in templates)
    for template in templates:
        named = TASK.replace("key: exam", f"key: {template['key']}")
        lab.write_files(
            {f"{template['key']}.yaml": named.replace("{{ sample.question }}", template["text"])}
        )
    lab.write(
        run_yaml="models: [{$ref: model.yaml}]\ndatasets: [{$ref: qa.yaml}]\n"
        f"tasks: [{tasks}]\nevaluation:\n  key: hostile\n  display_name: Hostile\n"
        f"  task_specifications:\n{specs}"
    )
    assert lab.run("-n", "1").exit_code == 2
    ran = lab.run("-n", "1", "--max-error-rate", "1", "--no-preflight")
    assert ran.exit_code == 3
    failed = ran.run.samples().set_index("spec_key")
    assert set(failed["error_class"]) == {"template"}
    for key in HOSTILE:
        assert failed.loc[key, "status"] == "error"
        assert "<class" not in failed.loc[key, "error_message"]
    assert lab.asked == 0


MARKED_UP = [
    "<script>document.title='CANARY'</script><img src=x onerror=\"alert(1)\">",
    "a | b | c\n| --- |\n[x](javascript:alert(1))",
    '=HYPERLINK("http://127.0.0.1/","x")',
    "<scratchpad>think</scratchpad>4",
    "[red]not red[/red] [/] [link=http://127.0.0.1/]no link[/link] :smile:",
    "`id` %s {0} {{ 7*7 }} \\u0041 &lt;b&gt;",
]


def test_br_102_replies_are_shown_as_the_text_they_are(lab):
    """Neither HTML nor Markdown nor the terminal's own markup means anything in a reply."""
    snippet = (
        "def compute_scores(sample, solver_output):\n"
        "    text = solver_output.trace.get_last_assistant_text()\n"
        "    if sample['target'] == 'fail': raise ValueError(text)\n"
        "    return {'said': text}"
    )
    metrics = [{"type": "frequency", "field": "said"}]
    targets = ["x", "fail"] * 3
    rows = [{"question": f"q{n}", "target": target} for n, target in enumerate(targets)]
    lab.write(
        qa_jsonl=jsonl(rows),
        model_yaml=mock(MARKED_UP),
        task_yaml=python_task(snippet, metrics),
    )
    ran = lab.evalmill(
        "run", lab.folder / "run.yaml", "--run-id", "marked", "-v", "--no-prefect", cwd=lab.folder
    )
    assert ran.exit_code == 3
    stored = load_run("marked", lab.evalmill.store)
    assert list(stored.samples()["output_text"]) == MARKED_UP
    said = [text for text in stored.scores("own")["said"] if isinstance(text, str)]
    assert said == MARKED_UP[::2]
    for number, reply in enumerate(MARKED_UP):
        shown = lab.evalmill("show", "marked", str(number), cwd=lab.folder)
        assert shown.exit_code == 0
        for line in reply.splitlines():
            assert line in shown.stdout

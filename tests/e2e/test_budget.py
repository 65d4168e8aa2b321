"""What runs cost, and where a budget ends them; the server counts a token per four characters."""

import json
import math
import shlex
from pathlib import Path

import pytest

from tests.e2e.lab import ALONE, RUN, TASK, Outcome, model, questions, same_metrics

PRICED = "price: {input: 1000, output: 4000}\n"  # USD per million: easy to count in cents
JUDGE = """\
    - type: model_as_a_judge_classifier
      key: judge
      model_key: judge
      user_prompt: "JUDGE: {{ trace.get_last_assistant_text() }}"
      correct_labels: [correct]
      incorrect_labels: [incorrect]
"""
IN_FLIGHT = 2


def prompt(number: int) -> str:
    return f"Number {number}? ANSWER=a{number}"


def cost_of(number: int) -> float:
    """What the question costs that is answered with its number."""
    sent, made = math.ceil(len(prompt(number)) / 4), math.ceil(len(f"a{number}") / 4)
    return (sent * 1_000 + made * 4_000) / 1_000_000


@pytest.fixture
def priced(lab):
    lab.write(model_yaml=model(lab.server.base_url, more=PRICED))
    return lab


@pytest.fixture
def judged(lab):
    """Twelve questions whose answers another model judges; both have a price."""
    lab.write(
        model_yaml=model(lab.server.base_url, more=PRICED),
        judge_yaml=model(lab.server.base_url, key="judge", more=PRICED),
        task_yaml=TASK + JUDGE,
        run_yaml=RUN.replace("{$ref: model.yaml}", "{$ref: model.yaml}, {$ref: judge.yaml}"),
    )
    return lab


def calls(ran: Outcome) -> dict:
    found: dict = ran.run.record["calls"]
    return found


def test_rows_and_runs_say_what_they_cost(priced):
    ran = priced.run()
    assert ran.exit_code == 0, ran.stderr
    whole = sum(map(cost_of, range(12)))
    assert list(ran.run.samples()["cost_usd"]) == pytest.approx(list(map(cost_of, range(12))))
    assert calls(ran)["cost_usd"] == pytest.approx(whole)
    assert ran.finished.json["cost_usd"] == pytest.approx(whole)
    assert ran.run.record["prices"]["lab"] == {"input": 1000, "output": 4000, "source": "the model"}
    assert f"${whole:.3f}" in ran.last_line


def test_what_the_ledger_answers_costs_nothing_now(priced):
    first, again = priced.run(), priced.run()
    assert priced.asked == 12
    assert calls(again)["cost_usd"] == 0.0
    assert calls(again)["cost_without_ledger_usd"] == pytest.approx(calls(first)["cost_usd"])
    assert list(again.run.samples()["cost_usd"]) == list(first.run.samples()["cost_usd"])


def test_what_is_not_known_is_null_and_said_once(lab):
    ran = lab.run()
    assert ran.exit_code == 0
    assert calls(ran)["cost_usd"] is None
    assert calls(ran)["cost_without_ledger_usd"] is None
    assert ran.run.samples()["cost_usd"].isna().all()
    assert ran.stderr.count("no price for model 'lab'") == 1
    assert "cost unknown" in ran.last_line
    assert ran.finished.json["cost_usd"] is None


def test_a_file_of_prices_may_be_named(lab):
    lab.write(prices_yaml="prices:\n  lab-1: {input: 1000, output: 4000}\n")
    ran = lab.run("--prices", lab.folder / "prices.yaml", "-n", 2)
    assert calls(ran)["cost_usd"] == pytest.approx(cost_of(0) + cost_of(1))


def test_a_judge_costs_what_its_calls_cost(judged):
    ran = judged.run()
    assert ran.exit_code == 0, ran.stderr
    usages = [json.loads(text)["usage"] for text in ran.run.scores("judge")["metadata"]]
    of_judge = sum(usage["cost_usd"] for usage in usages)
    assert of_judge > 0
    assert calls(ran)["cost_usd"] == pytest.approx(of_judge + sum(map(cost_of, range(12))))
    assert calls(ran)["cost_without_ledger_usd"] == pytest.approx(calls(ran)["cost_usd"])


@pytest.mark.parametrize("flag", ["run", "rescore"])
def test_a_budget_without_a_price_is_refused_before_any_call(lab, flag, tmp_path):
    store = tmp_path / "none"
    if flag == "run":
        ended = lab.run("--budget-usd", 5, store=store).finished
    else:
        lab.write(
            judge_yaml=model(lab.server.base_url, key="judge"),
            task_yaml=TASK + JUDGE,
            traces_jsonl=json.dumps({"target": "x", "trace": []}) + "\n",
            run_yaml=RUN.replace("{$ref: model.yaml}", "{$ref: model.yaml}, {$ref: judge.yaml}"),
        )
        named = (lab.folder / "traces.jsonl", lab.folder / "run.yaml", "-o", store)
        ended = lab.evalmill("rescore", *named, "--budget-usd", 5, *ALONE, cwd=lab.folder)
    assert ended.exit_code == 2
    unknown = "lab" if flag == "run" else "judge"
    assert f"the price of model '{unknown}' is not known" in ended.stderr
    assert "price: {input: …, output: …}" in ended.stderr
    assert lab.asked == 0
    assert not store.exists()


@pytest.fixture
def long(priced):
    """Two hundred questions, two at a time."""
    priced.write(qa_jsonl=questions(200, wrong=20))
    priced.server.reset(latency_ms=5)
    return priced


FLAGS = ("-j", str(IN_FLIGHT), "--batch-size", "7", "--run-id", "night")
BUDGET = 0.5


def least_calls(budget: float) -> int:
    """How many of the first questions cost that much."""
    paid, number = 0.0, 0
    while paid < budget * (1 - 1e-9):
        paid += cost_of(number)
        number += 1
    return number


def test_a_budget_ends_a_run_within_the_calls_in_flight(long):
    ran = long.run(*FLAGS, "--budget-usd", BUDGET)
    assert ran.exit_code == 5, ran.stderr
    asked = long.asked
    assert least_calls(BUDGET) <= asked <= least_calls(BUDGET) + IN_FLIGHT
    samples = ran.run.samples()
    assert dict(samples["status"].value_counts()) == {"ok": asked, "skipped": 200 - asked}
    assert BUDGET <= calls(ran)["cost_usd"] == pytest.approx(samples["cost_usd"].sum())
    record = ran.run.record
    assert (record["status"], record["exit_code"]) == ("interrupted", 5)
    assert record["specs"][0]["n_skipped"] == 200 - asked
    assert record["specs"][0]["n_scored"] == asked
    assert not ran.run.complete
    (row,) = ran.metrics.values()
    assert (row["n"], row["n_error"], row["n_skipped"], row["n_total"]) == (
        *(asked, 0, 200 - asked, 200),
    )
    assert row["bound_low"] == pytest.approx(row["value"] * asked / 200)
    assert row["bound_high"] == pytest.approx((row["value"] * asked + 200 - asked) / 200)
    scores = ran.run.scores()
    assert list(scores["status"]) == list(samples["status"])
    assert scores["error_message"].isna().all()
    assert "stopped by the budget" in ran.last_line
    assert "the budget of $0.500 is used up" in ran.stderr
    shown = long.evalmill("show", "night", cwd=long.folder)
    assert "skipped" in shown.stdout
    assert "interrupted, stopped by the budget" in shown.stderr


def test_a_higher_budget_goes_on_where_a_lower_one_stopped(long, tmp_path):
    short = long.run(*FLAGS, "--budget-usd", BUDGET)
    command = shlex.split(short.finished.json["resume"])
    assert command == shlex.split(short.last_line.partition("resume with: ")[2])
    assert float(command[command.index("--budget-usd") + 1]) == 2 * BUDGET
    asked = long.asked
    longer = long.evalmill(*command[1:], "--json", "--no-progress", cwd=long.folder)
    assert longer.exit_code == 5, longer.stderr
    assert least_calls(2 * BUDGET) <= long.asked <= least_calls(2 * BUDGET) + 2 * IN_FLIGHT
    assert long.asked > asked
    command[command.index("--budget-usd") + 1] = "100"
    whole = long.evalmill(*command[1:], "--json", "--no-progress", cwd=long.folder)
    assert whole.exit_code == 0, whole.stderr
    assert long.asked == 200
    end = Outcome(whole, long.evalmill.store)
    assert end.run.complete
    assert calls(end)["cost_usd"] == pytest.approx(sum(map(cost_of, range(200))))
    unbroken = long.run(*FLAGS, store=tmp_path / "unbroken")
    assert same_metrics(end.run, unbroken.run)
    columns = ["sample_id", "status", "output_text", "cost_usd"]
    assert end.run.samples()[columns].equals(unbroken.run.samples()[columns])


def test_a_resumed_run_keeps_its_budget_and_what_it_paid(long):
    long.run(*FLAGS, "--budget-usd", BUDGET)
    asked = long.asked
    again = long.run("--resume", "night", file=None)
    assert again.exit_code == 5
    assert long.asked == asked
    # as after a kill, when nobody wrote down what was paid: the ledger knows
    file = Path(again.run.folder.run_json)
    record = json.loads(file.read_text()) | {"finished_at": None, "status": "running"}
    record["calls"]["cost_usd"] = None
    file.write_text(json.dumps(record))
    killed = long.run("--resume", "night", file=None)
    assert killed.exit_code == 5
    assert long.asked == asked
    assert calls(killed)["cost_usd"] == pytest.approx(calls(again)["cost_usd"])


def test_nothing_but_the_ledger_is_asked_on_a_budget_of_nothing(priced):
    priced.run("-n", 5)
    ran = priced.run("--budget-usd", 0)
    assert ran.exit_code == 5
    assert priced.asked == 5
    assert list(ran.run.samples()["status"]) == ["ok"] * 5 + ["skipped"] * 7
    assert calls(ran)["cost_usd"] == 0.0


def test_rows_are_skipped_by_the_judge_that_may_not_be_asked(judged):
    first = judged.run("--run-id", "first")
    assert judged.asked == 24
    named = ("first", judged.folder / "run.yaml", "-o", first.store, "--json", *ALONE)
    flags = ("--cache", "no-cache", "--budget-usd", "0.001", "--run-id", "again", "-j", "1")
    ended = judged.evalmill("rescore", *named, *flags, cwd=judged.folder)
    ran = Outcome(ended, first.store)
    assert ran.exit_code == 5, ran.stderr
    fresh = judged.asked - 24
    assert 0 < fresh < 12
    assert set(ran.run.samples()["status"]) == {"ok"}
    ends = dict(ran.run.scores("judge")["status"].value_counts())
    assert ends == {"ok": fresh, "skipped": 12 - fresh}
    assert set(ran.run.scores("string_equals")["status"]) == {"ok"}
    by_name = {row["scorer_key"]: row for row in ran.finished.json["metrics"]}
    assert by_name["string_equals"]["n_skipped"] == 0
    assert by_name["judge"]["n_skipped"] == 12 - fresh
    command = [*shlex.split(ended.json["resume"])[1:], "--budget-usd", "9", "--no-progress"]
    whole = judged.evalmill(*command, cwd=judged.folder)
    assert whole.exit_code == 0, whole.stderr
    assert judged.asked == 24 + 12


def test_a_sample_is_scored_when_all_its_trials_are(priced):
    trials = "  trials: {num_trials: 3}\n"
    priced.write(task_yaml=TASK + trials)
    ran = priced.run("--budget-usd", 0.1, "-j", "1", "--run-id", "night")
    assert ran.exit_code == 5
    samples = ran.run.samples()
    solved = samples[samples["status"] == "ok"].groupby("sample_index").size()
    whole = int((solved == 3).sum())
    assert 0 < whole < 12
    (row,) = ran.metrics.values()
    assert (row["n"], row["n_skipped"], row["n_error"]) == (whole, 12 - whole, 0)
    spec = ran.run.record["specs"][0]
    assert (spec["n_scored"], spec["n_skipped"]) == (3 * whole, 36 - 3 * whole)
    whole = priced.run("--resume", "night", "--budget-usd", 9, file=None)
    assert whole.exit_code == 0
    assert priced.asked == 36


GREEDY = """\
key: exam
display_name: Exam
description: Asks, whatever happens.
definition:
  dataset: {key: qa}
  solver:
    type: python
    run_solver_snippet: |
      async def run_solver(sample, model, trace):
          trace.append_user_message(sample["question"])
          try:
              trace.add_model_response(await model.predict(trace.items))
          except BaseException:
              pass
          return trace
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.target }}"}
"""


def test_authors_code_can_not_take_the_end_of_the_budget_for_an_answer(priced):
    priced.write(task_yaml=GREEDY)
    ran = priced.run("--budget-usd", "0.05", "-j", "1")
    assert ran.exit_code == 5, ran.stderr
    ends = dict(ran.run.samples()["status"].value_counts())
    assert ends == {"ok": priced.asked, "skipped": 12 - priced.asked}


@pytest.mark.prefect
def test_a_flow_that_the_budget_stopped_has_failed(long, prefect_server):
    ran = long.run(*FLAGS, "--budget-usd", BUDGET, conductor=("--no-progress",),
                   env={"PREFECT_API_URL": prefect_server.url})  # fmt: skip
    assert ran.exit_code == 5, ran.stderr
    from prefect.client.orchestration import get_client

    from flows.client import connected
    from tests.flows import runs

    with connected(prefect_server.url), get_client(sync_client=True) as client:
        flow_run = runs.flow_run(client, ran.run.record["prefect_flow_run_id"])
        shown = runs.artifacts(client, str(flow_run.id))
    assert flow_run.state.name == "OverBudget"
    assert "of $0.500" in shown["progress"].description


def test_a_plan_foretells_the_cost(judged):
    told = judged.evalmill("plan", judged.folder / "run.yaml", "--json", cwd=judged.folder).json
    solver, judge = told["specs"][0]["costs"]
    assert (solver["model"], solver["calls"]) == ("lab", {"least": 12, "most": 12})
    assert (judge["model"], judge["caller"]) == ("judge", "scorer:judge")
    assert (solver["reply_tokens"], solver["reply_tokens_from"]) == (300, "assumed")
    sent = solver["prompt_tokens"]
    assert solver["least_usd"] == pytest.approx(12 * (sent * 1_000 + 300 * 4_000) / 1e6, rel=0.1)
    assert judge["prompt_tokens"] > 300, "it shows the judge a reply of the assumed size"
    assert told["estimated_cost_usd"]["least"] == pytest.approx(
        solver["least_usd"] + judge["least_usd"]
    )
    text = judged.evalmill("plan", judged.folder / "run.yaml", cwd=judged.folder).stdout
    assert "replies taken for 300 tokens" in text
    assert "estimated cost: about $" in text
    assert judged.asked == 0


def test_a_plan_says_that_a_price_is_missing(lab):
    told = lab.evalmill("plan", lab.folder / "run.yaml", cwd=lab.folder)
    assert "estimated cost: unknown, there is no price for model 'lab'" in told.stdout

"""The ledger: a call is paid for once, and another call is never taken for it."""

from tests.e2e.lab import ALONE, Outcome, jsonl, mock, model, questions, same_metrics
from tests.fake_openai import serve_in_thread


def test_cache_policies_decide_which_replies_are_asked_for_again(lab):
    """BR-068 for one trial: repeats come from the cache slot by slot."""
    first = lab.run()
    assert lab.asked == 12
    repeat = lab.run()
    assert lab.asked == 12, "reuse: an unchanged run calls nothing"
    assert repeat.run.record["calls"] == {
        **first.run.record["calls"],
        "total": 12,
        "from_ledger": 12,
        "cost_usd": 0.0,
    }
    assert "0 calls, 12 from the ledger" in repeat.last_line
    assert same_metrics(first.run, repeat.run)
    texts = [list(ran.run.samples()["output_text"]) for ran in (first, repeat)]
    assert texts[0] == texts[1]

    lab.run("--cache", "update", "-n", "5")
    assert lab.asked == 17, "update: asks again"
    lab.run("--cache", "no-cache", "-n", "4")
    assert lab.asked == 21, "no-cache: asks again"
    lab.write(qa_jsonl=questions(14, wrong=5))
    grown = lab.run("--cache", "reuse")
    assert lab.asked == 23, "only new samples are asked"
    assert grown.metrics["is_correct_mean"]["n"] == 14


def test_another_model_address_or_parameter_is_another_call(lab):
    """BR-072 and BR-074: the key holds model, address and the complete request."""
    with serve_in_thread() as other:
        here = lab.server.base_url
        base = "parameters: {temperature: 0, max_tokens: 16, seed: 1}"
        lab.write(
            m1_yaml=model(here, "m1", base),
            m2_yaml=model(here, "m2", base),
            hot_yaml=model(here, "m1", base.replace("temperature: 0", "temperature: 1")),
            bare_yaml=model(here, "m1", base.replace("temperature: 0, ", "")),
            moved_yaml=model(other.base_url, "m1", base),
            slow_yaml=model(
                here.replace("//", "//someone:canary-9@"),
                "m1",
                base + "\nmax_concurrent_requests: 1\nrate_limit: 60000",
            ),
        )
        asked = []
        for file in ("m1", "m2", "hot", "bare", "moved", "slow"):
            ran = lab.run("-m", f"{file}.yaml", "-n", "2")
            assert ran.exit_code == 0, ran.stderr
            asked.append((lab.asked, other.stats()["requests"]))
    assert asked == [(2, 0), (4, 0), (6, 0), (8, 0), (8, 2), (8, 2)], (
        "how fast one may ask, and with which key, changes nothing of a reply"
    )
    assert b"canary-9" not in (lab.evalmill.store / "ledger.sqlite").read_bytes()


def test_samples_with_one_prompt_keep_replies_of_their_own(lab):
    """BR-077."""
    rows = [{"sample_id": name, "question": "Pick a number", "target": "7"} for name in "abc"]
    replies = {"a": "7", "b": "3", "c": "9"}
    rules = [{"sample_id": name, "reply": reply} for name, reply in replies.items()]
    lab.write(qa_jsonl=jsonl(rows), model_yaml=mock(rules))
    for fresh in (3, 0):
        ran = lab.run()
        assert list(ran.run.samples()["output_text"]) == ["7", "3", "9"]
        assert f": run {ran.run_id} ({fresh} calls" in ran.last_line
    lab.write(model_yaml=model(lab.server.base_url))
    for _ in range(2):
        assert lab.run().exit_code == 0
        assert lab.asked == 3
    assert lab.server.stats()["distinct_requests"] == 1


def test_failed_calls_are_never_replies(lab):
    """BR-074, the end: an errored or cut-off reply is never served again."""
    lab.write(qa_jsonl=questions(4).replace("Number 1?", "FAULT=400 1?"))
    assert lab.run().exit_code == 3
    assert lab.asked == 4
    assert lab.run().exit_code == 3
    assert lab.asked == 5


def test_two_runs_at_once_share_a_store(lab):
    lab.write(qa_jsonl=questions(60))
    lab.server.reset(latency_ms=15)
    flags = ("--json", *ALONE, "-j", "3", "--batch-size", "5")
    running = [
        lab.evalmill.start("run", lab.folder / "run.yaml", "--run-id", name, *flags)
        for name in ("left", "right")
    ]
    ended = []
    for process in running:
        with process:
            _, stderr = process.communicate(timeout=60)
            assert process.returncode == 0, stderr
    ended = [
        Outcome(lab.evalmill("show", name, "--json"), lab.evalmill.store)
        for name in ("left", "right")
    ]
    assert same_metrics(ended[0].run, ended[1].run)
    assert {row["run_id"] for row in lab.evalmill("ls", "--json").json} == {"right", "left"}
    assert 60 <= lab.asked <= 120

"""Authors' code in processes: what hangs, bloats or dies costs its own call."""

import asyncio
import json
import os
import subprocess
import sys
import time
from textwrap import dedent

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.isolation import pool
from tasks_lib.isolation.member import SnippetMember
from tasks_lib.scorers.python import PythonScorer
from tasks_lib.trace import SolverTrace
from tasks_lib.trace.evidence import SampleScore
from tasks_lib.trace.legacy import SingleSolverOutput
from tests.scorers.rows import row, solved

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="macOS takes no limit of addresses")


def member(**limits) -> SnippetMember:
    return SnippetMember(**{"isolation": "process", "timeout": 20, **limits})


def call(source: str, *args, **limits):
    return member(**limits).call(dedent(source), "f", *args)


def test_it_runs_elsewhere_and_is_used_again():
    source = "import os\ndef f(): return os.getpid()"
    first = call(source)
    assert first != os.getpid()
    assert call(source) == first


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": [1, 2.5, None, True, "é\ud800\0"]}, id="JSON, lone surrogates, NUL"),
        pytest.param(10**40, id="long integers"),
        pytest.param([float("inf")], id="infinities"),
        pytest.param({"evalmill": 1, "data": 2}, id="data that looks like a mark"),
        pytest.param(SolverTrace(), id="a trace"),
        pytest.param([SampleScore(values={"a": 1})], id="scores"),
        pytest.param(SingleSolverOutput(messages=[], output=None), id="an output in older form"),
    ],
)
def test_values_arrive_as_they_are(value):
    assert call("def f(value): return value", value) == value


def test_what_it_returns_is_made_plain():
    source = """
        import numpy, enum
        class Kind(enum.StrEnum):
            A = "a"
        def f(): return {"n": numpy.float64(1.5), "k": Kind.A, "t": (1, numpy.arange(2))}
        """
    assert call(source) == {"n": 1.5, "k": "a", "t": [1, [0, 1]]}


def test_what_can_not_leave_is_shown_in_messages():
    source = "def compute_scores(sample): return {'a': complex(1, 2)}"
    scorer = PythonScorer(metrics=(), compute_scores_snippet=source, isolation="process")
    with pytest.raises(SampleError, match=r"compute_scores.a is \(1\+2j\)"):
        scorer.score(row())


def test_an_error_names_file_and_line():
    with pytest.raises(SampleError) as caught:
        call("\ndef f(): return 1 / 0")
    assert caught.value.error_class == "code"
    assert caught.value.problem == "ZeroDivisionError: division by zero"
    assert caught.value.where.endswith(":2")


HANGS = """
    import os, re, sys, time
    def f(how):
        if how == "loop":
            while True: pass
        if how == "backtracking":
            re.match("(a+)+$", "a" * 60 + "b")
        if how == "sleep":
            time.sleep(60)
        if how == "exit":
            os._exit(7)
        if how == "segfault":
            import ctypes
            ctypes.string_at(0)
        if how == "kill":
            os.kill(os.getpid(), 9)
        if how == "sys.exit":
            sys.exit(3)
        if how == "stdout":
            os.write(1, b"x" * 100); print("printed"); sys.stdin.read(1)
        return how
    """


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ("loop", "f took longer than 1 seconds"),
        ("backtracking", "f took longer than 1 seconds"),
        ("sleep", "f took longer than 1 seconds"),
        ("exit", "f: its process ended with exit code 7"),
        ("segfault", "f: its process was ended by SIGSEGV"),
        ("kill", "f: its process was ended by SIGKILL"),
        ("sys.exit", "SystemExit: 3"),
    ],
)
def test_what_hangs_or_dies_costs_its_own_call(how, complaint):
    began = time.monotonic()
    with pytest.raises(SampleError, match=complaint) as caught:
        call(HANGS, how, timeout=1)
    assert time.monotonic() - began < 15
    assert caught.value.error_class == "code"
    assert call(HANGS, "well") == "well"


def test_standard_streams_are_not_ours():
    assert call(HANGS, "stdout") == "stdout"


@LINUX
def test_memory_is_limited():
    source = "def f(megabytes): return len(bytearray(megabytes << 20))"
    with pytest.raises(SampleError, match="MemoryError"):
        call(source, 2000, memory_limit_mb=512)
    assert call(source, 20, memory_limit_mb=512) == 20 << 20


def test_an_answer_is_limited(monkeypatch):
    monkeypatch.setattr("tasks_lib.isolation.process.MAX_ANSWER", 1000)
    with pytest.raises(SampleError, match=r"sent 2,0.. bytes, more than the 1,000 allowed"):
        call("def f(): return 'x' * 2000")


def test_what_is_no_json_can_not_be_sent():
    with pytest.raises(SampleError, match=r"can't be sent to its process: .*complex"):
        call("def f(value): return 1", [1j])


def test_many_rows_are_scored_in_order_each_by_itself():
    source = """
        import os
        def compute_scores(sample, solver_output):
            if sample["n"] == 7:
                os._exit(1)
            return {"n": sample["n"], "said": solver_output.trace.get_last_assistant_text()}
        """
    scorer = PythonScorer(
        metrics=(), compute_scores_snippet=dedent(source), isolation="process", timeout=20
    )
    rows = [row(solved(said="yes"), n=n) for n in range(20)]
    found = scorer.score_each(rows)
    assert isinstance(found[7], SampleError)
    assert [score.values for n, score in enumerate(found) if n != 7] == [
        {"n": n, "said": "yes"} for n in range(20) if n != 7
    ]


def test_there_are_no_more_processes_than_cores(monkeypatch):
    few = pool.Processes(2)
    monkeypatch.setattr(pool, "_processes", few)
    source = (
        "import os, time\ndef compute_scores(sample): time.sleep(.01); return {'p': os.getpid()}"
    )
    scorer = PythonScorer(metrics=(), compute_scores_snippet=source, isolation="process")
    monkeypatch.setattr("tasks_lib.isolation.member.CORES", 8)
    pids = {score.values["p"] for score in scorer.score_each([row()] * 30)}
    few.end()
    assert len(pids) <= 2


def test_they_end_when_their_starter_is_killed():
    script = """
        import os, signal, sys
        from tasks_lib.isolation.member import SnippetMember
        source = "import os\\ndef f(): return os.getpid()"
        pid = SnippetMember(isolation="process").call(source, "f")
        print(pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, text=True, timeout=60
    )
    pid = int(done.stdout)
    end = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_alive(pid)


def is_alive(pid: int) -> bool:
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True
    ).stdout.strip()
    return bool(listed) and not listed.startswith("Z")


def test_a_loop_waits_for_it_without_standing_still():
    async def both():
        calls = [member().call_async("def f(n): return n", "f", n) for n in range(10)]
        return await asyncio.gather(*calls)

    assert asyncio.run(both()) == list(range(10))


def test_snippets_find_our_types_there():
    source = """
        from latticeflow.core.dtypes import Trace
        from latticeflow.core.experimental.scorers import StringEquals
        def f(): return Trace(items=[]).to_json()
        """
    assert json.loads(call(source)) == {"FORMAT": "open_responses", "items": []}


def test_a_limit_of_memory_needs_a_process():
    with pytest.raises(ValidationError, match="needs 'isolation: process'"):
        SnippetMember(memory_limit_mb=512)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e9])
def test_no_limit_is_none(timeout):
    with pytest.raises(ValidationError, match="timeout"):
        SnippetMember(timeout=timeout)

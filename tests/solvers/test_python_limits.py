"""Authors' solvers in threads and processes: limits, and what passes between."""

import asyncio
import time
from textwrap import dedent

import pytest

from tasks_lib.errors import SampleError, Stopped
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BrokenOffError, SolverContext
from tests.solvers.scripted import Models, chat, conversation, solve, solver

PLACES = pytest.mark.parametrize("isolation", ["thread", "process"])


def snippet(source: str, isolation: str = "thread", timeout: float = 20) -> dict[str, object]:
    return {
        "type": "python",
        "run_solver_snippet": dedent(source),
        "isolation": isolation,
        "timeout": timeout,
    }


class Slow(Models):
    """Models that take a while to answer."""

    async def predict(self, *args, **options):
        await asyncio.sleep(0.4)
        return await super().predict(*args, **options)


@PLACES
def test_the_documented_way_works_in_both(isolation):
    models = Models(tested=["first", "second"])
    source = """
        async def run_solver(sample, model, trace):
            trace.append_user_message(sample["question"])
            trace.add_model_response(await model.predict(trace.items, temperature=0))
            response = await model.predict(trace.items)
            trace.add_model_response(response)
            assert response.text == "second"
            return trace
        """
    output = solve(snippet(source, isolation), models, question="Why?")
    assert conversation(output) == [
        ("user", "Why?"), ("assistant", "first"), ("assistant", "second"),
    ]  # fmt: skip
    assert output.raw_outputs_json == [chat("first").raw, chat("second").raw]
    assert models.asked[0][1]["temperature"] == 0


@PLACES
def test_calls_may_be_made_at_once(isolation):
    source = """
        import asyncio

        async def run_solver(sample, model, trace):
            replies = await asyncio.gather(*(model.predict([f"{n}"]) for n in range(5)))
            for reply in replies:
                trace.append_system_message(reply.text)
            return trace
        """
    began = time.monotonic()
    solve(snippet("async def run_solver(s, m, t): return t", isolation))  # a process is there
    began = time.monotonic()
    output = solve(snippet(source, isolation), Slow(tested=list("abcde")))
    assert sorted(text for _, text in conversation(output)) == list("abcde")
    assert time.monotonic() - began < 1.6


@PLACES
def test_time_spent_waiting_for_the_model_does_not_count(isolation):
    source = """
        async def run_solver(sample, model, trace):
            for _ in range(4):
                await model.predict([])
            return trace
        """
    solve(snippet(source, isolation, timeout=0.9), Slow(tested=list("abcd")))


@PLACES
@pytest.mark.parametrize(
    ("kind", "hang"),
    [
        ("async def", "await asyncio.sleep(60)"),
        ("async def", "time.sleep(3)"),
        ("def", "time.sleep(3)"),
        ("def", "\n    while True: pass"),
    ],
)
def test_own_time_has_a_limit(isolation, kind, hang):
    source = f"import asyncio, time\n{kind} run_solver(sample, model, trace): {hang}"
    began = time.monotonic()
    with pytest.raises(SampleError, match=r"run_solver took longer than 0\.5 seconds") as caught:
        solve(snippet(source, isolation, timeout=0.5))
    assert caught.value.error_class == "code"
    assert time.monotonic() - began < 2.5


@PLACES
def test_what_blocks_holds_up_nobody_else(isolation):
    source = """
        import time

        async def run_solver(sample, model, trace):
            if sample["blocks"]:
                time.sleep(1)
            await model.predict([])
            return trace
        """
    one = solver(snippet(source, isolation))
    ended: dict[bool, float] = {}

    async def solved(blocks: bool) -> None:
        await one.solve(Sample("s", 0, {"blocks": blocks}), SolverContext("tested", models))
        ended[blocks] = time.monotonic()

    async def both() -> None:
        await asyncio.gather(solved(True), solved(False))

    models = Models(tested=["a", "b"])
    asyncio.run(both())
    assert ended[False] < ended[True] - 0.3


@PLACES
def test_what_was_said_before_an_error_is_kept(isolation):
    source = """
        async def run_solver(sample, model, trace):
            trace.append_user_message("x")
            return trace.nope
        """
    with pytest.raises(BrokenOffError, match="nope") as caught:
        solve(snippet(source, isolation))
    assert conversation(caught.value.output) == [("user", "x")]


@PLACES
def test_errors_of_the_model_keep_their_class(isolation):
    models = Models(tested=[SampleError("infra", "HTTP 500"), "better"])
    source = """
        async def run_solver(sample, model, trace):
            try:
                await model.predict([])
            except Exception as error:
                trace.append_system_message(str(error))
            trace.add_model_response(await model.predict([]))
            return trace
        """
    output = solve(snippet(source, isolation), models)
    assert conversation(output) == [("system", "HTTP 500"), ("assistant", "better")]
    with pytest.raises(SampleError, match="HTTP 502") as caught:
        solve(
            snippet("async def run_solver(s, model, t): await model.predict([])", isolation),
            Models(tested=[SampleError("infra", "HTTP 502")]),
        )
    assert caught.value.error_class == "infra"


@PLACES
def test_the_end_of_the_run_ends_it(isolation):
    source = """
        async def run_solver(sample, model, trace):
            try:
                await model.predict([])
            except Exception:
                pass
            return trace
        """
    with pytest.raises(Stopped):
        solve(snippet(source, isolation), Models(tested=[Stopped()]))


@PLACES
def test_a_limit_of_its_own_may_be_put_on_a_call(isolation):
    source = """
        import asyncio

        async def run_solver(sample, model, trace):
            try:
                await asyncio.wait_for(model.predict([]), 0.05)
            except TimeoutError:
                trace.append_system_message("too slow")
            return trace
        """
    output = solve(snippet(source, isolation), Slow(tested=["a"]))
    assert conversation(output) == [("system", "too slow")]


def test_a_process_that_dies_costs_its_sample():
    source = "import os\ndef run_solver(sample, model, trace): os._exit(5)"
    with pytest.raises(SampleError, match="its process ended with exit code 5"):
        solve(snippet(source, "process"))


def test_more_samples_than_files_admit_wait_for_one_another(monkeypatch):
    monkeypatch.setattr("tasks_lib.solvers.python.MOST_AT_ONCE", 3)
    source = """
        import time
        at_once, most = 0, 0

        def run_solver(sample, model, trace):
            global at_once, most
            at_once += 1
            most = max(most, at_once)
            time.sleep(0.02)
            at_once -= 1
            trace.append_system_message(str(most))
            return trace
        """
    one = solver(snippet(source))

    async def all_of_them():
        context = SolverContext("tested", Models())
        return await asyncio.gather(*(one.solve(Sample("s", 0, {}), context) for _ in range(12)))

    outputs = asyncio.run(all_of_them())
    assert max(int(text) for output in outputs for _, text in conversation(output)) == 3

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.errors import CircuitError, SampleError, Stopped
from tasks_lib.jsontext import dump_bytes
from tasks_lib.models import retries
from tasks_lib.models.adapters.openai_chat import chat_output
from tasks_lib.models.call_id import CallId
from tasks_lib.models.circuit import PROBES, RELAPSED, SUSPICIOUS, Circuit, FailedCall
from tasks_lib.models.connections.base import CallFailure
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.models.service import ModelService
from tests.fake_openai import RunningServer
from tests.models.calling import asked, endpoint, service_of
from tests.models.wire import chat_json

REQUEST = dump_bytes({"messages": [], "max_tokens": 8})
REFUSED = CallFailure("infra", "connection failed", unanswered=True, retryable=True)
DEAD = SampleError("infra", "HTTP 500: no (after 5 attempts)")


def call(number: int) -> CallId:
    return CallId("spec", "solver", str(number), 0, 0)


class Watched:
    """A circuit, with what it tells."""

    def __init__(self, active: bool = True) -> None:
        self.causes: list[CircuitError] = []
        self.calls: list[FailedCall] = []
        self.notices: list[str] = []
        self.circuit = Circuit("lab", self._break_off, self.notices.append, active)

    def _break_off(self, cause: CircuitError, calls: list[FailedCall]) -> None:
        self.causes.append(cause)
        self.calls = calls

    async def fail(self, *numbers: int, error: SampleError = DEAD, status: int = 500) -> None:
        """Make calls, one after another, that are given up."""
        for number in numbers:
            await self._call(number, lambda spot: self.circuit.failed(spot, error, status))

    async def answer(self, *numbers: int, **reply: Any) -> None:
        """Make calls, one after another, that are answered."""
        output = chat_output(chat_json(**{"content": "yes", **reply}))
        for number in numbers:
            await self._call(number, lambda spot: self.reply(spot, output))

    def reply(self, spot: CallId, output: ModelOutput) -> None:
        if self.circuit.watching:
            self.circuit.replied(spot, output, REQUEST)

    async def _call(self, number: int, end: Any) -> None:
        probing = self.circuit.on_probe
        if probing:
            await asyncio.wait_for(self.circuit.enter(call(number)), 1)
        end(call(number))
        if probing:
            self.circuit.leave(call(number))


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(main)


def test_five_failures_and_no_usable_reply_end_the_run_once():
    async def main() -> None:
        watched = Watched()
        await watched.fail(*range(PROBES - 1))
        assert watched.causes == []
        await watched.fail(*range(PROBES, 30))
        (cause,) = watched.causes
        assert str(cause) == (
            "model 'lab': no usable reply to the first 5 calls: HTTP 500: no (after 5 attempts); "
            "see why its server fails, then go on"
        )
        assert (cause.model, cause.resumable) == ("lab", True)
        assert [failed.call.sample_id for failed in watched.calls] == ["0", "1", "2", "3", "5"]

    run(main())


def test_the_commonest_reason_is_told():
    async def main() -> None:
        watched = Watched()
        await watched.fail(0, error=SampleError("infra", "other"))
        await watched.fail(*range(1, PROBES), error=SampleError("infra", "usual", fix="mend it"))
        assert "first 5 calls: usual; mend it" in str(watched.causes[0])

    run(main())


def test_one_usable_reply_is_enough():
    async def main() -> None:
        watched = Watched()
        await watched.fail(*range(PROBES - 1))
        await watched.answer(10)
        await watched.fail(*range(20, 20 + SUSPICIOUS - 1))
        assert not watched.circuit.on_probe
        assert watched.causes == []

    run(main())


def test_a_call_that_cannot_be_decided_anew_waits_while_on_probe():
    """Five are under way at most, and none begins that could tell nothing more."""

    async def main() -> None:
        watched = Watched()
        circuit = watched.circuit
        entered: list[int] = []

        async def enter(number: int) -> None:
            await circuit.enter(call(number))
            entered.append(number)

        waiting = [asyncio.create_task(enter(number)) for number in range(12)]
        await asyncio.sleep(0.01)
        assert entered == [0, 1, 2, 3, 4]
        circuit.failed(call(0), DEAD, 500)
        circuit.leave(call(0))
        circuit.failed(call(1), SampleError("model", "HTTP 400: too long"), 400)
        circuit.leave(call(1))
        await asyncio.sleep(0.01)
        assert entered == [0, 1, 2, 3, 4, 5], "the failed one is not replaced, the other is"
        watched.reply(call(2), chat_output(chat_json("yes")))
        circuit.leave(call(2))
        await asyncio.wait_for(asyncio.gather(*waiting), 1)
        assert not circuit.on_probe

    run(main())


def test_a_waiting_call_that_is_cancelled_takes_no_place():
    async def main() -> None:
        circuit = Watched().circuit
        for number in range(PROBES):
            await circuit.enter(call(number))
        first, second = (asyncio.create_task(circuit.enter(call(i))) for i in (10, 11))
        await asyncio.sleep(0)
        circuit.leave(call(0))
        first.cancel()
        await asyncio.wait_for(second, 1)
        assert first.cancelled()

    run(main())


def test_nobody_there_shows_with_the_second_attempt():
    async def main() -> None:
        watched = Watched()
        for number in range(PROBES):
            await watched.circuit.enter(call(number))
        for number in range(PROBES):
            watched.circuit.stumbled(call(number), REFUSED, 1)
        assert watched.causes == []
        busy = CallFailure("infra", "HTTP 429", retryable=True, status=429)
        for number in range(PROBES):
            watched.circuit.stumbled(call(number), busy, 3)
        assert watched.causes == []
        for number in range(PROBES):
            watched.circuit.stumbled(call(number), REFUSED, 2)
        assert len(watched.causes) == 1

    run(main())


@pytest.mark.parametrize(
    ("status", "problem", "counts"),
    [
        (400, "HTTP 400 (content_filter): The prompt was filtered", False),
        (400, "HTTP 400: This model's maximum context length is 8192 tokens, 9000 given", False),
        (413, "HTTP 413: too large", False),
        (400, "HTTP 400: API key not valid. Please pass a valid API key.", True),
        (400, "HTTP 400: Invalid model name passed in model=gpt-5-nano", True),
        (400, "HTTP 400: openai/gpt-x is not a valid model ID", True),
        (400, "HTTP 400: The model `x` does not exist", True),
        (400, "HTTP 400: Unsupported parameter: 'max_tokens'", True),
        (400, "HTTP 400: Unrecognized request argument supplied: top_q", True),
        (422, "HTTP 422: something else", True),
        (400, "HTTP 400: logprobs must be an array", True),
        (401, "HTTP 401: no", True),
        (402, "HTTP 402: no", True),
        (403, "HTTP 403: no", True),
        (404, "HTTP 404: no", True),
        (429, "HTTP 429: no (after 5 attempts)", True),
        (0, "the reply is no JSON: '<html>' (after 5 attempts)", True),
    ],
)
def test_what_one_prompt_is_to_blame_for_does_not_count(status: int, problem: str, counts: bool):
    async def main() -> None:
        watched = Watched()
        error = SampleError("model", problem)
        await watched.fail(*range(40), error=error, status=status)
        assert len(watched.causes) == counts

    run(main())


def test_bad_requests_for_one_reason_end_the_run_before_any_answer():
    async def main() -> None:
        watched = Watched()
        for number in range(PROBES):
            error = SampleError("model", f"HTTP 400: seed must be text (request req_{number}f)")
            await watched.fail(number, error=error, status=400)
        (cause,) = watched.causes
        assert "no usable reply to the first 5 calls: HTTP 400: seed must be text" in str(cause)
        assert "plan --show 2" in str(cause)

    run(main())


def test_bad_requests_for_several_reasons_or_after_an_answer_are_their_samples():
    async def main() -> None:
        watched = Watched()
        for number in range(40):
            words = ("seed must be text", "no such tool")[number == PROBES - 2]
            error = SampleError("model", f"HTTP 400: {words}")
            await watched.fail(number, error=error, status=400)
        assert watched.causes == []
        other = Watched()
        await other.answer(0)
        await other.fail(*range(1, 40), error=SampleError("model", "HTTP 400: no"), status=400)
        assert other.causes == []

    run(main())


def test_data_that_a_scripted_model_does_not_know_does_not_count():
    async def main() -> None:
        watched = Watched()
        await watched.fail(*range(40), error=SampleError("data", "no rule"), status=0)
        assert watched.causes == []

    run(main())


def test_replies_all_cut_off_before_an_answer_end_the_run():
    async def main() -> None:
        watched = Watched()
        await watched.answer(*range(PROBES), content=None, finish_reason="length")
        (cause,) = watched.causes
        assert str(cause) == (
            "model 'lab': every reply was cut off at max_tokens=8 before an answer; "
            "raise it, or skip this check with --no-preflight"
        )
        assert not cause.resumable, "with another limit it is another run"

    run(main())


def test_replies_cut_off_with_something_to_see_are_only_noticed():
    async def main() -> None:
        watched = Watched()
        await watched.answer(*range(PROBES + 3), content="B", finish_reason="length")
        assert watched.causes == []
        assert watched.notices == [
            "the first 5 replies of model 'lab' were all cut off at max_tokens=8; "
            "raise it if answers need more"
        ]

    run(main())


def test_one_whole_reply_among_those_cut_off_says_that_all_is_well():
    async def main() -> None:
        watched = Watched()
        await watched.answer(*range(4), content=None, finish_reason="length")
        await watched.answer(4)
        await watched.answer(*range(5, 30), content=None, finish_reason="length")
        assert (watched.causes, watched.notices) == ([], [])

    run(main())


def test_a_model_that_dies_is_on_probe_again_and_then_given_up():
    async def main() -> None:
        watched = Watched()
        await watched.answer(*range(100))
        circuit = watched.circuit
        for number in range(100, 150):  # under way when it died
            circuit.failed(call(number), DEAD, 500)
        assert circuit.on_probe
        assert watched.causes == []
        await watched.fail(*range(200, 200 + RELAPSED - 1))
        assert watched.causes == []
        await watched.fail(300)
        assert str(watched.causes[0]).startswith(
            "model 'lab': no usable reply to the last 20 calls: HTTP 500: no"
        )
        assert watched.causes[0].resumable

    run(main())


def test_a_model_that_recovers_is_trusted_again():
    async def main() -> None:
        watched = Watched()
        await watched.answer(0)
        await watched.fail(*range(1, 1 + SUSPICIOUS + RELAPSED - 1))
        assert watched.circuit.on_probe
        await watched.answer(50)
        assert not watched.circuit.on_probe
        await watched.fail(*range(60, 60 + SUSPICIOUS + RELAPSED - 1))
        assert watched.causes == []

    run(main())


def test_failures_with_answers_between_them_never_add_up():
    async def main() -> None:
        watched = Watched()
        for number in range(0, 400, 4):
            await watched.answer(number)
            await watched.fail(number + 1, number + 2, number + 3)
        assert watched.causes == []

    run(main())


def test_a_circuit_that_is_off_does_nothing():
    async def main() -> None:
        watched = Watched(active=False)
        await watched.fail(*range(100))
        await watched.answer(*range(100, 110), content=None, finish_reason="length")
        assert (watched.causes, watched.notices) == ([], [])

    run(main())


# in a service


async def ask_many(service: ModelService, text: str, count: int = 200) -> list[Any]:
    return await asyncio.gather(
        *(asked(service, text, sample_id=str(i)) for i in range(count)), return_exceptions=True
    )


@pytest.mark.parametrize(
    ("fault", "requests"), [("401", 5), ("404", 5), ("quota", 5), ("500", 25), ("hang", 10)]
)
def test_a_dead_endpoint_costs_five_calls(
    tmp_path: Path,
    fake_server: RunningServer,
    fault: str,
    requests: int,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.05)

    async def main() -> None:
        model = endpoint(fake_server.base_url, max_concurrent_requests=50, timeout=1.0)
        async with service_of(tmp_path, model) as service:
            ends = await ask_many(service, f"FAULT={fault}")
            assert service.cause is not None
            assert len(service.failed_calls) == 5
            assert all(isinstance(end, SampleError | Stopped) for end in ends)

    run(main())
    assert fake_server.stats()["requests"] == requests


def test_a_healthy_model_is_on_probe_for_one_reply(tmp_path: Path, fake_server: RunningServer):
    fake_server.reset(latency_ms=50)

    async def main() -> None:
        model = endpoint(fake_server.base_url, max_concurrent_requests=50)
        async with service_of(tmp_path, model) as service:
            began = asyncio.get_running_loop().time()
            ends = await ask_many(service, "hi", 105)
            assert asyncio.get_running_loop().time() - began < 1.5
            assert all(isinstance(end, ModelOutput) for end in ends)

    run(main())
    assert fake_server.stats()["max_in_flight"] == 50


def test_an_adapter_that_reads_no_reply_ends_the_run_too(
    tmp_path: Path, fake_server: RunningServer
):
    """What can't be read is paid for each time."""
    adapter = ModelAdapter.model_validate(
        {
            "key": "own",
            "display_name": "Own",
            "process_input": {"language": "jinja", "source_code": "{{ input | tojson }}"},
            "process_output": {"language": "jinja", "source_code": "{{ body.nothing }}"},
        }
    )

    async def main() -> None:
        url = fake_server.base_url + "/chat/completions"
        model = endpoint(url, adapter={"key": "own"}, max_concurrent_requests=50)
        async with service_of(tmp_path, model, adapters={"own": adapter}) as service:
            await ask_many(service, "hi")
            assert "nothing" in str(service.cause)

    run(main())
    assert fake_server.stats()["requests"] == PROBES


def test_a_model_that_comes_and_goes_loses_no_call(
    tmp_path: Path, fake_server: RunningServer, monkeypatch: pytest.MonkeyPatch
):
    """Calls that wait for their turn are held back, let go and held back again."""
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    fake_server.reset(latency_ms=2)

    async def main() -> list[Any]:
        model = endpoint(fake_server.base_url, max_concurrent_requests=4)
        async with service_of(tmp_path, model) as service:
            return await asyncio.gather(
                *(
                    asked(service, f"{i} FAULT=403" if i // 8 % 2 else str(i), sample_id=str(i))
                    for i in range(320)
                ),
                return_exceptions=True,
            )

    ends = asyncio.run(main())
    assert fake_server.stats()["requests"] == 320
    assert sum(isinstance(end, ModelOutput) for end in ends) == 160
    assert all("HTTP 403" in str(end) for end in ends if not isinstance(end, ModelOutput))

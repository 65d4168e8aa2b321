import asyncio
import email.utils
import time
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.definitions.model import Model
from tasks_lib.errors import SampleError, Stopped, StoreError
from tasks_lib.jsontext import dump_bytes, loads
from tasks_lib.models import retries
from tasks_lib.models.ledger import entries
from tasks_lib.models.ledger.file import ledger_path
from tasks_lib.models.outputs import ModelOutput
from tests.fake_openai import RunningServer
from tests.models.calling import asked, calls_of, endpoint, said, service_of
from tests.models.clock import run_skipping, skipping_loop
from tests.models.wire import Request, Wire, chat, chat_json, serving
from tests.models.wire import http as response

SLOW_DOWN = {"error": {"message": "slow down", "type": "rate_limit"}}


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back off for a moment only, where real time passes."""
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.01)


def ask_once(store: Path, model: Model, text: str = "hi", **parameters: Any) -> ModelOutput:
    async def main() -> ModelOutput:
        async with service_of(store, model) as service:
            return await asked(service, text, **parameters)

    return asyncio.run(main())


def ask_skipping(store: Path, wire: Wire) -> tuple[ModelOutput | SampleError, list[float]]:
    """Ask with a clock that skips waits; return the end and the waits between requests."""

    async def main() -> ModelOutput | SampleError:
        loop = skipping_loop()
        wire.clock = loop.time
        async with service_of(store, endpoint(wire.url)) as service:
            loop.busy = lambda: service.totals.in_flight > 0
            try:
                return await asked(service, "hi")
            except SampleError as error:
                return error

    end = run_skipping(main())
    return end, [
        after - before for before, after in zip(wire.arrived, wire.arrived[1:], strict=False)
    ]


# retries


def test_the_wait_a_server_asks_for_is_kept_and_the_back_off_grows(tmp_path: Path):
    """BR-022."""
    with serving(
        response(429, SLOW_DOWN, retry_after="90"),
        response(429, SLOW_DOWN),
        response(429, SLOW_DOWN),
        chat("fine"),
    ) as wire:
        end, waits = ask_skipping(tmp_path, wire)
    assert isinstance(end, ModelOutput)
    assert said(end) == "fine"
    first, second, third = waits
    assert 90 <= first < 91
    assert 1 <= second <= 2.2
    assert 2 <= third <= 4.2


def test_a_date_is_waited_for(tmp_path: Path):
    """BR-022."""
    date = email.utils.formatdate(time.time() + 120, usegmt=True)
    with serving(response(503, retry_after=date), chat("fine")) as wire:
        _, (wait,) = ask_skipping(tmp_path, wire)
    assert 115 < wait < 122


@pytest.mark.parametrize("value", ["0", "abc"])
def test_what_is_no_wait_backs_off_as_ever(tmp_path: Path, value: str):
    """BR-022."""
    with serving(response(429, SLOW_DOWN, retry_after=value)) as wire:
        end, waits = ask_skipping(tmp_path, wire)
    assert isinstance(end, SampleError)
    assert str(end).startswith("model 'lab': HTTP 429: slow down (after 5 attempts); lower")
    assert [round(wait * 2) / 2 for wait in waits] == sorted(round(w * 2) / 2 for w in waits)
    for wait, most in zip(waits, (1, 2, 4, 8), strict=True):
        assert most / 2 <= wait <= most + 0.3


def test_a_wait_of_a_day_ends_the_call_at_once(tmp_path: Path):
    """BR-022."""
    with serving(response(429, SLOW_DOWN, retry_after="86400")) as wire:
        end, waits = ask_skipping(tmp_path, wire)
    assert waits == []
    assert isinstance(end, SampleError)
    assert "asks to wait 86400 s, more than the 300 s waited for" in str(end)


def test_a_filtered_prompt_is_sent_once(tmp_path: Path):
    """BR-020."""
    body = {"error": {"message": "The prompt was filtered", "code": "content_filter"}}
    with serving(response(400, body)) as wire:
        end, waits = ask_skipping(tmp_path, wire)
    assert (len(wire.requests), waits) == (1, [])
    assert isinstance(end, SampleError)
    assert end.error_class == "model"
    assert str(end) == "model 'lab': HTTP 400 (content_filter): The prompt was filtered"


# limits


def test_never_more_in_flight_than_allowed_and_one_client_for_all(
    tmp_path: Path, fake_server: RunningServer
):
    """BR-025."""
    fake_server.reset(latency_ms=20)
    model = endpoint(fake_server.base_url, max_concurrent_requests=50)

    async def main() -> None:
        async with service_of(tmp_path, model) as service:
            await asyncio.gather(*(asked(service, "hi", sample_id=str(i)) for i in range(200)))

    asyncio.run(main())
    stats = fake_server.stats()
    assert stats["requests"] == 200
    assert 40 <= stats["max_in_flight"] <= 50
    assert stats["connections_opened"] <= 50 + 2, "two are those of this test"


def test_time_in_the_queue_is_no_part_of_the_time_out(tmp_path: Path, fake_server: RunningServer):
    """BR-025."""
    fake_server.reset(latency_ms=200)
    model = endpoint(fake_server.base_url, max_concurrent_requests=1, timeout=0.5)

    async def main() -> None:
        async with service_of(tmp_path, model) as service:
            await asyncio.gather(*(asked(service, "hi", sample_id=str(i)) for i in range(4)))

    asyncio.run(main())
    assert fake_server.stats()["requests"] == 4


def test_the_rate_limit_is_kept_over_retries_too(tmp_path: Path):
    with serving(response(500), response(500), chat("fine")) as wire:

        async def main() -> None:
            loop = skipping_loop()
            wire.clock = loop.time
            async with service_of(tmp_path, endpoint(wire.url, rate_limit=2)) as service:
                loop.busy = lambda: service.totals.in_flight > 0
                await asked(service, "hi")

        run_skipping(main())
    first, second, third = wire.arrived
    assert 29 < second - first < 31
    assert 29 < third - second < 31


# the ledger

BASE = {"temperature": 0, "max_tokens": 16, "seed": 1}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        pytest.param(BASE, 0, id="the same"),
        pytest.param({"seed": 1, "max_tokens": 16, "temperature": 0}, 0, id="in another order"),
        ({**BASE, "temperature": 1}, 1),
        pytest.param({"max_tokens": 16, "seed": 1}, 1, id="temperature left out"),
        ({**BASE, "seed": 2}, 1),
        ({**BASE, "max_tokens": 4000}, 1),
        ({**BASE, "top_p": 0.5}, 1),
        ({**BASE, "stop": ["\n"]}, 1),
        ({**BASE, "tools": [{"type": "function", "function": {"name": "t"}}]}, 1),
        ({**BASE, "response_format": {"type": "json_object"}}, 1),
        ({**BASE, "seed": 2**64}, 1),
    ],
)
def test_every_parameter_is_part_of_the_key(
    tmp_path: Path, fake_server: RunningServer, parameters: dict[str, Any], expected: int
):
    """BR-074."""

    def run(parameters: dict[str, Any]) -> None:
        ask_once(tmp_path, endpoint(fake_server.base_url, parameters=parameters))

    run(BASE)
    fake_server.reset()
    run(parameters)
    assert fake_server.stats()["requests"] == expected


def test_integers_beyond_64_bits_are_told_apart(tmp_path: Path, fake_server: RunningServer):
    for seed in (10**25, 10**25 + 1):
        ask_once(tmp_path, endpoint(fake_server.base_url, parameters={"seed": seed}))
    assert fake_server.stats()["requests"] == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, 0),
        pytest.param({"model_key": "m2"}, 1, id="BR-072: another model"),
        pytest.param({"url": "{base}/../v1"}, 1, id="BR-072: another address"),
        pytest.param({"url": "{base}?api-version=2"}, 1, id="another version of the API"),
        pytest.param({"api_key": "sk-other-1234"}, 0, id="BR-072: another key"),
        pytest.param({"url": "{base}?token=abcdefgh"}, 0, id="a secret in the address"),
        pytest.param({"key": "renamed"}, 0, id="another name of ours"),
        pytest.param({"max_concurrent_requests": 3, "rate_limit": 1000}, 0, id="limits"),
    ],
)
def test_address_and_model_are_part_of_the_key_but_no_secret(
    tmp_path: Path, change: dict[str, Any], expected: int
):
    """BR-072."""
    with serving(chat("fine")) as wire:
        fields = {"url": wire.url, "api_key": "sk-CANARY-1234"}
        ask_once(tmp_path, endpoint(**fields))
        changed = {**fields, **change}
        changed["url"] = changed["url"].replace("{base}", wire.url)
        ask_once(tmp_path, endpoint(**changed), key=changed.get("key", "lab"))
        assert len(wire.requests) == 1 + expected
    for file in tmp_path.glob("ledger.sqlite*"):
        assert b"CANARY" not in file.read_bytes()


def test_samples_trials_and_equal_calls_each_pay_for_their_own(
    tmp_path: Path,
):
    """BR-068, BR-077."""
    numbered = [chat(f"r{i}") for i in range(20)]

    def run(trials: int) -> list[str]:
        async def main() -> list[str]:
            async with service_of(tmp_path, endpoint(wire.url)) as service:
                outputs = []
                for sample_id in ("p1", "p2"):
                    for trial in range(trials):
                        calls = calls_of(service, sample_id, trial)
                        for _ in range(2):
                            messages = [{"role": "user", "content": "Pick a number"}]
                            outputs.append(said(await calls.predict("lab", {"messages": messages})))
                return outputs

        return asyncio.run(main())

    with serving(*numbered) as wire:
        first = run(trials=2)
        assert first == [f"r{i}" for i in range(8)]
        assert run(trials=2) == first
        assert len(wire.requests) == 8
        assert run(trials=3) == [*first[:4], "r8", "r9", *first[4:], "r10", "r11"]
        assert len(wire.requests) == 12


def test_what_calls_came_to_is_counted_for_the_sample_and_the_run(
    tmp_path: Path, fake_server: RunningServer
):
    async def main(hits: int) -> None:
        async with service_of(tmp_path, endpoint(fake_server.base_url)) as service:
            calls = calls_of(service)
            for text in ("12345678", "ANSWER=abcdefgh"):
                await calls.predict("lab", {"messages": [{"role": "user", "content": text}]})
            tokens = {"input_tokens": 2 + 4, "output_tokens": 1 + 2}
            known = {"calls": 2, "ledger_hits": hits, **tokens}
            assert calls.usage == {**known, "cost_usd": None}
            assert calls.finish_reason == "stop"
            totals = service.totals
            assert (totals.total, totals.from_ledger, totals.in_flight) == (2, hits, 0)
            assert (totals.input_tokens, totals.output_tokens) == (6, 3)

    asyncio.run(main(hits=0))
    asyncio.run(main(hits=2))


def test_a_reply_that_today_s_adapter_finds_malformed_is_asked_for_again(tmp_path: Path):
    def adapter(output: str) -> ModelAdapter:
        programs = {
            "process_input": {"language": "jinja", "source_code": "{{ input | tojson }}"},
            "process_output": {"language": "jinja", "source_code": output},
        }
        return ModelAdapter.model_validate({"key": "mine", "display_name": "Mine", **programs})

    def run(output: str) -> Any:
        async def main() -> Any:
            model = endpoint(wire.url, adapter={"key": "mine"})
            async with service_of(tmp_path, model, adapters={"mine": adapter(output)}) as service:
                return (await asked(service, "hi")).raw

        return asyncio.run(main())

    chosen = '{"choices": {{ (body | fromjson).choices | tojson }} }'
    with serving(response(200, {"choices": []}), chat("fine")) as wire:
        assert run('{"items": []}') == {"items": []}
        assert run(chosen)["choices"][0]["message"]["content"] == "fine"
        assert run(chosen)["choices"][0]["message"]["content"] == "fine"
        assert len(wire.requests) == 2


def test_a_ledger_that_fails_stops_the_call(tmp_path: Path, fake_server: RunningServer):
    async def main() -> None:
        async with service_of(tmp_path, endpoint(fake_server.base_url)) as service:
            service.ledger._db.execute("DROP TABLE reply")
            with pytest.raises(StoreError, match="the ledger can't be used"):
                await asked(service, "hi")
            assert service.totals.in_flight == 0

    asyncio.run(main())
    assert fake_server.stats()["requests"] == 0, "what can't be recorded is not asked for"


# stopping


def test_a_stop_lets_calls_in_flight_end_and_none_begin(tmp_path: Path, fake_server: RunningServer):
    fake_server.reset(latency_ms=200)
    model = endpoint(fake_server.base_url, max_concurrent_requests=2)

    async def main() -> list[Any]:
        async with service_of(tmp_path, model) as service:
            calls = [asked(service, "hi", sample_id=str(i)) for i in range(5)]
            ends = asyncio.gather(*calls, return_exceptions=True)
            while service.totals.in_flight < 2:
                await asyncio.sleep(0.01)
            service.stop()
            return await ends

    ends = asyncio.run(main())
    assert [type(end) for end in ends] == [ModelOutput] * 2 + [Stopped] * 3
    assert len(list(entries(tmp_path, "run-1"))) == 2, "what is paid for is kept"
    assert fake_server.stats()["requests"] == 2


@pytest.mark.parametrize("limit", [None, 1], ids=["before a retry", "for the rate limit"])
def test_a_stop_ends_the_waiting(tmp_path: Path, limit: int | None):
    reply = response(429, retry_after="200") if limit is None else chat("fine")
    with serving(reply) as wire:

        async def main() -> float:
            async with service_of(tmp_path, endpoint(wire.url, rate_limit=limit)) as service:
                calls = [asked(service, "hi", sample_id=str(i)) for i in range(2)]
                ends = asyncio.gather(*calls, return_exceptions=True)
                while not wire.requests or service.totals.in_flight:
                    await asyncio.sleep(0.01)
                service.stop()
                began = time.monotonic()
                assert Stopped in [type(end) for end in await ends]
                return time.monotonic() - began

        assert asyncio.run(main()) < 1


def test_a_model_input_that_is_no_chat_is_never_sent(tmp_path: Path):
    async def main() -> None:
        async with service_of(tmp_path, endpoint("http://127.0.0.1:9/v1")) as service:
            with pytest.raises(SampleError, match="the model input is \\['hi'], not an object"):
                await calls_of(service).predict("lab", ["hi"])

    asyncio.run(main())
    assert ledger_path(tmp_path).exists()


def test_texts_with_odd_characters_survive_the_way_there_and_back(tmp_path: Path):
    """BR-030."""
    odd = "yes\0no \x1b[2J\r\n half \ud800 \u2028 Zürich 😀"

    def echo(request: Request) -> bytes:
        text = loads(request.body)["messages"][0]["content"]
        return response(200, dump_bytes(chat_json(text)))

    with serving(echo) as wire:
        for _ in range(2):
            assert said(ask_once(tmp_path, endpoint(wire.url), odd)) == odd
    assert len(wire.requests) == 1


def test_the_time_allowed_is_no_part_of_what_a_reply_is_recorded_under(
    tmp_path: Path, fake_server: RunningServer
):
    """BR-074."""
    for timeout in (30, 60):
        ask_once(tmp_path, endpoint(fake_server.base_url, timeout=timeout))
    assert fake_server.stats()["requests"] == 1


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), "soon"])
def test_a_time_that_is_none_is_refused(timeout: Any):
    with pytest.raises(ValueError, match="timeout"):
        endpoint("http://127.0.0.1:9/v1", timeout=timeout)

"""The fake model server, against recorded replies, over real sockets, with the real client."""

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.fake_openai import Config, RunningServer, serve_in_process, serve_in_thread
from tests.fake_openai.__main__ import parse_arguments
from tests.fake_openai.app import FakeOpenAI
from tests.fake_openai.schemas import minimal_instance

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
GOLDEN = [
    json.loads(line)
    for line in (Path(__file__).parent / "fake_openai/golden.jsonl").read_text().splitlines()
]
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"type": "string"}},
            "required": ["a"],
        },
    },
}


@pytest.fixture
def server(fake_server: RunningServer) -> RunningServer:
    return fake_server


def call(server: RunningServer, method: str, path: str, body: Any = None) -> tuple[int, bytes, Any]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
    try:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, {"content-type": "application/json"})
        reply = connection.getresponse()
        return reply.status, reply.read(), reply.headers
    finally:
        connection.close()


def post(server: RunningServer, path: str, body: Any) -> Any:
    status, data, _ = call(server, "POST", path, body)
    assert status == 200, data
    return json.loads(data)


def chat(server: RunningServer, prompt: str, **fields: Any) -> Any:
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], **fields}
    return post(server, CHAT, body)["choices"][0]["message"]


def respond(server: RunningServer, prompt: Any, **fields: Any) -> Any:
    return post(server, RESPONSES, {"model": "m", "input": prompt, **fields})


def text_of(response: Any) -> str:
    return str(response["output"][0]["content"][0]["text"])


def chat_bytes(prompt: str) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": prompt}]}).encode()


@pytest.mark.parametrize("exchange", GOLDEN, ids=[exchange["id"] for exchange in GOLDEN])
def test_replies_are_the_recorded_ones_byte_for_byte(exchange: Any) -> None:
    app = FakeOpenAI(Config(**exchange["config"]))
    for recorded in exchange["replies"]:
        reply, delay = app.answer(
            exchange["method"].encode(), exchange["path"].encode(), exchange["body"].encode()
        )
        assert reply.payload.decode() == recorded["payload"]
        assert (reply.status, reply.then.name) == (recorded["status"], recorded["then"])
        assert delay == pytest.approx(recorded["delay_s"])


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        ("Which one? ANSWER=B", "B"),
        ("Which one?\nANSWER=forty two \n", "forty two"),
        ("ANSWER=A is not the end\nhello", "OK"),
        ('ANSWER=A ANSWER=50% "é" \\', '50% "é" \\'),
        ("hello", "OK"),
        ("JUDGE[x] ANSWER=B", "x"),
    ],
)
def test_reply_is_derived_from_the_prompt(server: RunningServer, prompt: str, reply: str) -> None:
    assert chat(server, prompt)["content"] == reply
    assert text_of(respond(server, prompt)) == reply
    parts = [{"role": "user", "content": [{"type": "input_text", "text": prompt}]}]
    assert text_of(respond(server, parts)) == reply


def test_judge_is_stable_and_balanced(server: RunningServer) -> None:
    verdicts = [chat(server, f"JUDGE {i}")["content"] for i in range(200)]
    assert set(verdicts) == {"correct", "incorrect"}
    assert 70 < verdicts.count("correct") < 130
    assert verdicts == [chat(server, f"JUDGE {i}")["content"] for i in range(200)]
    assert {chat(server, f"JUDGE[1|2|3] {i}")["content"] for i in range(50)} == {"1", "2", "3"}


def test_judge_may_stand_in_the_system_prompt(server: RunningServer) -> None:
    messages = [{"role": "system", "content": "JUDGE[yes]"}, {"role": "user", "content": "x"}]
    reply = post(server, CHAT, {"model": "m", "messages": messages})
    assert reply["choices"][0]["message"]["content"] == "yes"
    assert text_of(respond(server, "x", instructions="JUDGE[yes]")) == "yes"


def test_usage_counts_a_token_per_four_characters(server: RunningServer) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "12345678 ANSWER=ABCDE"}]}
    usage = post(server, CHAT, body)["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (6, 2, 8)
    usage = respond(server, "12345678 ANSWER=ABCDE")["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (6, 2, 8)


def test_tool_call_and_its_result(server: RunningServer) -> None:
    message = chat(server, "please CALL add and CALL unknown ANSWER=Z", tools=[TOOL])
    (made,) = message["tool_calls"]
    assert message["content"] is None
    assert made["function"]["name"] == "add"
    assert json.loads(made["function"]["arguments"]) == {"a": 3}
    messages = [
        {"role": "user", "content": "please CALL add ANSWER=Z"},
        message,
        {"role": "tool", "tool_call_id": made["id"], "content": "7"},
    ]
    reply = post(server, CHAT, {"model": "m", "tools": [TOOL], "messages": messages})
    assert reply["choices"][0]["message"]["content"] == "Z"
    assert reply["choices"][0]["finish_reason"] == "stop"


def test_tool_call_with_given_arguments_in_responses(server: RunningServer) -> None:
    tool = {"type": "function", **TOOL["function"]}
    prompt = 'CALL add {"a": 9, "b": "x"} ANSWER=Z'
    first = respond(server, prompt, tools=[tool])
    (made,) = first["output"]
    assert made["type"] == "function_call"
    assert json.loads(made["arguments"]) == {"a": 9, "b": "x"}
    result = {"type": "function_call_output", "call_id": made["call_id"], "output": "12"}
    items = [{"role": "user", "content": prompt}, made, result]
    assert text_of(respond(server, items, tools=[tool])) == "Z"


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        ({"type": "string"}, ""),
        ({"type": "string", "format": "date"}, "2024-01-01"),
        ({"type": "integer", "exclusiveMinimum": 4}, 5),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "number", "multipleOf": 2, "minimum": 3}, 4),
        ({"type": ["null", "string"]}, None),
        ({"const": 7}, 7),
        (
            {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"const": 1}}}]},
            {"a": 1},
        ),
        ({"type": "array", "prefixItems": [{"const": 1}], "minItems": 2}, [1, None]),
        (True, None),
    ],
)
def test_minimal_instance(schema: Any, instance: Any) -> None:
    assert minimal_instance(schema, None) == instance


def events(data: bytes) -> list[Any]:
    lines = [line[6:] for line in data.decode().splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_chat_stream(server: RunningServer) -> None:
    body = {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "ANSWER=one two  three"}],
    }
    status, data, headers = call(server, "POST", CHAT, body)
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    chunks = events(data)
    deltas = [c["choices"][0]["delta"].get("content") for c in chunks if c["choices"]]
    assert "".join(filter(None, deltas)) == "one two  three"
    assert chunks[-1]["usage"]["completion_tokens"] == 4
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


def test_responses_stream(server: RunningServer) -> None:
    body = {"model": "m", "stream": True, "input": "ANSWER=one two"}
    made = events(call(server, "POST", RESPONSES, body)[1])
    assert [e["sequence_number"] for e in made] == list(range(len(made)))
    assert made[0]["type"] == "response.created"
    deltas = [e["delta"] for e in made if e["type"] == "response.output_text.delta"]
    assert "".join(deltas) == "one two"
    assert made[-1]["type"] == "response.completed"
    assert text_of(made[-1]["response"]) == "one two"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nowhere", None, 404),
        ("GET", CHAT, None, 405),
        ("POST", "/stats", {}, 405),
        ("POST", CHAT, b"{", 400),
        ("POST", CHAT, b"[]", 400),
        ("POST", CHAT, {"messages": []}, 400),
        ("POST", CHAT, {"messages": ["x"]}, 400),
        ("POST", RESPONSES, {"model": "m"}, 400),
        ("POST", "/reset", {"no_such_field": 1}, 400),
        ("POST", "/reset", {"fault_rate": 2}, 400),
    ],
)
def test_wrong_requests(
    server: RunningServer, method: str, path: str, body: Any, status: int
) -> None:
    got, data, _ = call(server, method, path, body)
    assert got == status
    assert json.loads(data)["error"]["message"]


def test_stats_and_reset(server: RunningServer) -> None:
    before = time.time()
    for prompt in ("a", "a", "b"):
        chat(server, prompt)
    respond(server, "c")
    seen = server.stats()
    assert seen["requests"] == 4
    assert seen["paths"] == {CHAT: 3, RESPONSES: 1}
    assert seen["statuses"] == {"200": 4}
    assert (seen["distinct_requests"], seen["max_arrivals"]) == (3, 2)
    assert before - 1 < seen["first_request_at"] <= seen["last_request_at"] < time.time() + 1
    assert server.reset(seed=4)["requests"] == 4
    assert server.stats()["requests"] == 0


def raw(server: RunningServer, *sent: bytes, pause: float = 0.0) -> bytes:
    """Send pieces over one connection and return all that comes until it closes."""
    with socket.create_connection((server.host, server.port), timeout=10) as sock:
        for piece in sent:
            sock.sendall(piece)
            time.sleep(pause)
        received = b""
        while chunk := sock.recv(65536):
            received += chunk
        return received


def request_bytes(prompt: str, extra: str = "") -> bytes:
    body = chat_bytes(prompt)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def test_keep_alive_and_pipelining(server: RunningServer) -> None:
    last = request_bytes("ANSWER=3", "Connection: close\r\n")
    received = raw(server, request_bytes("ANSWER=1") + request_bytes("ANSWER=2") + last)
    assert received.count(b"HTTP/1.1 200 OK") == 3
    positions = [received.index(b'"content":"%d"' % i) for i in (1, 2, 3)]
    assert positions == sorted(positions)


def test_pipelined_requests_wait_for_their_turn(server: RunningServer) -> None:
    server.reset(latency_ms=30)
    began = time.monotonic()
    last = request_bytes("ANSWER=2", "Connection: close\r\n")
    received = raw(server, request_bytes("ANSWER=1") + last)
    assert received.index(b'"content":"1"') < received.index(b'"content":"2"')
    assert time.monotonic() - began >= 0.06


def test_request_in_small_pieces(server: RunningServer) -> None:
    whole = request_bytes("ANSWER=x", "Connection: close\r\n")
    parts = [whole[i : i + 16] for i in range(0, len(whole), 16)]
    assert b'"content":"x"' in raw(server, *parts, pause=0.001)


def test_chunked_request_body(server: RunningServer) -> None:
    body = chat_bytes("ANSWER=x")
    head = (
        f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    parts = [b"5;ext=1\r\n" + body[:5] + b"\r\n", b"%X\r\n" % len(body[5:]) + body[5:] + b"\r\n"]
    assert b'"content":"x"' in raw(server, head.encode(), *parts, b"0\r\n\r\n", pause=0.005)


def test_large_body(server: RunningServer) -> None:
    assert chat(server, "x" * 3_000_000 + " ANSWER=y")["content"] == "y"


@pytest.mark.parametrize(
    "start",
    [
        b"NONSENSE\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nx\r\n",
    ],
)
def test_nonsense_is_refused(server: RunningServer, start: bytes) -> None:
    assert raw(server, start).startswith(b"HTTP/1.1 400")


def test_latency_and_concurrency(server: RunningServer) -> None:
    server.reset(latency_ms=200)
    began = time.monotonic()
    threads = [threading.Thread(target=chat, args=(server, f"{i}")) for i in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.2 <= time.monotonic() - began < 1.5
    assert server.stats()["max_in_flight"] == 10


def test_lognormal_latency_is_deterministic() -> None:
    app = FakeOpenAI(Config(latency_ms=100, jitter=0.5))
    bodies = [chat_bytes(str(i)) for i in range(400)]
    delays = [app.answer(b"POST", CHAT.encode(), body)[1] for body in bodies]
    again = FakeOpenAI(Config(latency_ms=100, jitter=0.5))
    assert delays == [again.answer(b"POST", CHAT.encode(), body)[1] for body in bodies]
    assert 0.09 < sorted(delays)[200] < 0.11
    assert 0.13 < sorted(delays)[336] < 0.2  # one sigma: 0.1 * e**0.5


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_max_in_flight(server: RunningServer) -> None:
    server.reset(latency_ms=300, max_in_flight=1)
    thread = threading.Thread(target=chat, args=(server, "a"))
    thread.start()
    wait_until(lambda: server.stats()["requests"] == 1)
    assert call(server, "POST", CHAT, chat_bytes("b"))[0] == 429
    thread.join()


def test_max_per_second(server: RunningServer) -> None:
    server.reset(max_per_second=3)
    statuses = [call(server, "POST", CHAT, chat_bytes(str(i)))[0] for i in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    time.sleep(1.05)
    assert call(server, "POST", CHAT, chat_bytes("later"))[0] == 200


def fault_of(server: RunningServer, prompt: str) -> str:
    """What a request with this prompt ends in, seen from the client."""
    try:
        status, data, _ = call(server, "POST", CHAT, chat_bytes(prompt))
    except http.client.IncompleteRead:
        return "truncate"
    except (ConnectionResetError, http.client.RemoteDisconnected):
        return "reset"
    if status == 200 and json.loads(data)["choices"][0]["message"]["content"] is None:
        return "null"
    return str(status)


def test_faults_on_demand(server: RunningServer) -> None:
    for kind in ("429", "500", "reset", "truncate", "null"):
        assert fault_of(server, f"FAULT={kind}") == kind
    assert [fault_of(server, "FAULT=500*2") for _ in range(3)] == ["500", "500", "200"]
    assert fault_of(server, "FAULT=nonsense") == "400"
    assert server.stats()["faults"]["500"] == 3
    assert respond(server, "FAULT=null")["output"] == []


def test_hang_ends_with_the_client(server: RunningServer) -> None:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=0.2)
    connection.request("POST", CHAT, chat_bytes("FAULT=hang"))
    with pytest.raises(TimeoutError):
        connection.getresponse()
    assert server.stats()["in_flight"] == 1
    connection.close()
    wait_until(lambda: server.stats()["client_aborts"] == 1)
    assert server.stats()["in_flight"] == 0


def test_rate_limit_tells_when_to_come_back(server: RunningServer) -> None:
    server.reset(retry_after_s=1.5)
    status, data, headers = call(server, "POST", CHAT, chat_bytes("FAULT=429"))
    assert (status, headers["retry-after"], headers["retry-after-ms"]) == (429, "2", "1500")
    assert json.loads(data)["error"]["code"] == "rate_limit_exceeded"


def test_fault_rate_depends_on_seed_body_and_arrival_only() -> None:
    def outcomes(order: list[int], **changes: Any) -> dict[int, list[str]]:
        app = FakeOpenAI(Config(**{"fault_rate": 0.3, "seed": 5, **changes}))
        seen: dict[int, list[str]] = {}
        for i in order:
            reply, _ = app.answer(b"POST", CHAT.encode(), chat_bytes(str(i)))
            kind = "null" if b'"content":null' in reply.payload else reply.status
            seen.setdefault(i, []).append(kind)
        return seen

    forward = outcomes([*range(500), *range(500)])
    assert forward == outcomes([*range(499, -1, -1), *range(500)])
    assert forward != outcomes([*range(500), *range(500)], seed=6)
    flat = [kind for kinds in forward.values() for kind in kinds]
    assert 0.25 < sum(kind != "200" for kind in flat) / len(flat) < 0.35
    assert set(flat) == {"200", "429", "500", "reset", "truncate", "null", "hang"}
    only = outcomes([*range(500), *range(500)], faults="429:3,500", fault_attempts=1)
    firsts = [kinds[0] for kinds in only.values()]
    assert set(firsts) == {"200", "429", "500"}
    assert firsts.count("429") > 1.5 * firsts.count("500")
    assert all(kinds[1] == "200" for kinds in only.values())


def test_options() -> None:
    options, config = parse_arguments(["--port", "0", "--fault-rate", "0.5", "--faults", "429"])
    assert options.port == 0
    assert config == Config(fault_rate=0.5, faults="429")


@pytest.mark.parametrize(
    "wrong", [["--faults", "teapot"], ["--fault-rate", "2"], ["--latency-ms", "-1"]]
)
def test_wrong_options_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(wrong)
    assert "error:" in capsys.readouterr().err


def test_as_a_process() -> None:
    with serve_in_process(Config(models="a,b", latency_ms=1.5)) as running:
        assert chat(running, "ANSWER=B")["content"] == "B"
        assert fault_of(running, "FAULT=reset") == "reset"
        listed = json.loads(call(running, "GET", "/v1/models")[1])
        assert [m["id"] for m in listed["data"]] == ["a", "b"]


@pytest.mark.parametrize("loop", ["asyncio", "auto"])
def test_the_process_ends_when_told(loop: str) -> None:
    command = [sys.executable, "-m", "tests.fake_openai", "--port", "0", "--loop", loop]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening on http://127.0.0.1:")
        process.terminate()
        assert process.wait(timeout=10) == 0


def test_two_servers_at_a_time() -> None:
    with serve_in_thread(Config(models="a")) as one, serve_in_thread(Config(models="b")) as two:
        chat(one, "hello")
        assert (one.stats()["requests"], two.stats()["requests"]) == (1, 0)


def test_openai_client(server: RunningServer) -> None:
    with openai.OpenAI(base_url=server.base_url, api_key="x", max_retries=2) as client:
        messages: Any = [{"role": "user", "content": "ANSWER=B"}]
        done = client.chat.completions.create(model="m", messages=messages)
        assert done.choices[0].message.content == "B"
        streamed = client.chat.completions.create(model="m", messages=messages, stream=True)
        assert "".join(c.choices[0].delta.content or "" for c in streamed) == "B"
        response = client.responses.create(model="m", input="ANSWER=B")
        assert response.output_text == "B"
        with client.responses.stream(model="m", input="ANSWER=B C") as stream:
            assert stream.get_final_response().output_text == "B C"
        server.reset(retry_after_s=0.01)
        messages = [{"role": "user", "content": "FAULT=429*1 ANSWER=B"}]
        done = client.chat.completions.create(model="m", messages=messages)
        assert done.choices[0].message.content == "B"
        assert server.stats()["statuses"] == {"429": 1, "200": 1}
        with pytest.raises(openai.InternalServerError):
            client.with_options(max_retries=0).responses.create(model="m", input="FAULT=500")

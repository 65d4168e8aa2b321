"""Reply bodies of the Chat Completions API."""

import json
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring_ascii as quote
from typing import Final

from tests.fake_openai.config import CREATED, Json
from tests.fake_openai.replies import Answer
from tests.fake_openai.wire import pieces

# Templates, because a dict and json.dumps would take most of the server's time.
_BODY: Final = (
    '{"id":"chatcmpl-%s","object":"chat.completion","created":%d,"model":%s,"choices":[%s],'
    '"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,'
    '"prompt_tokens_details":{"cached_tokens":0},'
    '"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":"fp_fake"}'
)
_CHOICE: Final = (
    '{"index":%d,"message":{"role":"assistant","content":%s,"refusal":null%s},'
    '"logprobs":null,"finish_reason":"%s"}'
)


def chat_body(request: Mapping[str, Json], rid: str, answer: Answer) -> bytes:
    """The body of a Chat Completions reply."""
    text = "null" if answer.text is None else quote(answer.text)
    calls, finish = "", "stop"
    if answer.calls:
        calls = ',"tool_calls":' + json.dumps(_chat_calls(rid, answer.calls))
        finish = "tool_calls"
    count = request.get("n") or 1
    choices = ",".join([_CHOICE % (i, text, calls, finish) for i in range(count)])
    model = quote(str(request.get("model", "")))
    tokens = answer.tokens
    return (_BODY % (rid, CREATED, model, choices, *tokens, sum(tokens))).encode()


def chat_events(request: Mapping[str, Json], rid: str, answer: Answer) -> Iterator[bytes]:
    """The SSE events of a Chat Completions stream."""
    options = request.get("stream_options") or {}
    base = {
        "id": f"chatcmpl-{rid}",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": request.get("model", ""),
        "system_fingerprint": "fp_fake",
    }

    def event(choices: Json, usage: Json = None) -> bytes:
        chunk = {**base, "choices": choices}
        if options.get("include_usage"):
            chunk["usage"] = usage
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    def delta(content: Json, finish: str | None = None) -> bytes:
        return event([{"index": 0, "delta": content, "logprobs": None, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": None if answer.text is None else ""})
    for piece in pieces(answer.text or ""):
        yield delta({"content": piece})
    for i, call in enumerate(_chat_calls(rid, answer.calls)):
        yield delta({"tool_calls": [{"index": i, **call}]})
    yield delta({}, "tool_calls" if answer.calls else "stop")
    if options.get("include_usage"):
        usage = {
            "prompt_tokens": answer.tokens[0],
            "completion_tokens": answer.tokens[1],
            "total_tokens": sum(answer.tokens),
        }
        yield event([], usage)
    yield b"data: [DONE]\n\n"


def _chat_calls(rid: str, calls: list[tuple[str, str]]) -> list[Json]:
    return [
        {
            "id": f"call_{rid}_{i}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for i, (name, arguments) in enumerate(calls)
    ]

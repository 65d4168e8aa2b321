"""Replies that are not what they should be, made of those that are."""

import json
from collections.abc import Callable, Mapping
from typing import Final

from tests.fake_openai.config import Json
from tests.fake_openai.wire import Reply, error_body, http

_PAGE: Final = b"<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>"
_ERRORS: Final[Mapping[str, tuple[str, str]]] = {
    "400": ("The prompt was filtered", "content_filter"),
    "401": ("Incorrect API key provided", "invalid_api_key"),
    "402": ("Payment required", "payment_required"),
    "403": ("Project may not use this model", "permission_denied"),
    "404": ("The model does not exist", "model_not_found"),
    "503": ("The server is overloaded", "overloaded"),
}
_USED_UP: Final = "You exceeded your current quota"


def spoilt(kind: str, payload: bytes, responses_api: bool) -> Reply:
    """The reply that comes instead of `payload`, a whole HTTP response with JSON.

    Args:
        kind: one of `EXTRA_KINDS`.
        payload: what would have come.
        responses_api: whether it is of the Responses API.
    """
    if kind in _ERRORS:
        words, code = _ERRORS[kind]
        return Reply(http(int(kind), error_body(words, "injected", code)), kind)
    if kind == "quota":
        return Reply(http(429, error_body(_USED_UP, "injected", "insufficient_quota")), "429")
    return Reply(_spoilt(kind, payload.partition(b"\r\n\r\n")[2], responses_api), "200")


def _spoilt(kind: str, body: bytes, responses_api: bool) -> bytes:
    match kind:
        case "html":
            return _typed(b"text/html", _PAGE)
        case "error":
            return http(200, error_body("upstream failed", "injected"))
        case "half":
            return http(200, body[: len(body) // 2])
        case "plain":
            return _typed(b"text/plain", body)
        case "bom":
            return http(200, b"\xef\xbb\xbf" + body)
        case "gzip":
            return http(200, body, "content-encoding: gzip\r\n")
    data = json.loads(body)
    if kind == "nousage":
        del data["usage"]
    elif responses_api:
        _RESPONSES[kind](data)
    else:
        _CHAT[kind](data)
    text = json.dumps(data, ensure_ascii=False)
    return http(200, text.encode("latin-1" if kind == "latin1" else "utf-8"))


def _typed(content_type: bytes, body: bytes) -> bytes:
    return http(200, body).replace(b"application/json", content_type, 1)


def _chat(finish: str | None = None, **message: Json) -> Callable[[Json], None]:
    def change(data: Json) -> None:
        for choice in data["choices"]:
            choice["message"].update(message)
            choice["finish_reason"] = finish or choice["finish_reason"]

    return change


def _cut_text(data: Json) -> None:
    for choice in data["choices"]:
        text = choice["message"]["content"]
        choice["message"]["content"] = text[: len(text) // 2 + 1]
        choice["finish_reason"] = "length"


def _accented(data: Json) -> None:
    data["choices"][0]["message"]["content"] += " é"


_CALL: Final = {"name": "look_up", "arguments": '{"what": "it"}'}
_CHAT: Final[Mapping[str, Callable[[Json], None]]] = {
    "nochoices": lambda data: data.update(choices=[]),
    "empty": _chat(content=""),
    "latin1": _accented,
    "filter": _chat("content_filter", content=None),
    "length": _cut_text,
    "cut": _chat("length", content=None),
    "refusal": _chat(content=None, refusal="I can't help with that."),
    "thoughts": _chat(content=None, reasoning_content="Let me think."),
    "calls": _chat(
        "tool_calls",
        content=None,
        tool_calls=[{"id": "call_1", "type": "function", "function": _CALL}],
    ),
}


def _output(*items: Json, **more: Json) -> Callable[[Json], None]:
    return lambda data: data.update(output=[*items], **more)


def _said(part: Json, **more: Json) -> Json:
    shared = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    return {**shared, "content": [part], **more}


def _text(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _cut_output(data: Json) -> None:
    text = data["output"][0]["content"][0]["text"]
    data["output"][0]["content"][0]["text"] = text[: len(text) // 2 + 1]
    data.update(_CUT)


def _accented_output(data: Json) -> None:
    data["output"][0]["content"][0]["text"] += " é"


_CUT: Final = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
_FILTERED: Final = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
_THOUGHTS: Final = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Let me think."}],
}
_RESPONSES: Final[Mapping[str, Callable[[Json], None]]] = {
    "nochoices": lambda data: data.pop("output"),
    "empty": _output(_said(_text(""))),
    "latin1": _accented_output,
    "filter": _output(_said(_text("")), **_FILTERED),
    "length": _cut_output,
    "cut": _output(_THOUGHTS, **_CUT),
    "refusal": _output(_said({"type": "refusal", "refusal": "I can't help with that."})),
    "thoughts": _output(_THOUGHTS),
    "calls": _output({"id": "fc_1", "type": "function_call", "call_id": "call_1", **_CALL}),
}

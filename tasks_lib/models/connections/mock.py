"""`mock`: answers by rules written in YAML; needs no network and repeats itself exactly."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, NonNegativeFloat, PositiveInt, model_validator

from tasks_lib.base import Definition
from tasks_lib.jsontext import dump_bytes, dumps, loads
from tasks_lib.models.call_id import CallId
from tasks_lib.models.connections.base import BaseConnection, CallFailure, ModelInfo
from tasks_lib.models.connections.status import status_failure

_REFERENCE = re.compile(r"\\(?:([0-9])|g<(\w+)>)")
_CHARS_PER_TOKEN = 4


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"'{text}' is no regular expression: {error}") from None
    return text


class MockToolCall(Definition):
    """A call of a function that the model asks for."""

    name: str
    """Name of the function."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the call; sent as JSON text, as models do."""


class MockError(Definition):
    """An error status in place of a reply."""

    status: Annotated[int, Field(ge=400, le=599)]
    """HTTP status; 408, 409, 425, 429 and 5xx are tried again, as with a real endpoint."""
    message: str = "scripted error"
    """What the server says."""
    retry_after: NonNegativeFloat | None = None
    """Seconds the server asks to wait."""
    times: PositiveInt | None = None
    """Fail only the first attempts of a call, then reply; default: fail every one."""


class MockRule(Definition):
    r"""When to answer, and with what; a rule without conditions matches every request.

    Replies are literal text. With `matches`, `\1` to `\9`, `\0` (all that matched) and
    `\g<name>` stand for what the expression's groups found.
    """

    contains: str | None = None
    """Text that the last user message holds, case kept."""
    matches: Annotated[str, AfterValidator(_pattern)] | None = None
    """Regular expression found in the last user message."""
    anywhere: str | None = None
    """Text that some message of the request holds, whoever says it; case kept."""
    sample_id: str | None = None
    """The sample whose calls are meant; quote numbers."""
    reply: str | None = None
    """The reply's text."""
    replies: Annotated[list[str], Field(min_length=1)] | None = None
    """Texts to take turns: number `trial + earlier equal calls`, from the start again after
    the last."""
    tool_calls: list[MockToolCall] = Field(default_factory=list)
    """Functions the model asks to call."""
    refusal: str | None = None
    """Text of a refusal; the reply's own text is then usually left out."""
    finish_reason: str | None = None
    """Default `stop`, with tool calls `tool_calls`."""
    latency_s: NonNegativeFloat = 0.0
    """Seconds until the answer."""
    error: MockError | None = None
    """An error instead of a reply, or before it with `times`."""

    @model_validator(mode="after")
    def _says_what_to_answer(self) -> "MockRule":
        if self.reply is not None and self.replies is not None:
            raise ValueError("give either 'reply' or 'replies'")
        if self.reply is None and self.replies is None and not self.tool_calls:
            fails_always = self.error is not None and self.error.times is None
            if self.refusal is None and not fails_always:
                raise ValueError(
                    "says nothing to answer; add 'reply', 'replies', 'tool_calls', 'refusal' "
                    "or 'error'"
                )
        self._check_references()
        return self

    def _check_references(self) -> None:
        if self.matches is None:
            return
        pattern = re.compile(self.matches)
        for text in self.texts:
            for number, name in _REFERENCE.findall(text):
                if number and int(number) > pattern.groups:
                    raise ValueError(f"'\\{number}': 'matches' has {pattern.groups} groups")
                if name and name not in pattern.groupindex:
                    raise ValueError(f"'\\g<{name}>': 'matches' has no group of that name")

    @property
    def texts(self) -> list[str]:
        """The texts that take turns; a single one, maybe empty, without `replies`."""
        return self.replies if self.replies is not None else [self.reply or ""]


class MockConnection(BaseConnection):
    """A scripted model: the first rule that matches a request answers it."""

    connection_type: Literal["mock"]
    rules: tuple[MockRule, ...] = ()
    """Tried in order against each request."""
    default: str | None = None
    """Reply where no rule matches; without it such a request is an error."""

    def open(
        self, info: ModelInfo, path: str, concurrency: int, secrets: Mapping[str, str]
    ) -> "MockClient":
        return MockClient(self, info)


class MockClient:
    """Answers by the rules of `definition`."""

    def __init__(self, definition: MockConnection, info: ModelInfo) -> None:
        script = sha256(dump_bytes(definition.model_dump(mode="json"), sort_keys=True))
        self.endpoint = f"mock:{script.hexdigest()[:16]}"  # other rules are another model
        rules = definition.rules
        if definition.default is not None:
            rules = (*rules, MockRule(reply=definition.default))
        self._rules = tuple(_Answer(rule) for rule in rules)
        self._key = info.key

    async def send(self, body: bytes, call: CallId) -> bytes:
        last, texts = _prompt(body)
        for answer in self._rules:
            match = answer.match(last, texts, call.sample_id)
            if match is not None:
                break
        else:
            raise CallFailure(
                "data",
                f"no rule of mock model '{self._key}' matches this request; "
                "add a rule for it, or a 'default' reply",
            )
        if answer.latency:
            await asyncio.sleep(answer.latency)
        answer.fail(call)
        turn = call.trial + call.ordinal
        return answer.reply(match, turn, sum(map(len, texts)))

    async def close(self) -> None:
        return None


class _Answer:
    """A rule made ready: expression compiled, fixed parts of the reply already JSON."""

    def __init__(self, rule: MockRule) -> None:
        self.latency = rule.latency_s
        self._contains = rule.contains
        self._anywhere = rule.anywhere
        self._pattern = re.compile(rule.matches or "")
        self._expands = rule.matches is not None
        self._sample_id = rule.sample_id
        self._error = rule.error
        self._attempts: Counter[CallId] = Counter()
        self._texts = [
            (text, self._expands and bool(_REFERENCE.search(text))) for text in rule.texts
        ]
        message: dict[str, Any] = {"role": "assistant", "refusal": rule.refusal}
        if rule.tool_calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{number}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": dumps(call.arguments)},
                }
                for number, call in enumerate(rule.tool_calls)
            ]
        self._silent = rule.reply is None and rule.replies is None
        finish = rule.finish_reason or ("tool_calls" if rule.tool_calls else "stop")
        self._head = (
            b'{"object":"chat.completion","choices":[{"index":0,"finish_reason":'
            + dump_bytes(finish)
            + b',"message":'
            + dump_bytes(message)[:-1]
            + b',"content":'
        )

    def match(self, last: str, texts: list[str], sample_id: str) -> re.Match[str] | None:
        """Return what `matches` found (the empty match without it); None: not this rule."""
        if self._contains is not None and self._contains not in last:
            return None
        if self._anywhere is not None and not any(self._anywhere in text for text in texts):
            return None
        if self._sample_id is not None and self._sample_id != sample_id:
            return None
        return self._pattern.search(last)

    def fail(self, call: CallId) -> None:
        """Raise the scripted error, if this attempt has one."""
        error = self._error
        if error is None:
            return
        if error.times is not None:
            self._attempts[call] += 1
            if self._attempts[call] > error.times:
                return
        headers = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:g}"}
        raise status_failure(error.status, headers, dumps({"error": {"message": error.message}}))

    def reply(self, match: re.Match[str], turn: int, prompt_size: int) -> bytes:
        """Return the body of the reply."""
        text, expands = self._texts[turn % len(self._texts)]
        if expands:
            text = _REFERENCE.sub(lambda found: match[found[2] or int(found[1])] or "", text)
        sent, made = -(-prompt_size // _CHARS_PER_TOKEN), -(-len(text) // _CHARS_PER_TOKEN)
        return b'%b%b}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}' % (
            self._head,
            b"null" if self._silent else dump_bytes(text),
            sent,
            made,
            sent + made,
        )


def _prompt(body: bytes) -> tuple[str, list[str]]:
    """Return the text of the last user message, and the texts of all messages.

    A request that is no chat is matched as the text it is.
    """
    try:
        request = loads(body)
    except ValueError:  # a template adapter may send anything
        request = None
    messages = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(messages, list):
        text = body.decode("utf-8", "replace")
        return text, [text]
    texts, last = [], ""
    for message in messages:
        texts.append(_text(message.get("content")))
        if message.get("role") == "user":
            last = texts[-1]
    return last, texts


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""

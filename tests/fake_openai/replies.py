"""The reply rules: what a request is answered with, the same for both APIs."""

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.fake_openai.config import Config, Json, draw
from tests.fake_openai.schemas import minimal_instance

_JUDGE_LABELS: Final = re.compile(r"JUDGE\[([^\]]+)\]")
_CALL: Final = re.compile(r"\bCALL ([A-Za-z0-9_.-]+)")


@dataclass(slots=True)
class Prompt:
    """What the reply rules look at, the same for both APIs."""

    text: str
    """Text of all messages."""
    user: str
    """Text of the last user message."""
    answered: bool
    """A tool result follows the last user message."""


@dataclass(slots=True)
class Answer:
    """What the rules say: a text, or calls of tools, or neither (a null reply)."""

    text: str | None
    calls: list[tuple[str, str]]
    """Called tools as (name, arguments as JSON)."""
    tokens: tuple[int, int]
    """Tokens of the prompt and of the reply."""


def read_prompt(request: Mapping[str, Json], responses_api: bool) -> Prompt:
    """Collect the texts of a request.

    Raises:
        ValueError: the request has no messages.
    """
    texts: list[str] = []
    if responses_api:
        items = request.get("input")
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        instructions = request.get("instructions")
        if isinstance(instructions, str):
            texts.append(instructions)
    else:
        items = request.get("messages")
    if not isinstance(items, list) or not items:
        raise ValueError(f"'{'input' if responses_api else 'messages'}' must not be empty")
    user, answered = "", False
    for item in items:
        if not isinstance(item, dict):
            raise ValueError("each message must be an object")
        role = item.get("role")
        if role == "tool" or item.get("type") == "function_call_output":
            answered = True
            text = _content_text(item.get("content", item.get("output")))
        else:
            text = _content_text(item.get("content"))
        if role == "user":
            user, answered = text, False
        if text:
            texts.append(text)
    return Prompt(texts[0] if len(texts) == 1 else "\n".join(texts), user, answered)


def make_answer(
    request: Mapping[str, Json], prompt: Prompt, config: Config, responses_api: bool, null: bool
) -> Answer:
    """Apply the rules to a request; `null` makes an empty reply of it."""
    calls = _tool_calls(request, prompt) if "tools" in request and not null else []
    text: str | None = None
    if not calls and not null:
        hint = _hint(prompt, config)
        key = "text" if responses_api else "response_format"
        schema = _response_schema(request, responses_api) if key in request else None
        if schema is not None:
            text = json.dumps(minimal_instance(schema, hint))
        else:
            text = "OK" if hint is None else hint
    produced = text if text is not None else "".join(name + args for name, args in calls)
    return Answer(text, calls, (_count_tokens(prompt.text), _count_tokens(produced)))


def _count_tokens(text: str) -> int:
    return (len(text) + 3) // 4


def _content_text(content: Json) -> str:
    """The text of a message's content: a string or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def _hint(prompt: Prompt, config: Config) -> str | None:
    """The reply of rule 2 or 3, else None."""
    if "JUDGE" in prompt.text:
        share = draw(config.seed, b"judge", prompt.text.encode("utf-8", "replace"))
        match = _JUDGE_LABELS.search(prompt.text)
        if match is None:
            return "correct" if share < config.judge_rate else "incorrect"
        labels = match[1].split("|")
        return labels[int(share * len(labels))].strip()
    at = prompt.user.rfind("ANSWER=")
    if at >= 0:
        answer = prompt.user[at + 7 :].strip()
        if answer and "\n" not in answer:
            return answer
    return None


def _tool_functions(request: Mapping[str, Json]) -> dict[str, Json]:
    """Offered functions: name to parameter schema, in either API's form."""
    offered: dict[str, Json] = {}
    for tool in request.get("tools") or ():
        if isinstance(tool, dict) and tool.get("type") == "function":
            function = tool.get("function") or tool
            offered[str(function.get("name"))] = function.get("parameters") or {}
    return offered


def _tool_calls(request: Mapping[str, Json], prompt: Prompt) -> list[tuple[str, str]]:
    """Rule 1: calls as (name, arguments as JSON)."""
    offered = _tool_functions(request)
    choice = request.get("tool_choice")
    if not offered or choice == "none":
        return []
    calls = [] if prompt.answered else _asked_calls(prompt.user, offered)
    forced: str | None = None
    if isinstance(choice, dict):
        forced = (choice.get("function") or choice).get("name")
    elif choice == "required" and not calls:
        forced = next(iter(offered))
    if forced in offered:
        calls = [call for call in calls if call[0] == forced] or [
            (forced, json.dumps(minimal_instance(offered[forced], None)))
        ]
    return calls


def _asked_calls(user: str, offered: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The calls that a prompt asks for with `CALL <name> {json}`."""
    calls: list[tuple[str, str]] = []
    for match in _CALL.finditer(user):
        if match[1] not in offered:
            continue
        rest = user[match.end() :].lstrip(" ")
        arguments: Json = None
        if rest.startswith("{"):
            with contextlib.suppress(ValueError):
                arguments, _ = json.JSONDecoder().raw_decode(rest)
        if arguments is None:
            arguments = minimal_instance(offered[match[1]], None)
        calls.append((match[1], json.dumps(arguments)))
    return calls


def _response_schema(request: Mapping[str, Json], responses_api: bool) -> Json | None:
    """The JSON schema that the reply must follow, `{}`-like for json_object."""
    if responses_api:
        form = (request.get("text") or {}).get("format")
    else:
        form = request.get("response_format")
    if not isinstance(form, dict):
        return None
    if form.get("type") == "json_object":
        return {"type": "object"}
    if form.get("type") == "json_schema":
        return form.get("schema") if responses_api else form["json_schema"].get("schema")
    return None

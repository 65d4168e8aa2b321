"""Adapters: a model input becomes a request's body, a reply's body a model output."""

from collections.abc import Mapping
from typing import Any, Protocol

from tasks_lib.errors import SampleError, bounded
from tasks_lib.jsontext import dump_bytes, loads, storable
from tasks_lib.models.connections.base import ModelInfo
from tasks_lib.models.outputs import (
    ModelOutput,
    chat_output,
    read_json,
    reject_error,
    responses_output,
)
from tasks_lib.models.usage import usage_counts
from tasks_lib.templates import Template


class Adapter(Protocol):
    """Shapes the traffic with one kind of endpoint."""

    @property
    def path(self) -> str:
        """What is appended to a base URL to reach the API; empty when there is none."""

    def request(self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]) -> bytes:
        """Return the body to send; a key of the input wins over the model's parameters."""

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        """Return the model output of a reply.

        Raises:
            CallFailure: the reply is malformed.
        """


class OpenAIChat:
    """`latticeflow$openai_chat_completion`: OpenAI's Chat Completions."""

    path = "/chat/completions"

    def request(self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]) -> bytes:
        model = {"model": info.model_key} if info.model_key else {}
        return dump_bytes({**model, **parameters, **_mapping(model_input)})

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        return chat_output(read_json(body))


class OpenAIResponses:
    """`latticeflow$openai_responses`: OpenAI's Responses, the Open Responses form."""

    path = "/responses"

    def request(self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]) -> bytes:
        body = {**parameters, **_mapping(model_input)}
        if info.model_key:
            body = {"model": info.model_key, **body}
        if "messages" in body:
            body["input"] = body.pop("messages")
        for name in ("max_tokens", "max_completion_tokens"):
            if name in body:
                body["max_output_tokens"] = body.pop(name)
        form = body.pop("response_format", None)
        if form is not None:
            body["text"] = {**body.get("text", {}), "format": _flat_format(form)}
        return dump_bytes(body)

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        return responses_output(read_json(body))


class Identity:
    """`latticeflow$identity`: the model input is the body, the body the model output."""

    path = ""

    def request(self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]) -> bytes:
        if isinstance(model_input, dict):
            return dump_bytes({**parameters, **model_input})
        return dump_bytes(model_input)

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        return recognised(read_json(body))


class TemplateAdapter:
    """A user's adapter: two Jinja templates.

    Args:
        process_input: renders the request's body from `input` and `model_info`.
        process_output: renders a model output, as JSON, from `body` and `model_info`.
    """

    path = ""

    def __init__(self, process_input: Template, process_output: Template) -> None:
        self._input = process_input
        self._output = process_output

    def request(self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]) -> bytes:
        if isinstance(model_input, dict):
            model_input = {**parameters, **model_input}
        text = self._input.render(
            input=model_input, model_input=model_input, model_info=_info(info)
        )
        return storable(text).encode()

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        text = self._output.render(body=body.decode("utf-8", "replace"), model_info=_info(info))
        try:
            return recognised(loads(text))
        except ValueError as error:
            raise SampleError(
                "template",
                f"the rendered model output is no JSON: {error}",
                where=self._output.name,
                fix="put text in with {{ x | tojson }}",
            ) from None


BUILT_IN: dict[str, Adapter] = {
    "latticeflow$identity": Identity(),
    "latticeflow$identity_custom": Identity(),
    "latticeflow$openai_chat_completion": OpenAIChat(),
    "latticeflow$openai_responses": OpenAIResponses(),
}
"""Adapters that need no declaration, by key."""


def recognised(value: Any) -> ModelOutput:
    """Return JSON as the model output its shape says it is; anything else stays opaque.

    Raises:
        CallFailure: a chat shape that is malformed.
    """
    reject_error(value)
    if isinstance(value, dict):
        if "choices" in value:
            return chat_output(value)
        if "output" in value and value.get("object") == "response":
            return responses_output(value)
    return ModelOutput(value, None, *usage_counts(value))


def _flat_format(form: Any) -> dict[str, Any]:
    """A `response_format` as the Responses API has it: the schema beside its type."""
    schema = form.get("json_schema") if isinstance(form, dict) else None
    if not isinstance(form, dict) or "type" not in form or not isinstance(schema, dict | None):
        raise SampleError(
            "data",
            f"'response_format' is {bounded(repr(form), 80)}",
            fix="make it {type: text}, or {type: json_schema, json_schema: {…}}",
        )
    return {"type": form["type"], **(schema or {})}


def _mapping(model_input: Any) -> dict[str, Any]:
    if not isinstance(model_input, dict):
        raise SampleError(
            "data",
            f"the model input is {bounded(repr(model_input), 80)}, not an object with 'messages'",
            fix="make it one, or give the model the adapter 'latticeflow$identity'",
        )
    return model_input


def _info(info: ModelInfo) -> dict[str, str]:
    return {"model_key": info.model_key, "task": info.task, "modality": info.modality}

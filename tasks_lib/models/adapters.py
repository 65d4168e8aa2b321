"""Adapters: a model input becomes a request's body, a reply's body a model output."""

from collections.abc import Mapping
from typing import Any, Protocol

from tasks_lib.errors import SampleError
from tasks_lib.jsontext import dump_bytes, loads
from tasks_lib.models.connections.base import CallFailure, ModelInfo
from tasks_lib.models.outputs import (
    ModelOutput,
    chat_output,
    read_json,
    reject_error,
    responses_output,
)
from tasks_lib.templates import Template


class Adapter(Protocol):
    """Shapes the traffic with one kind of endpoint."""

    @property
    def path(self) -> str:
        """What is appended to a base URL to reach the API; empty when there is none."""

    def request(
        self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]
    ) -> bytes:
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
        if "max_tokens" in body:
            body["max_output_tokens"] = body.pop("max_tokens")
        form = body.pop("response_format", None)
        if form is not None:
            flat = {"type": form["type"], **form.get("json_schema", {})}
            body["text"] = {**body.get("text", {}), "format": flat}
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
        return text.encode("utf-8", "surrogatepass")

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        text = self._output.render(
            body=body.decode("utf-8", "replace"), model_info=_info(info)
        )
        try:
            return recognised(loads(text))
        except ValueError as error:
            raise SampleError(
                "template", f"the adapter's output is no JSON: {error}"
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
        usage = value.get("usage")
        if isinstance(usage, dict):
            sent, made = usage.get("num_prompt_tokens"), usage.get("num_completion_tokens")
            return ModelOutput(value, None, sent or 0, made or 0)
    return ModelOutput(value)


def _mapping(model_input: Any) -> dict[str, Any]:
    if not isinstance(model_input, dict):
        raise CallFailure(
            "data",
            f"a chat model takes an object with 'messages', not {type(model_input).__name__}",
        )
    return model_input


def _info(info: ModelInfo) -> dict[str, str]:
    return {"model_key": info.model_key, "task": info.task, "modality": info.modality}

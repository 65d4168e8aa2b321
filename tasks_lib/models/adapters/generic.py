"""Adapters of endpoints with an API of their own: JSON as it is, or through templates."""

from collections.abc import Mapping
from typing import Any

from tasks_lib.errors import SampleError
from tasks_lib.jsontext import dump_bytes, loads, storable
from tasks_lib.models.adapters.openai_chat import chat_output
from tasks_lib.models.adapters.openai_responses import responses_output
from tasks_lib.models.connections.base import ModelInfo
from tasks_lib.models.outputs import ModelOutput, read_json, reject_error
from tasks_lib.models.usage import usage_counts
from tasks_lib.templates import Template


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


def _info(info: ModelInfo) -> dict[str, str]:
    return {"model_key": info.model_key, "task": info.task, "modality": info.modality}

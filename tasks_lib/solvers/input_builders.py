"""How a single-turn solver makes the model's input of a sample."""

from typing import Annotated, Any, Literal

from pydantic import Field

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.jsontext import loads
from tasks_lib.templates import TemplateSource, compile_template

Role = Literal["system", "user", "assistant"]


class InputMessage(Definition):
    """One message of the input."""

    role: Role
    """Who says it."""
    content: TemplateSource
    """Template of the text; it may use `sample`."""


class ChatCompletionBuilder(Definition):
    """A list of messages, sent in order."""

    type: Literal["chat_completion"]
    input_messages: Annotated[tuple[InputMessage, ...], Field(min_length=1)]
    """The messages; at least one."""

    def build(self, sample: dict[str, Any]) -> dict[str, Any]:
        """Return the chat input for a sample.

        Raises:
            SampleError: a message can't be rendered.
        """
        return {
            "messages": [
                {
                    "role": message.role,
                    "content": compile_template(
                        message.content, f"input_messages.{i}.content"
                    ).render(sample=sample),
                }
                for i, message in enumerate(self.input_messages)
            ]
        }


class GenericBuilder(Definition):
    """One template of the whole model input as JSON."""

    type: Literal["generic"]
    template: TemplateSource
    """Template of JSON text; put values in with `{{ sample.x | tojson }}`."""

    def build(self, sample: dict[str, Any]) -> Any:
        """Return the model input for a sample; any JSON value.

        Raises:
            SampleError: the template can't be rendered or its text is no JSON.
        """
        text = compile_template(self.template, "input_builder.template").render(sample=sample)
        try:
            return loads(text)
        except ValueError as error:
            raise SampleError(
                "template",
                f"the rendered model input is no JSON: {error}",
                where="input_builder.template",
                fix="put text in with {{ sample.x | tojson }}",
            ) from None


InputBuilder = Annotated[ChatCompletionBuilder | GenericBuilder, Field(discriminator="type")]

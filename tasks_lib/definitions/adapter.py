"""The model adapter: how a model's requests are written and its replies read."""

from typing import Annotated, Any, Literal

from pydantic import Field

from tasks_lib.base import Definition
from tasks_lib.definitions.keys import DisplayName, ReferencedKey
from tasks_lib.templates import TemplateSource


class AdapterProgram(Definition):
    """A template that turns one JSON text into another."""

    language: Literal["jinja"]
    """Language of the source code."""
    source_code: TemplateSource
    """The template."""


class ModelAdapter(Definition):
    """How the body of a request is made of a model input, and a model output of its reply."""

    key: ReferencedKey
    """Name that connections use for the adapter."""
    display_name: DisplayName
    """Name shown to people."""
    description: str | None = None
    """What the adapter is for, in a sentence."""
    long_description: str | None = None
    """What the adapter is for, in Markdown."""
    task: Annotated[Any, Field(json_schema_extra={"deprecated": True})] = None
    """Ignored: an adapter serves models of any task."""
    provider: Literal["user", "latticeflow"] = "user"
    """Who made the adapter."""
    process_input: AdapterProgram
    """From `input` and `model_info` to the text of the request's body."""
    process_output: AdapterProgram
    """From `body`, the reply's text, and `model_info` to the JSON text of a model output."""

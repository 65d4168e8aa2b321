"""The parts a message's content is made of."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tasks_lib.trace.fields import Choice, Constant, Field, Json, maybe, string
from tasks_lib.trace.nested import NestedList, RecordList, Tagged, maybe_list, nested_list
from tasks_lib.trace.record import OpenRecord

TEXT_KEYS = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "summary_text": "text",
    "reasoning_text": "text",
    "refusal": "refusal",
}
"""Type of every part that has text, and the key its text is under."""


def content_text(content: list[dict[str, Any]]) -> str:
    """Return the text of plain content parts, joined by newlines; images and files have none."""
    keys = TEXT_KEYS
    if len(content) == 1:
        part = content[0]
        key = keys.get(part["type"])
        return part[key] if key else ""
    return "\n".join([part[keys[part["type"]]] for part in content if part["type"] in keys])


def is_thought(item: Mapping[str, Any]) -> bool:
    """Return whether a plain trace item is a model's reasoning and nothing it said."""
    return item["type"] == "message" and _are_thoughts(item["content"])


def is_said(item: Mapping[str, Any]) -> bool:
    """Return whether a plain trace item is something a model said, not only thought."""
    return (
        item["type"] == "message"
        and item["role"] == "assistant"
        and not _are_thoughts(item["content"])
    )


def _are_thoughts(content: list[dict[str, Any]]) -> bool:
    if not content or content[0]["type"] != "reasoning_text":
        return False  # as of nearly every message
    return all(part["type"] == "reasoning_text" for part in content)


class ImageDetail(StrEnum):
    """How closely a model is to look at an image."""

    low = "low"
    high = "high"
    auto = "auto"


class Logprob(OpenRecord):
    """One generated token, its log probability and the runners-up."""

    token = string()
    logprob: Field[float] = Json()
    bytes = Json(default=list)
    top_logprobs = Json(default=list)


class UrlCitation(OpenRecord):
    """A stretch of text backed by a web page."""

    type = Constant("url_citation")
    url = string()
    start_index: Field[int] = Json()
    end_index: Field[int] = Json()
    title = string()


class TextCitation(OpenRecord):
    """A stretch of text backed by a quotation."""

    type = Constant("text_citation")
    content = Json()


Annotation = UrlCitation | TextCitation
_ANNOTATION: Tagged[Annotation] = Tagged(
    Annotation, telling={"url": "url_citation", "content": "text_citation"}
)


class InputTextContent(OpenRecord):
    """Text given to a model."""

    type = Constant("input_text")
    text = string()


class TextContent(OpenRecord):
    """Text of no particular direction."""

    type = Constant("text", always_set=True)
    text = string()


class SummaryTextContent(OpenRecord):
    """A model's summary of its reasoning."""

    type = Constant("summary_text", always_set=True)
    text = string()


class ReasoningTextContent(OpenRecord):
    """A model's reasoning in full."""

    type = Constant("reasoning_text", always_set=True)
    text = string()


class OutputTextContent(OpenRecord):
    """Text written by a model."""

    type = Constant("output_text")
    text = string()
    annotations = nested_list(_ANNOTATION, default=list)
    logprobs = maybe_list(Logprob)


class RefusalContent(OpenRecord):
    """A model's refusal, in its words."""

    type = Constant("refusal")
    refusal = string()


class InputImageContent(OpenRecord):
    """An image given to a model."""

    type = Constant("input_image")
    image_url = maybe(str)
    detail = Choice(ImageDetail)


class InputFileContent(OpenRecord):
    """A file given to a model."""

    type = Constant("input_file")
    filename = maybe(str)
    file_url = maybe(str)


class InputVideoContent(OpenRecord):
    """A video given to a model."""

    type = Constant("input_video")
    video_url = string()


ContentPart = (
    InputTextContent
    | OutputTextContent
    | TextContent
    | SummaryTextContent
    | ReasoningTextContent
    | RefusalContent
    | InputImageContent
    | InputFileContent
    | InputVideoContent
)
CONTENT_PART: Tagged[ContentPart] = Tagged(
    ContentPart,
    telling={
        "annotations": "output_text",
        "logprobs": "output_text",
        "text": "input_text",
        "refusal": "refusal",
        "detail": "input_image",
        "filename": "input_file",
        "file_url": "input_file",
        "video_url": "input_video",
    },
)
FUNCTION_OUTPUT_PART: Tagged[ContentPart] = Tagged(
    InputTextContent | InputImageContent | InputFileContent, telling=CONTENT_PART.telling
)


class ContentList(RecordList[ContentPart]):
    """A message's parts: a list whose `str()` is the text and where `in` finds text.

    Upstream this is an ordinary list; prompts that print it and scorers that look for text
    in it are common, and mean the text.
    """

    def __str__(self) -> str:
        return content_text(self._raw)

    def __contains__(self, value: object) -> bool:
        return value in str(self) if isinstance(value, str) else super().__contains__(value)


class Content(NestedList):
    """The content parts of a message."""

    list_type = ContentList

    def __init__(self) -> None:
        super().__init__(CONTENT_PART)

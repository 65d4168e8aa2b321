import pytest

from tasks_lib.trace.content import (
    InputFileContent,
    InputImageContent,
    InputTextContent,
    OutputTextContent,
    ReasoningTextContent,
    RefusalContent,
    UrlCitation,
    content_text,
)
from tasks_lib.trace.items import Message

TEXTS = [
    pytest.param([], "", id="no part gives empty text"),
    pytest.param([{"type": "input_text", "text": "a"}], "a", id="one part is its text"),
    pytest.param(
        [
            {"type": "refusal", "refusal": "R"},
            {"type": "output_text", "text": "T"},
            {"type": "output_text", "text": ""},
        ],
        "R\nT\n",
        id="an empty part gives an empty line",
    ),
    pytest.param(
        [
            {"type": "reasoning_text", "text": "r"},
            {"type": "summary_text", "text": "s"},
            {"type": "text", "text": "t"},
        ],
        "r\ns\nt",
        id="every kind of text counts, in order",
    ),
    pytest.param(
        [
            {"type": "input_image", "image_url": "u", "detail": "auto"},
            {"type": "input_text", "text": "a"},
            {"type": "input_file", "filename": "f"},
            {"type": "input_video", "video_url": "v"},
        ],
        "a",
        id="images, files and videos have no text",
    ),
    pytest.param([{"type": "input_file"}], "", id="a file alone has no text"),
    pytest.param([{"type": "refusal", "refusal": "no"}], "no", id="a refusal alone is its text"),
]


@pytest.mark.parametrize(("content", "text"), TEXTS)
def test_text_of_content(content, text):
    assert content_text(content) == text
    message = Message(id="", status="completed", role="user", content=content)
    assert message.text == str(message.content) == f"{message.content}" == text


def test_content_is_a_list_in_which_text_can_be_looked_for():
    part = InputTextContent(text="Ada Lovelace")
    content = Message(id="", status="completed", role="user", content=[part]).content
    assert isinstance(content, list)
    assert "Ada" in content
    assert "Grace" not in content
    assert part in content
    assert content == [part]
    assert content[:1] == [part]


def test_parts_have_the_defaults_of_the_format():
    part = OutputTextContent(text="x")
    assert (part.type, part.annotations, part.logprobs) == ("output_text", [], None)
    file = InputFileContent()
    assert (file.filename, file.file_url) == (None, None)
    assert InputImageContent(detail="low").image_url is None
    assert ReasoningTextContent(text="r").type == "reasoning_text"
    assert RefusalContent(refusal="n").model_dump() == {"refusal": "n"}


def test_an_image_says_its_detail():
    with pytest.raises(ValueError, match="missing detail"):
        InputImageContent(image_url="u")


def test_annotations_and_logprobs_are_typed():
    citation = UrlCitation(url="u", start_index=0, end_index=1, title="t")
    logprob = {"token": "x", "logprob": -0.5, "bytes": [120], "top_logprobs": []}
    part = OutputTextContent(text="x", annotations=[citation], logprobs=[logprob])
    assert part.annotations[0].url == "u"
    assert part.logprobs[0].logprob == -0.5
    with pytest.raises(ValueError, match="'footnote' is none of url_citation, text_citation"):
        OutputTextContent(text="x", annotations=[{"type": "footnote"}])

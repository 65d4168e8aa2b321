import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.scorers import function_outputs
from tasks_lib.scorers.function_call_output_contains import FunctionCallOutputContains
from tasks_lib.scorers.function_call_output_not_contains import FunctionCallOutputNotContains
from tests.items import call
from tests.scorers.calls import answered, talked
from tests.scorers.rows import row

PARTS = [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]
BOTH = (FunctionCallOutputContains, FunctionCallOutputNotContains)


@pytest.mark.parametrize(
    ("conversation", "matching"),
    [
        (talked(*answered("read", "page 12")), ["page 12"]),
        (talked(*answered("read", "Page 12")), []),
        (talked(*answered("write", "page 12")), []),
        (talked(*answered("read", "nothing"), *answered("read", "page 3", "d")), ["page 3"]),
        (
            talked(*answered("read", "page 1"), *answered("read", "page 2", "d")),
            ["page 1", "page 2"],
        ),
        (talked(call("read")), []),
        (talked(), []),
        (talked(before=tuple(answered("read", "page 1"))), []),
        (talked(*answered("read", [{"type": "input_text", "text": "page 9"}])), ["page 9"]),
        (talked(answered("read", "page 1")[1]), []),
    ],
    ids=[
        "found anywhere in it",
        "case counts",
        "another function",
        "in one of several",
        "in several",
        "a call that was not answered",
        "never called",
        "before the first user message",
        "an output of parts",
        "an output without a call",
    ],
)
def test_outputs_that_match(conversation, matching):
    for kind, right in zip(BOTH, (bool(matching), not matching), strict=True):
        score = kind(function_name="read", pattern=r"page \d+").score(row(conversation))
        assert score.values == {"is_correct": right}
        assert score.metadata == {"function_call_name": "read", "matching_outputs": matching}


def test_name_and_pattern_are_templates():
    scorer = FunctionCallOutputContains(
        function_name="{{ sample.tool }}", pattern="^{{ sample.target }}$"
    )
    score = scorer.score(row(talked(*answered("read", "Paris")), tool="read"))
    assert score.values == {"is_correct": True}


def test_parts_are_lines_of_one_text():
    scorer = FunctionCallOutputContains(function_name="read", pattern="^one\ntwo$")
    assert scorer.score(row(talked(*answered("read", PARTS)))).values == {"is_correct": True}


@pytest.mark.parametrize("kind", BOTH)
def test_a_pattern_that_is_none_is_refused_when_loaded_or_fails_the_row(kind):
    with pytest.raises(ValidationError, match=r"'\(' is no regular expression"):
        kind(function_name="read", pattern="(")
    scorer = kind(function_name="read", pattern="{{ sample.target }}(")
    with pytest.raises(SampleError, match=r"'Paris\(' is no regular expression") as caught:
        scorer.score(row(talked(*answered("read", "x"))))
    assert caught.value.error_class == "template"


@pytest.mark.parametrize("pattern", ["<< config.pattern >>", "a{2,3}", "{{ sample.x }}["])
def test_a_pattern_that_is_not_complete_yet_is_taken(pattern):
    assert FunctionCallOutputContains(function_name="f", pattern=pattern).pattern == pattern


def test_a_pattern_that_backtracks_without_end_fails_its_row(monkeypatch):
    monkeypatch.setattr(function_outputs, "SEARCH_SECONDS", 0.05)
    scorer = FunctionCallOutputContains(function_name="read", pattern="(a|a|b)+(a|a|b)+$")
    with pytest.raises(SampleError, match="an output of 401 characters took more than") as caught:
        scorer.score(row(talked(*answered("read", "a" * 400 + "!"))))
    assert caught.value.error_class == "data"


@pytest.mark.parametrize("kind", BOTH)
def test_without_a_solver_the_row_is_an_error_naming_the_format(kind):
    with pytest.raises(SampleError, match="open_responses"):
        kind(function_name="read", pattern="x").score(row())

import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.scorers.function_calls import (
    Call,
    FunctionCalls,
    ListedCall,
    listed_calls,
    made_calls,
    trace_of,
)
from tasks_lib.scorers.score import Row
from tasks_lib.trace import SolverTrace, Trace, message_item
from tasks_lib.trace.grouped import joined, regrouped
from tasks_lib.trace.legacy import to_legacy
from tests.items import call
from tests.scorers.calls import talked
from tests.scorers.rows import row

SEARCH = {"name": "search", "arguments": {"query": "x"}}


def listed(written, **sample) -> list[Call]:
    calls = TypeAdapter[FunctionCalls](FunctionCalls).validate_python(written)
    return listed_calls(calls, row(**sample))


@pytest.mark.parametrize(
    ("written", "column"),
    [
        ("{{ sample.calls }}", ["open", SEARCH]),
        ("{{ sample.calls | tojson }}", ["open", SEARCH]),
        ("{{ sample.calls }}", '["open", {"name": "search", "arguments": {"query": "x"}}]'),
        ('["open", {"name": "search", "arguments": {"query": "x"}}]', None),
        ("['open', {'name': 'search', 'arguments': {'query': 'x'}}]", None),
        (' ["open", {"name": "search", "arguments": {"query": "{{ sample.q }}"}}]\n', None),
        (["open", SEARCH], None),
        (["open", {"name": "search", "arguments": {"query": "{{ sample.q }}"}}], None),
    ],
    ids=[
        "a list column, which renders as Python",
        "as JSON",
        "a column of JSON text",
        "JSON",
        "Python",
        "JSON with a template in it",
        "a YAML list",
        "a YAML list with templates in it",
    ],
)
def test_the_listed_calls(written, column):
    assert listed(written, calls=column, q="x") == [Call("open"), Call("search", {"query": "x"})]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"name": "a"}, Call("a", None)),
        ({"name": "a", "arguments": None}, Call("a", None)),
        ({"name": "a", "arguments": {}}, Call("a", {})),
        ({"name": "a", "status": "completed", "id": 7}, Call("a", None)),
    ],
    ids=["a name", "null arguments", "empty arguments", "other keys are ignored"],
)
def test_an_object_needs_a_name_alone(entry, expected):
    assert listed("{{ sample.calls }}", calls=[entry]) == [expected]


@pytest.mark.parametrize(
    "calls",
    [
        "search",
        "a, b",
        "{}",
        5,
        None,
        {"name": "a"},
        [5],
        [None],
        [["a"]],
        [{"arguments": {}}],
        [{"name": 5}],
        [{"name": "a", "arguments": "{}"}],
        [{"name": "a", "arguments": [1]}],
    ],
)
def test_what_is_no_list_of_calls_is_an_error_of_the_row(calls):
    with pytest.raises(SampleError, match="'function_calls'") as caught:
        listed("{{ sample.calls }}", calls=calls)
    assert caught.value.error_class == "data"
    assert '{"name": "search"' in caught.value.fix


def test_sample_values_in_a_list_keep_their_quotes_to_themselves():
    calls = listed([{"name": "say", "arguments": {"text": ["{{ sample.said }}"]}}], said='"hi"\\')
    assert calls == [Call("say", {"text": ['"hi"\\']})]


@pytest.mark.parametrize(
    "written", [["{{ a"], [{"name": "{{ a"}], [{"name": "a", "arguments": {"x": ["{{ a"]}}]]
)
def test_bad_template_syntax_in_a_list_is_refused_when_loaded(written):
    with pytest.raises(ValidationError, match="template line 1"):
        listed(written)


def test_placeholders_may_stand_in_a_list():
    written = ["<< config.name >>", {"name": "a", "arguments": {"x": "<< config.x >>"}}]
    plain, call = TypeAdapter[FunctionCalls](FunctionCalls).validate_python(written)
    assert (plain, call.arguments) == ("<< config.name >>", {"x": "<< config.x >>"})


@pytest.mark.parametrize(
    "written", [{"name": "a"}, 5, [5], [{"name": "a", "args": {}}], [{"arguments": {}}]]
)
def test_a_yaml_list_of_anything_else_is_refused_when_loaded(written):
    with pytest.raises(ValidationError):
        listed(written)


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("{{ a", ("text",)),
        (["a", "{{ a"], ("list", 1, "text")),
        ([{"name": "a", "arguments": 5}], ("list", 0, "call", "arguments")),
    ],
    ids=["a template", "a name in a list", "a call in a list"],
)
def test_one_mistake_is_one_complaint_about_the_form_that_is_written(written, place):
    with pytest.raises(ValidationError) as caught:
        listed(written)
    assert [error["loc"] for error in caught.value.errors()] == [place]


def test_equal_listed_calls_hash_alike():
    one = ListedCall(name="a", arguments={"x": 1.0, "y": [2]})
    other = ListedCall(name="a", arguments={"y": [2], "x": 1})
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    ("arguments", "decoded"),
    [
        ('{"x": 1}', {"x": 1}),
        ("{}", {}),
        ("", None),
        ("{x: 1}", None),
        ("[1]", None),
        ("null", None),
        ('"x"', None),
        ('{"id": 12345678901234567890123}', {"id": 12345678901234567890123}),
    ],
    ids=["object", "empty object", "empty", "no JSON", "list", "null", "text", "a long integer"],
)
def test_the_arguments_of_a_made_call(arguments, decoded):
    assert made_calls(row(talked(call("a", arguments)))) == [Call("a", decoded)]


def test_calls_before_the_first_user_message_do_not_count():
    conversation = talked(call("b"), message_item("user", "More."), call("c"), before=(call("a"),))
    assert [made.name for made in made_calls(row(conversation))] == ["b", "c"]


def test_the_status_of_a_call_does_not_matter():
    assert made_calls(row(talked({**call("a"), "status": "incomplete"}))) == [Call("a", {})]


@pytest.mark.parametrize(
    ("wanted", "made", "met"),
    [
        (Call("a"), Call("a", {"x": 1}), True),
        (Call("a"), Call("a", None), True),
        (Call("a"), Call("A", {}), False),
        (Call("a", {"x": 1}), Call("a", {"x": 1.0}), True),
        (Call("a", {"x": 1}), Call("a", {"x": "1"}), False),
        (Call("a", {"x": 1}), Call("a", {"x": 1, "y": 2}), False),
        (
            Call("a", {"x": 1, "y": {"p": 1, "q": 2}}),
            Call("a", {"y": {"q": 2, "p": 1}, "x": 1}),
            True,
        ),
        (Call("a", {"x": [1, 2]}), Call("a", {"x": [2, 1]}), False),
        (Call("a", {}), Call("a", {}), True),
        (Call("a", {}), Call("a", {"x": 1}), False),
        (Call("a", {}), Call("a", None), False),
    ],
    ids=[
        "a name is met by any arguments",
        "a name is met by unreadable arguments",
        "case counts",
        "1 is 1.0",
        "1 is not '1'",
        "more arguments are others",
        "the order of keys does not matter",
        "the order of lists does",
        "empty is met by empty",
        "empty is not met by any",
        "empty is not met by unreadable",
    ],
)
def test_when_a_made_call_is_the_one_looked_for(wanted, made, met):
    assert wanted.is_met_by(made) is met


@pytest.mark.parametrize(
    "without",
    [
        Row({}, None),
        Row({}, SolverTrace(Trace(items=[])), to_legacy),
        Row({}, joined([SolverTrace()]), regrouped),
    ],
    ids=["no solver", "older message format", "several conversations"],
)
def test_without_a_trace_the_row_is_an_error_that_names_the_format(without):
    with pytest.raises(SampleError, match="open_responses") as caught:
        trace_of(without)
    assert caught.value.error_class == "data"

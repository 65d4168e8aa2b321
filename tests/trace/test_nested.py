import copy

import pytest

from tasks_lib.trace import Trace
from tasks_lib.trace.content import InputTextContent, OutputTextContent
from tasks_lib.trace.items import Message


def part(text):
    return InputTextContent(text=text)


def message(*texts):
    return Message(id="", status="completed", role="user", content=[part(text) for text in texts])


CHANGES = [
    pytest.param(lambda c: c.append(part("z")), ["a", "b", "z"], id="append a record"),
    pytest.param(
        lambda c: c.append({"type": "input_text", "text": "z"}), ["a", "b", "z"], id="append a dict"
    ),
    pytest.param(lambda c: c.extend([part("y"), part("z")]), ["a", "b", "y", "z"], id="extend"),
    pytest.param(lambda c: c.insert(0, part("z")), ["z", "a", "b"], id="insert"),
    pytest.param(lambda c: c.pop(), ["a"], id="pop"),
    pytest.param(lambda c: c.remove(part("a")), ["b"], id="remove"),
    pytest.param(lambda c: c.reverse(), ["b", "a"], id="reverse"),
    pytest.param(lambda c: c.sort(key=lambda p: p.text, reverse=True), ["b", "a"], id="sort"),
    pytest.param(lambda c: c.clear(), [], id="clear"),
    pytest.param(lambda c: c.__setitem__(0, part("z")), ["z", "b"], id="set one"),
    pytest.param(
        lambda c: c.__setitem__(slice(0, 1), [part("z")] * 2), ["z", "z", "b"], id="slice"
    ),
    pytest.param(lambda c: c.__delitem__(0), ["b"], id="delete"),
    pytest.param(lambda c: c.__iadd__([part("z")]), ["a", "b", "z"], id="add in place"),
    pytest.param(lambda c: c.__imul__(2), ["a", "b", "a", "b"], id="multiply in place"),
    pytest.param(lambda c: setattr(c[0], "text", "z"), ["z", "b"], id="change a member"),
]


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_every_change_of_a_list_reaches_the_json(change, expected):
    record = message("a", "b")
    change(record.content)
    dumped = record.model_dump_include_unset()
    assert [each["text"] for each in dumped["content"]] == expected
    assert [each.text for each in record.content] == expected


def test_a_change_that_does_not_fit_is_undone():
    record = message("a")
    with pytest.raises(ValueError, match=r"Message\.content\[1\]\.type: 'sound' is none of"):
        record.content.append({"type": "sound"})
    assert [each.text for each in record.content] == ["a"]
    assert record.text == "a"


def test_a_record_that_was_appended_stays_connected():
    record, late = message("a"), part("b")
    record.content.append(late)
    late.text = "changed"
    assert record.text == "a\nchanged"
    assert record.content[1] is late


def test_looking_twice_shows_the_same_objects():
    record = message("a")
    assert record.content is record.content
    assert record.content[0] is record.content[0]


def test_a_view_catches_up_with_changes_of_the_json_itself():
    trace = Trace.from_items([message("a")])
    first = trace.items[0]
    trace.raw_items.insert(0, message("b").model_dump_include_unset())
    assert [item.text for item in trace.items] == ["b", "a"]
    assert trace.items[1] is first


def test_lists_given_to_constructors_are_not_shared():
    parts = [{"type": "input_text", "text": "a"}]
    one = Message(id="", status="completed", role="user", content=parts)
    one.content.append(part("b"))
    assert len(parts) == 1


def test_a_list_that_was_replaced_does_not_come_back():
    record = message("a")
    old = record.content
    record.content = [part("b")]
    old.append(part("c"))
    assert record.text == "b"


def test_adding_in_place_keeps_the_list():
    record = message("a")
    old = record.content
    record.content += [part("b")]
    old.append(part("c"))
    assert record.text == "a\nb\nc"


def test_a_defaulted_list_is_one_list_however_often_it_is_looked_at():
    output = OutputTextContent.view({"type": "output_text", "text": "a"})
    one, two = output.annotations, output.annotations
    one.append({"type": "text_citation", "content": "c"})
    assert one is two is output.annotations
    assert len(output.model_dump()["annotations"]) == 1


def test_copies_of_a_list_are_ordinary_lists():
    content = message("a").content
    assert type(copy.copy(content)) is list
    assert copy.deepcopy(content) == [part("a")]


def test_a_nested_record_is_seen_and_replaced():
    trace = Trace(items=[], metadata={"trace_id": "t"})
    trace.metadata.agent = "a"
    assert trace.model_dump()["metadata"] == {"trace_id": "t", "agent": "a"}
    trace.metadata = None
    assert trace.metadata is None

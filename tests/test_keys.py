import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tasks_lib.keys import UserKey, sanitised, unique_keys


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("gpt-4.1-nano", "gpt-4-1-nano"),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "meta-llama-llama-3-3-70b-instruct-turbo"),
        ("deepseek/deepseek_v3:free", "deepseek-deepseek_v3-free"),
        ("a..b", "a-b"),
        (".a.", "a"),
        ("__x--y", "__x-y"),
    ],
)
def test_text_becomes_a_key(text, key):
    assert sanitised(text) == key


@pytest.mark.parametrize("text", ["", "..", "精度", "x" * 251])
def test_text_that_makes_no_key_is_refused(text):
    with pytest.raises(ValueError, match="no key"):
        sanitised(text)


@given(st.text(min_size=1, max_size=250))
def test_what_is_sanitised_is_a_user_key_and_stays_as_it_is(text):
    try:
        key = sanitised(text)
    except ValueError:
        return
    assert TypeAdapter(UserKey).validate_python(key) == key
    assert sanitised(key) == key


@pytest.mark.parametrize("key", ["", "a b", "é", "a\n", "x" * 251, "a$b"])
def test_a_bad_user_key_is_refused(key):
    with pytest.raises(ValidationError):
        TypeAdapter(UserKey).validate_python(key)


@pytest.mark.parametrize(
    ("members", "keys"),
    [
        (
            [(None, "python"), (None, "python"), (None, "python")],
            ("python", "python_2", "python_3"),
        ),
        ([(None, "mean"), ("mean", "mean")], ("mean_2", "mean")),
        ([(None, "a"), ("a_2", "a"), (None, "a")], ("a", "a_2", "a_3")),
        ([], ()),
    ],
    ids=["numbered in order", "a written key wins", "a written number is passed over", "none"],
)
def test_keys_are_made_different(members, keys):
    assert unique_keys(members) == keys


def test_a_key_written_twice_is_refused():
    with pytest.raises(ValueError, match="'a' is used twice"):
        unique_keys([("a", "x"), (None, "a"), ("a", "y")])

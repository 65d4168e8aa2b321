import math

import pytest
import yaml

from tasks_lib.loading.yaml_text import YamlSyntaxError, compose, scalar


def value_of(text: str, *, is_json: bool = False) -> object:
    node = compose(text, is_json=is_json)
    assert isinstance(node, yaml.ScalarNode)
    return scalar(node)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("yes", "yes", id="yes is text"),
        pytest.param("NO", "NO", id="Norway is text"),
        pytest.param("on", "on", id="on is text"),
        pytest.param("true", True, id="true is a boolean"),
        pytest.param("False", False, id="False is a boolean"),
        pytest.param("~", None, id="tilde is null"),
        pytest.param("null", None, id="null is null"),
        pytest.param("12:30", "12:30", id="a time is text, not 750"),
        pytest.param("2026-11-30", "2026-11-30", id="a date is text"),
        pytest.param("007", 7, id="leading zeros are decimal"),
        pytest.param("0o17", 15, id="octal"),
        pytest.param("0xFF", 255, id="hexadecimal"),
        pytest.param("-12", -12, id="negative"),
        pytest.param("1_000", "1_000", id="underscores make text"),
        pytest.param("1e3", 1000.0, id="an exponent alone makes a float"),
        pytest.param(".5", 0.5, id="no leading zero"),
        pytest.param("1.", 1.0, id="no trailing digits"),
        pytest.param("-.inf", -math.inf, id="infinity"),
        pytest.param("9007199254740993", 9007199254740993, id="long ids keep every digit"),
        pytest.param("'5'", "5", id="quotes make text"),
        pytest.param("!!str 5", "5", id="so does the tag"),
        pytest.param("!!float 5", 5.0, id="a tag makes a float"),
        pytest.param("<< config.x >>", "<< config.x >>", id="a placeholder is text"),
    ],
)
def test_scalars_are_typed_as_in_yaml_1_2(text, value):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_nan_is_a_float():
    assert math.isnan(value_of(".nan"))


@pytest.mark.parametrize("text", ["!!int abc", "!!bool 1", "9" * 5000])
def test_what_does_not_fit_its_tag_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        value_of(text)


def test_json_may_use_tabs_and_escaped_pairs():
    node = compose('{\n\t"smile": "\\ud83d\\ude00",\n\t"path": "a\\/b\\\\ud83d"\n}', is_json=True)
    assert isinstance(node, yaml.MappingNode)
    assert [value.value for _, value in node.value] == ["😀", "a/b\\ud83d"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a: 1\nb: [1, 2\n", 3, id="bracket left open"),
        pytest.param("a: 1\n\tb: 2\n", 2, id="tab"),
        pytest.param("a: b: c", 1, id="colon in plain text"),
        pytest.param("a: 1\n---\nb: 2\n", 2, id="second document"),
        pytest.param("a: *nothing", 1, id="unknown alias"),
        pytest.param("a: 1\nb: \x07\n", 2, id="control character"),
        pytest.param("[" * 100_000, 1, id="a hundred thousand brackets"),
    ],
)
def test_a_syntax_error_knows_its_line(text, line):
    with pytest.raises(YamlSyntaxError) as caught:
        compose(text)
    assert caught.value.line == line
    assert caught.value.fix


def test_no_document_is_no_node():
    assert compose("# nothing here\n") is None

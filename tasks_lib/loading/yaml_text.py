"""YAML text to nodes that know their lines; scalars are typed as in YAML 1.2.

`yes`, `no`, `on`, `off`, dates and `12:30` are text; `1e3` is a number; `010` is ten. JSON is
read as the YAML it is.
"""

import re
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    _BaseLoader = yaml.SafeLoader
else:
    _BaseLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

STR, NULL, BOOL, INT, FLOAT, MERGE, MAP, SEQ = (
    f"tag:yaml.org,2002:{name}"
    for name in ("str", "null", "bool", "int", "float", "merge", "map", "seq")
)

SCALARS = (STR, NULL, BOOL, INT, FLOAT)
"""Tags a scalar may have."""

_IMPLICIT = (
    (NULL, r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    (BOOL, r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    (INT, r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        FLOAT,
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+0123456789."),
    ),
    (MERGE, r"<<", ["<"]),
)
_PATTERNS = {tag: re.compile(rf"(?:{pattern})\Z") for tag, pattern, _ in _IMPLICIT}


class _Loader(_BaseLoader):
    """Composes nodes; what it would construct of them is never asked for."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _tag, _, _first in _IMPLICIT:
    _Loader.add_implicit_resolver(_tag, _PATTERNS[_tag], _first)


class YamlSyntaxError(Exception):
    """Text that is no YAML.

    Attributes:
        line: where it stops being YAML, from 1.
        fix: what may mend it; may be empty.
    """

    def __init__(self, problem: str, line: int, fix: str = "") -> None:
        super().__init__(problem, line, fix)
        self.problem, self.line, self.fix = problem, line, fix


def compose(text: str, *, is_json: bool = False) -> yaml.Node | None:
    """Return the root node of the one document in `text`; None when there is none.

    Raises:
        YamlSyntaxError: the text is no YAML, or holds more than one document.
    """
    loader = _Loader(_json_as_yaml(text) if is_json else text)
    try:
        node: yaml.Node | None = loader.get_single_node()
        return node
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "no YAML"
        raise YamlSyntaxError(problem, mark.line + 1 if mark else 1, _advice(problem)) from None
    except RecursionError:  # where PyYAML has no libyaml, which limits depth itself
        raise YamlSyntaxError("nested too deeply", 1, "make it flatter") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlSyntaxError(f"{error.reason}", line, "remove the character") from None
    finally:
        loader.dispose()


def scalar(node: yaml.ScalarNode) -> bool | int | float | str | None:
    """Return the value of a scalar whose tag is one of `SCALARS`.

    Raises:
        ValueError: the text does not fit the tag.
    """
    text = node.value
    if node.tag == STR:
        return str(text)
    if not _PATTERNS[node.tag].match(text):
        raise ValueError(f"'{text[:80]}' does not fit its tag '{shown_tag(node.tag)}'")
    if node.tag == NULL:
        return None
    if node.tag == BOOL:
        return text[0] in "tT"
    if node.tag == INT:
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    return float(re.sub(r"\.(?=[iInN])", "", text))


def shown_tag(tag: str) -> str:
    """Return a tag as an author writes it."""
    return tag.replace("tag:yaml.org,2002:", "!!", 1)


_ESCAPED_PAIR = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


def _json_as_yaml(text: str) -> str:
    """Replace what JSON may hold and YAML may not: tabs between tokens, escaped UTF-16 pairs."""

    def character(match: re.Match[str]) -> str:
        high, low = int(match[2], 16), int(match[3], 16)
        return match[1] + chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

    return _ESCAPED_PAIR.sub(character, text.replace("\t", " "))


def _advice(problem: str) -> str:
    if "\\t" in problem:
        return "indent with spaces, not tabs"
    if "mapping values are not allowed" in problem:
        return "put text that holds ': ' in quotes, or mend the indentation"
    if "cannot start any token" in problem:
        return "put the text in quotes"
    if "expected a single document" in problem:
        return "keep one document, without '---' lines inside"
    if "alias" in problem:
        return "put text that starts with '*' or '&' in quotes"
    if "did not find expected key" in problem or "block" in problem:
        return "mend the indentation, or put the text in quotes"
    return "check quotes, brackets and indentation"

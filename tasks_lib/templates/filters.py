"""Filters that templates have beside Jinja's own."""

import json
from collections.abc import Mapping
from typing import Any

from tasks_lib.errors import bounded
from tasks_lib.templates.meter import REGEX_SECONDS, Meter, TooLargeError


def from_json(text: Any) -> Any:
    """Return the value of JSON text."""
    if not isinstance(text, str):
        raise TypeError(f"fromjson needs text, not {type(text).__name__}")
    return json.loads(text)


def regex_replace(
    meter: Meter,
    text: Any,
    pattern: str,
    replacement: str,
    multiline: bool = False,
    ignorecase: bool = False,
    count: int = 0,
) -> str:
    """Return `text` with what `pattern` matches replaced; groups are named with a backslash.

    Raises:
        TooLargeError: it takes too long, as some texts make some patterns, or gives too much.
    """
    import regex

    flags = (regex.MULTILINE if multiline else 0) | (regex.IGNORECASE if ignorecase else 0)
    compiled = regex.compile(pattern, flags)

    def expanded(match: Any) -> str:
        new: str = match.expand(replacement)
        meter.spend(len(new))
        return new

    given = expanded if len(replacement) > 1 else replacement  # no shorter one makes more
    try:
        made: str = compiled.sub(given, str(text), count=count, timeout=REGEX_SECONDS)
    except TimeoutError:
        shown = bounded(repr(pattern), 80)
        raise TooLargeError(
            f"replacing {shown} in {len(str(text)):,} characters took more than {REGEX_SECONDS:g} s"
        ) from None
    return made


def zipped(value: Any, *others: Any) -> list[tuple[Any, ...]]:
    """Return pairs of members at the same place, as many as the shortest has."""
    return list(zip(value, *others, strict=False))


def merged(left: Any, right: Any) -> dict[Any, Any]:
    """Return two mappings as one, those inside them too; `right` wins."""
    if not isinstance(left, Mapping) or not isinstance(right, Mapping):
        raise TypeError("merge needs two mappings")
    result = dict(left)
    for key, value in right.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = merged(old, value) if both else value
    return result


def json_escape(value: Any) -> Any:
    """Return text as it stands between the quotes of JSON; anything else as it is."""
    return json.dumps(value)[1:-1] if isinstance(value, str) else value


def dump_json(value: Any, **options: Any) -> str:
    """Return a value, typed objects in it included, as JSON text."""
    return json.dumps(value, default=_dump_model, **options)


def _dump_model(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_unset=True)
    raise TypeError(f"{type(value).__name__} has no JSON form")

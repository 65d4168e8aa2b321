"""Minimal instances of JSON schemas, for structured replies and tool arguments."""

import math
import re
from collections.abc import Mapping
from typing import Final

from tests.fake_openai.config import Json

MAX_DEPTH: Final = 40

_FORMATS: Final[Mapping[str, str]] = {
    "date-time": "2024-01-01T00:00:00Z",
    "date": "2024-01-01",
    "time": "00:00:00Z",
    "duration": "PT0S",
    "email": "a@example.com",
    "hostname": "example.com",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uri": "http://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def minimal_instance(schema: Json, hint: str | None) -> Json:
    """A small valid instance of a JSON schema; strings take `hint` if allowed.

    Covers what structured-output APIs accept: types, enum, const, properties, items,
    prefixItems, anyOf, oneOf, allOf, $ref, and the size and number limits. A `pattern` is
    only met by a hint that matches it.
    """
    return _instance(schema, schema, hint, 0)


def _instance(schema: Json, root: Json, hint: str | None, depth: int) -> Json:
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return None
    if "$ref" in schema:
        merged = {**_resolve(schema, root), **{k: v for k, v in schema.items() if k != "$ref"}}
        return _instance(merged, root, hint, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return hint if hint in schema["enum"] else schema["enum"][0]
    if "allOf" in schema:
        return _instance(_merge_all_of(schema, root), root, hint, depth + 1)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            options = schema[choice]
            flat = [o for o in options if isinstance(o, dict) and "$ref" not in o]
            return _instance((flat or options)[0], root, hint, depth + 1)
    match _type_of(schema):
        case "object":
            properties = schema.get("properties", {})
            return {
                name: _instance(properties.get(name, {}), root, hint, depth + 1)
                for name in schema.get("required", ())
            }
        case "array":
            first = [_instance(s, root, hint, depth + 1) for s in schema.get("prefixItems", ())]
            missing = int(schema.get("minItems", 0)) - len(first)
            item = schema.get("items", {})
            return first + [_instance(item, root, hint, depth + 1) for _ in range(missing)]
        case "string":
            return _string(schema, hint)
        case "integer":
            return _number(schema, integer=True)
        case "number":
            return _number(schema, integer=False)
        case "boolean":
            return hint == "correct"
    return None


def _type_of(schema: Mapping[str, Json]) -> Json:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if kind is None:
        return "object" if "properties" in schema else "array" if "items" in schema else None
    return kind


def _merge_all_of(schema: Mapping[str, Json], root: Json) -> dict[str, Json]:
    merged = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        resolved = _resolve(part, root) if "$ref" in part else part
        for key, value in resolved.items():
            if key == "properties":
                merged[key] = {**merged.get(key, {}), **value}
            elif key == "required":
                merged[key] = [*merged.get(key, []), *value]
            else:
                merged.setdefault(key, value)
    return merged


def _resolve(schema: Mapping[str, Json], root: Json) -> Json:
    target = root
    for step in str(schema["$ref"]).removeprefix("#").strip("/").split("/"):
        if step:
            target = target[step.replace("~1", "/").replace("~0", "~")]
    return target


def _string(schema: Mapping[str, Json], hint: str | None) -> str:
    low = int(schema.get("minLength", 0))
    if hint is not None and "format" not in schema:
        right_size = low <= len(hint) <= schema.get("maxLength", math.inf)
        if right_size and re.search(schema.get("pattern") or "", hint):
            return hint
    return str(_FORMATS.get(schema.get("format", ""), "x" * low))


def _number(schema: Mapping[str, Json], integer: bool) -> float | int:
    low = schema.get("minimum", -math.inf)
    high = schema.get("maximum", math.inf)
    step = schema.get("multipleOf", 1 if integer else None)
    if "exclusiveMinimum" in schema:
        low = max(low, schema["exclusiveMinimum"] + (step or 1e-6))
    if "exclusiveMaximum" in schema:
        high = min(high, schema["exclusiveMaximum"] - (step or 1e-6))
    value: float = min(max(0, low), high)
    if step:
        value = math.ceil(value / step) * step
    return int(value) if integer else value

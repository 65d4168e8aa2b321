"""JSON Schemas of definition files, for editors.

A file whose first line is `# yaml-language-server: $schema=task.schema.json` is completed and
checked while it is written. `!include PATH` is text to a schema; editors want the tag named in
their setting `yaml.customTags`.
"""

import ast
import inspect
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema

from tasks_lib.loading.kinds import MODELS, Kind

_DRAFT = "http://json-schema.org/draft-07/schema#"  # the one every YAML editor knows whole
_HOISTED = ("description", "default", "deprecated")
_PLACEHOLDER = {
    "type": "string",
    "pattern": r"^\s*<<\s*config\..+>>\s*$|^\$",
    "description": "`<< config.NAME >>`, or `$NAME` from the environment.",
}
_REFERENCE = {
    "type": "object",
    "properties": {"$ref": {"type": "string", "description": "A YAML or JSON file to read."}},
    "required": ["$ref"],
    "additionalProperties": False,
    "description": "`$ref: PATH`, replaced by what is in the file.",
}


def json_schema(kind: Kind) -> dict[str, Any]:
    """Return the JSON Schema of files of this kind.

    It admits what may be written before anything is substituted: `<< config.x >>` for every
    value that is not free text, and `$ref` for every mapping and list.
    """
    schema = MODELS[kind].model_json_schema(schema_generator=_Described)
    definitions = {name: _entity(part) for name, part in schema.pop("$defs", {}).items()}
    return {
        "$schema": _DRAFT,
        "$id": f"urn:evalmill:schema:{kind}",
        **_entity(schema),
        "title": f"evalmill {kind} file",
        "$defs": {**definitions, "Placeholder": _PLACEHOLDER, "Reference": _REFERENCE},
    }


def key_descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings under a class's attributes, those of its bases included.

    Read from the source when a schema is asked for: pydantic would read them at every start.
    """
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base.__module__.partition(".")[0] != "pydantic":
            tree = ast.parse(dedent(inspect.getsource(base)))
            body = next(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
            for attribute, text in pairwise(body):
                match attribute, text:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(docstring))),
                    ):
                        found[name] = inspect.cleandoc(docstring)
    return found


class _Described(GenerateJsonSchema):
    """Schemas whose keys are described by the docstrings under the attributes."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        result = super().model_schema(schema)
        model = schema["cls"]
        for name, text in key_descriptions(model).items():
            field = model.model_fields.get(name)
            if field is not None:
                result["properties"][field.alias or name].setdefault("description", text)
        return result


def _entity(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a model's schema with everything admitted for each of its keys."""
    properties = {
        name: part if "const" in part else _admitting(part)
        for name, part in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties} if properties else schema


def _admitting(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a value's schema that also admits placeholders and references."""
    hoisted = {key: schema[key] for key in _HOISTED if key in schema}
    forms = [_inside(form) for form in _forms(schema)]
    if all(_is_open(form) for form in forms):
        return {**_bare(schema), **hoisted}
    forms.append({"$ref": "#/$defs/Placeholder"})
    if any(_may_be_read_from_a_file(form) for form in forms[:-1]):
        forms.append({"$ref": "#/$defs/Reference"})
    return {"anyOf": forms, **hoisted}


def _forms(schema: dict[str, Any]) -> list[dict[str, Any]]:
    alternatives = schema.get("anyOf") or schema.get("oneOf") or [schema]
    return [_bare(form) for form in alternatives]


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: schema[key] for key in schema if key not in ("title", *_HOISTED)}


def _inside(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a list's or a mapping's schema with everything admitted for its values."""
    inner = {
        key: _admitting(schema[key])
        for key in ("items", "additionalProperties")
        if isinstance(schema.get(key), dict)
    }
    return {**schema, **inner}


def _is_open(schema: dict[str, Any]) -> bool:
    """Return whether any text fits already."""
    return not schema or schema in ({"type": "string"}, {"type": "null"})


def _may_be_read_from_a_file(schema: dict[str, Any]) -> bool:
    return "$ref" in schema or schema.get("type") in ("object", "array")

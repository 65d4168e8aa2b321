"""The Jinja environments: sandboxed, strict, bounded; data wins over dict methods."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, cast

from jinja2 import StrictUndefined, nodes, pass_context
from jinja2.nativetypes import NativeCodeGenerator, native_concat
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from tasks_lib.errors import bounded

MAX_SIZE = 10_000_000
"""Most characters (or list items) a template may make at once or in all."""

MAX_STEPS = 1_000_000
"""Most loop rounds one rendering may take."""

_HUGE_WIDTH = re.compile(r"%[-+ #0]*(?:\d*\.)?(?:\d{7,}|\*)|\{[^{}]*\d{7,}[^{}]*\}")
_METER, _CONCAT = "loop meter", "text concat"  # the spaces keep authors from naming them


class TooLargeError(Exception):
    """A template asked for more text or more loop rounds than is allowed."""


class Missing(StrictUndefined):
    """Something undefined; where it is a column, the complaint names those there are."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        known = self._undefined_obj
        if not isinstance(known, Mapping):
            return super()._undefined_message
        names = [str(name) for name in known]
        if near := get_close_matches(str(self._undefined_name), names, n=1):
            advice = f"did you mean '{near[0]}'?"
        else:
            advice = bounded("there is " + (", ".join(map(repr, names)) or "nothing"), 200)
        return f"no {self._undefined_name!r} here; {advice}"


class MissingMember(Missing):
    """An absent column that names a dict method: undefined, yet the method when called."""

    __slots__ = ()

    def method(self) -> Callable[..., Any]:
        """Return the dict's method of the absent column's name."""
        found: Callable[..., Any] = getattr(self._undefined_obj, str(self._undefined_name))
        return found


class _MeteredContext(Context):
    steps = 0


@pass_context
def _meter(context: _MeteredContext, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        context.steps += 1
        if context.steps > MAX_STEPS:
            raise TooLargeError(f"more than {MAX_STEPS:,} loop rounds")
        yield value


def _concat(values: Iterable[Any]) -> str:
    texts = [str(value) for value in values]
    _check_size(sum(map(len, texts)))
    return "".join(texts)


class _Meters(NodeTransformer):
    """Put the loop meter around what each `for` runs over, and a size check on each `~`."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = _filter_node(_METER, cast(nodes.Expr, node.iter))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filter_node(_CONCAT, nodes.List(node.nodes, lineno=node.lineno))


def _filter_node(name: str, operand: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(operand, name, [], [], None, None, lineno=operand.lineno)


def _check_size(size: int) -> None:
    if size > MAX_SIZE:
        raise TooLargeError(f"more than {MAX_SIZE:,} characters or items")


def _check_arguments(args: Iterable[Any]) -> None:
    for value in args:
        if isinstance(value, int):
            _check_size(value)
        elif isinstance(value, str) and _HUGE_WIDTH.search(value):
            raise TooLargeError(f"the width asked for in {value[:40]!r}")


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        _check_arguments(args)
        _check_arguments(kwargs.values())
        return function(*args, **kwargs)

    return bounded


def _multiply(left: Any, right: Any) -> Any:
    for many, times in ((left, right), (right, left)):
        if isinstance(many, str | bytes | list | tuple) and isinstance(times, int):
            _check_size(len(many) * times)
    return left * right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        _check_size(left.bit_length() * right)
    return left**right


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        _check_size(len(left) + len(right))
    return left + right


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        _check_arguments((left,))
    return left % right


def _fromjson(text: Any) -> Any:
    if not isinstance(text, str):
        raise TypeError(f"fromjson needs text, not {type(text).__name__}")
    return json.loads(text)


def _regex_replace(
    text: Any,
    pattern: str,
    replacement: str,
    multiline: bool = False,
    ignorecase: bool = False,
    count: int = 0,
) -> str:
    flags = (re.MULTILINE if multiline else 0) | (re.IGNORECASE if ignorecase else 0)
    return re.sub(pattern, replacement, str(text), count=count, flags=flags)


def _merge(left: Any, right: Any) -> dict[Any, Any]:
    if not isinstance(left, Mapping) or not isinstance(right, Mapping):
        raise TypeError("merge needs two mappings")
    merged = dict(left)
    for key, value in right.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _merge(old, value) if both else value
    return merged


def _json_escape(value: Any) -> Any:
    return json.dumps(value)[1:-1] if isinstance(value, str) else value


def _dump_model(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_unset=True)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _dumps(value: Any, **kwargs: Any) -> str:
    return json.dumps(value, default=_dump_model, **kwargs)


class Sandbox(SandboxedEnvironment):
    """Renders text. Attribute access on a mapping means its keys, never its methods."""

    context_class = _MeteredContext
    intercepted_binops = frozenset({"*", "**", "+", "%"})
    binop_table = {  # noqa: RUF012 - jinja declares it so
        **SandboxedEnvironment.default_binop_table,
        "*": _multiply,
        "**": _power,
        "+": _add,
        "%": _modulo,
    }

    def __init__(self) -> None:
        super().__init__(undefined=Missing, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
        self.binop_table = type(self).binop_table
        self.policies["json.dumps_function"] = _dumps
        del self.globals["lipsum"]  # random text has no place in a repeatable prompt
        for name in ("center", "indent", "batch", "slice", "format"):
            self.filters[name] = _checked(self.filters[name])
        self.filters |= {
            _METER: _meter,
            _CONCAT: _concat,
            "fromjson": _fromjson,
            "regex_replace": _regex_replace,
            "zip": lambda value, *others: list(zip(value, *others, strict=False)),
            "merge": _merge,
            "json_escape": _json_escape,
        }

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = _Meters().visit(super()._parse(source, name, filename))
        return tree

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Mapping):
            return self.getitem(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if not isinstance(obj, Mapping):
            return super().getitem(obj, argument)
        try:
            return obj[argument]
        except (KeyError, TypeError):
            pass
        if not isinstance(argument, str):
            return self.undefined(obj=obj, name=argument)
        if argument.startswith("__"):
            return self.unsafe_undefined(obj, argument)
        is_method = not argument.startswith("_") and hasattr(obj, argument)
        kind = MissingMember if is_method else self.undefined
        return kind(obj=obj, name=argument)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(obj, MissingMember):
            obj = obj.method()
        owner = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)
        if isinstance(owner, str | bytes):
            _check_arguments((owner, *args, *kwargs.values()))
        return super().call(context, obj, *args, **kwargs)


class NativeSandbox(Sandbox):
    """The same, but expressions stay Python values instead of becoming text."""

    code_generator_class = NativeCodeGenerator
    concat = staticmethod(native_concat)  # type: ignore[assignment] # jinja's own does so too

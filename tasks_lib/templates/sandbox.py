"""The Jinja environments: sandboxed, strict, bounded; data wins over dict methods, and stays."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, cast

from jinja2 import StrictUndefined, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.nativetypes import NativeCodeGenerator, native_concat
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment, modifies_known_mutable
from jinja2.utils import _PassArg
from jinja2.visitor import NodeTransformer

from tasks_lib.errors import bounded
from tasks_lib.templates import filters, limits
from tasks_lib.templates.limits import ESTIMATES, Estimate, Meter
from tasks_lib.templates.nulls import note_null

_ROUNDS, _CONCAT, _LITERAL = "loop meter", "text concat", "literal meter"  # no author can write a
# filter's name with a space in it
_PRINTING = ("string", "tojson", "pprint", "e", "escape", "upper", "lower", "trim", "urlize")
_CHANGING = ("append", "extend", "add_", "insert", "remove", "pop", "clear")
_OWN = (list, dict, set)  # what templates can make
_SIZES: dict[str, Callable[[Any, Any], int]] = {
    "*": limits.product,
    "**": limits.power,
    "+": limits.total,
}


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
        """Return the method that is meant when it is called."""
        found: Callable[..., Any] = getattr(self._undefined_obj, str(self._undefined_name))
        return found


class _MeteredContext(Context):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.meter = Meter()


@pass_context
def _rounds(context: _MeteredContext, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        context.meter.step()
        yield value


@pass_context
def _concat(context: _MeteredContext, values: Iterable[Any]) -> str:
    texts = []
    for value in values:
        context.meter.weigh(value)
        texts.append(str(value))
    context.meter.spend(sum(map(len, texts)))
    return "".join(texts)


@pass_context
def _literal(context: _MeteredContext, value: Any, name: str) -> Any:
    context.meter.weigh(value)
    if value is None and type(context.environment) is Sandbox:  # else it stays a value
        note_null(name)
    return value


class _Meters(NodeTransformer):
    """Put meters around what each `for` runs over, each `~`, and what is made and shown."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = _filter_node(_ROUNDS, cast(nodes.Expr, node.iter))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filter_node(_CONCAT, nodes.List(node.nodes, lineno=node.lineno))

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        self.generic_visit(node)
        node.nodes = [
            shown
            if isinstance(shown, nodes.TemplateData | nodes.Const)
            else _filter_node(_LITERAL, shown, nodes.Const(_dotted(shown)))
            for shown in node.nodes
        ]
        return node


def _filter_node(name: str, operand: nodes.Expr, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(operand, name, [*arguments], [], None, None, lineno=operand.lineno)


def _dotted(shown: nodes.Node | None) -> str:
    """The name of a value, `sample.x`, filters apart; nothing for what is worked out."""
    match shown:
        case nodes.Name():
            return shown.name
        case nodes.Getattr():
            owner, member = _dotted(shown.node), shown.attr
        case nodes.Getitem(arg=nodes.Const(value=str() as member)):
            owner = _dotted(shown.node)
        case nodes.Filter():
            return _dotted(shown.node)
        case _:
            return ""
    return f"{owner}.{member}" if owner else ""


def _bounded_filter(function: Callable[..., Any], estimate: Estimate | None) -> Callable[..., Any]:
    """Return a filter that counts what it will make before it makes it."""
    wanted = _PassArg.from_obj(function)

    @pass_context
    @wraps(function, assigned=("__name__", "__doc__"), updated=())
    def counted(context: _MeteredContext, value: Any, *args: Any, **kwargs: Any) -> Any:
        if estimate is None:
            context.meter.weigh(value)
        else:
            context.meter.spend(estimate(value, *args, **kwargs))
        match wanted:
            case _PassArg.context:
                return function(context, value, *args, **kwargs)
            case _PassArg.eval_context:
                return function(context.eval_ctx, value, *args, **kwargs)
            case _PassArg.environment:
                return function(context.environment, value, *args, **kwargs)
        return function(value, *args, **kwargs)

    return counted


@pass_context
def _regex_replace(context: _MeteredContext, *args: Any, **kwargs: Any) -> str:
    return filters.regex_replace(context.meter, *args, **kwargs)


class Sandbox(SandboxedEnvironment):
    """Renders text. Attribute access on a mapping means its keys, never its methods."""

    context_class = _MeteredContext
    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=Missing, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
        self.policies["json.dumps_function"] = filters.dump_json
        del self.globals["lipsum"]  # random text has no place in a repeatable prompt
        for name in _PRINTING:
            self.filters[name] = _bounded_filter(self.filters[name], None)
        for name, estimate in ESTIMATES.items():
            self.filters[name] = _bounded_filter(self.filters[name], estimate)
        self.filters |= {
            _ROUNDS: _rounds,
            _CONCAT: _concat,
            _LITERAL: _literal,
            "fromjson": filters.from_json,
            "regex_replace": _regex_replace,
            "zip": filters.zipped,
            "merge": filters.merged,
            "json_escape": filters.json_escape,
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

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        meter = cast(_MeteredContext, context).meter
        if operator == "%":
            values = right if isinstance(right, tuple) else (right,)
            meter.spend(limits.formatted(left, "%", values))
        else:
            meter.spend(_SIZES[operator](left, right))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(obj, MissingMember):
            obj = obj.method()
        meter = cast(_MeteredContext, context).meter
        meter.tick()
        owner = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)
        name = getattr(obj, "__name__", "")
        if isinstance(owner, str | bytes):
            given = (*args, *kwargs.values())
            meter.spend(limits.text_method(name, str(owner), given))
        elif type(owner) in _OWN and modifies_known_mutable(owner, name):
            _refuse_data(context, owner, name)
            for value in args:
                meter.weigh(value)
        elif owner is not None and name.startswith(_CHANGING):
            raise SecurityError(f"'{name}' would change the data")
        return super().call(context, obj, *args, **kwargs)


def _refuse_data(context: Context, owner: Any, name: str) -> None:
    """Raise SecurityError if `owner` is, or is inside of, what the template was given."""
    waiting, seen = list(context.parent.values()), set[int]()
    while waiting:
        value = waiting.pop()
        if value is owner:
            raise SecurityError(f"'{name}' would change the data; change a copy of it")
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list | tuple | set):
            waiting += value


class NativeSandbox(Sandbox):
    """The same, but expressions stay Python values instead of becoming text."""

    code_generator_class = NativeCodeGenerator
    concat = staticmethod(native_concat)  # type: ignore[assignment] # jinja's own does so too

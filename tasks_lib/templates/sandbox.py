"""The Jinja environments: sandboxed, strict, bounded; data wins over dict methods, and stays."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from jinja2 import nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.nativetypes import NativeCodeGenerator, native_concat
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment, modifies_known_mutable

from tasks_lib.templates import filters, sizes
from tasks_lib.templates.metering import METERS, MeteredContext, bounded_filter, metered
from tasks_lib.templates.sizes import ESTIMATES
from tasks_lib.templates.undefined import Missing, MissingMember

_PRINTING = ("string", "tojson", "pprint", "e", "escape", "upper", "lower", "trim", "urlize")
_CHANGING = ("append", "extend", "add_", "insert", "remove", "pop", "clear")
_OWN = (list, dict, set)  # what templates can make
_SIZES: dict[str, Callable[[Any, Any], int]] = {
    "*": sizes.product,
    "**": sizes.power,
    "+": sizes.total,
}


@pass_context
def _regex_replace(context: MeteredContext, *args: Any, **kwargs: Any) -> str:
    return filters.regex_replace(context.meter, *args, **kwargs)


class Sandbox(SandboxedEnvironment):
    """Renders text. Attribute access on a mapping means its keys, never its methods."""

    context_class = MeteredContext
    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=Missing, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
        self.policies["json.dumps_function"] = filters.dump_json
        del self.globals["lipsum"]  # random text has no place in a repeatable prompt
        for name in _PRINTING:
            self.filters[name] = bounded_filter(self.filters[name], None)
        for name, estimate in ESTIMATES.items():
            self.filters[name] = bounded_filter(self.filters[name], estimate)
        self.filters |= {
            **METERS,
            "fromjson": filters.from_json,
            "regex_replace": _regex_replace,
            "zip": filters.zipped,
            "merge": filters.merged,
            "json_escape": filters.json_escape,
        }

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return metered(super()._parse(source, name, filename))

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
        meter = cast(MeteredContext, context).meter
        if operator == "%":
            values = right if isinstance(right, tuple) else (right,)
            meter.spend(sizes.formatted(left, "%", values))
        else:
            meter.spend(_SIZES[operator](left, right))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(obj, MissingMember):
            obj = obj.method()
        meter = cast(MeteredContext, context).meter
        meter.tick()
        method = obj if hasattr(obj, "__self__") else getattr(obj, "__wrapped__", obj)
        owner = getattr(method, "__self__", None)
        name = getattr(obj, "__name__", "")
        if isinstance(owner, str | bytes):
            given = (*args, *kwargs.values())
            meter.spend(sizes.text_method(name, str(owner), given))
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

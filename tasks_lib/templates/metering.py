"""How a template's code is made to count what it does: loop rounds, texts joined, values shown."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, cast

from jinja2 import nodes, pass_context
from jinja2.nativetypes import native_concat
from jinja2.runtime import Context
from jinja2.utils import _PassArg
from jinja2.visitor import NodeTransformer

from tasks_lib.templates.meter import Meter
from tasks_lib.templates.nulls import note_null
from tasks_lib.templates.sizes import Estimate

# no author can write a filter's name with a space in it
_ROUNDS, _CONCAT, _LITERAL = "loop meter", "text concat", "literal meter"


class MeteredContext(Context):
    """The variables of one rendering, and the meter of what it does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.meter = Meter()


@pass_context
def _rounds(context: MeteredContext, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        context.meter.step()
        yield value


@pass_context
def _concat(context: MeteredContext, values: Iterable[Any]) -> str:
    texts = []
    for value in values:
        context.meter.weigh(value)
        texts.append(str(value))
    context.meter.spend(sum(map(len, texts)))
    return "".join(texts)


@pass_context
def _literal(context: MeteredContext, value: Any, name: str) -> Any:
    context.meter.weigh(value)
    if value is None and context.environment.concat is not native_concat:  # which keeps it a value
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


def metered(code: nodes.Template) -> nodes.Template:
    """Return a template's code with meters in it."""
    result: nodes.Template = _Meters().visit(code)
    return result


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


def bounded_filter(function: Callable[..., Any], estimate: Estimate | None) -> Callable[..., Any]:
    """Return a filter that counts what it will make before it makes it."""
    wanted = _PassArg.from_obj(function)

    @pass_context
    @wraps(function, assigned=("__name__", "__doc__"), updated=())
    def counted(context: MeteredContext, value: Any, *args: Any, **kwargs: Any) -> Any:
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


METERS = {_ROUNDS: _rounds, _CONCAT: _concat, _LITERAL: _literal}
"""The filters that `metered` puts into templates, by their names there."""

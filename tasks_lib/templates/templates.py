"""Prompt templates: compiled once, rendered per sample; the one door to Jinja.

Templates come from task files and are sandboxed. Data is only ever a value in a rendering: text
that looks like template syntax comes out as it went in.
"""

import ast
import re
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Any, TypeVar

from jinja2 import StrictUndefined, TemplateSyntaxError, UndefinedError
from jinja2 import Template as JinjaTemplate
from jinja2.exceptions import SecurityError
from pydantic import AfterValidator

from tasks_lib.errors import SampleError, bounded
from tasks_lib.placeholders import neutralised
from tasks_lib.secrets import redact
from tasks_lib.templates.meter import MAX_SIZE, TooLargeError
from tasks_lib.templates.sandbox import NativeSandbox, Sandbox

_T = TypeVar("_T")

_LONE_COLUMN = re.compile(r"\{\{\s*sample\.([A-Za-z]\w*)\s*\}\}")
_TEXT = Sandbox()
_NATIVE = NativeSandbox()


class Template:
    """A compiled template. Get one with `compile_template`.

    Attributes:
        source: the template text.
        name: what messages call it, e.g. the key path it stands at.
    """

    def __init__(self, source: str, name: str) -> None:
        self.source = source
        self.name = name
        self._text = _compile(_TEXT, source, name)
        lone = _LONE_COLUMN.fullmatch(source)
        self._column = lone[1] if lone else None

    @cached_property
    def _native(self) -> JinjaTemplate:
        return _compile(_NATIVE, self.source, self.name)

    def render(self, /, **variables: Any) -> str:
        """Return the text for these variables.

        Raises:
            SampleError: of class `template`, naming the template, its line and the reason.
        """
        if self._column is not None:  # most templates of scorers; Jinja would take 20 times as long
            sample = variables.get("sample")
            text = sample.get(self._column) if type(sample) is dict else None
            if type(text) is str and len(text) <= MAX_SIZE:
                return text
        return self._guarded(_render, self._text, variables)

    def evaluate(self, /, **variables: Any) -> Any:
        """Return the result as a Python value.

        One expression gives its value; text, also a text value, is read as a Python literal
        when it is one: `"5"` gives 5, `"['a']"` a list, `"abc"` stays text.

        Raises:
            SampleError: as `render`.
        """
        return self._guarded(_evaluate, self._native, variables)

    def value(self, /, **variables: Any) -> Any:
        """Return the untouched value of a lone `{{ … }}`, else the rendered text.

        Raises:
            SampleError: as `render`.
        """
        return self._guarded(_value, self._native, variables)

    def is_defined(self, /, **variables: Any) -> bool:
        """Tell whether the template meets no undefined name, attribute or index.

        Raises:
            SampleError: as `render`, for any other trouble.
        """
        return self._guarded(_is_defined, self._native, variables)

    def _guarded(
        self,
        action: Callable[[JinjaTemplate, Mapping[str, Any]], _T],
        template: JinjaTemplate,
        variables: Mapping[str, Any],
    ) -> _T:
        try:
            return action(template, variables)
        except Exception as error:
            line = _failing_line(error, template)
            where = f"template '{self.name}' line {line}"
            raise SampleError("template", self._reason(error, line), where) from error

    def _reason(self, error: Exception, line: int) -> str:
        match error:
            case UndefinedError():
                return _undefined_reason(error, self.source.splitlines()[line - 1 : line])
            case SecurityError():
                return f"security: {error}"
            case TooLargeError() | OverflowError():
                return f"too large: {error}"
        return bounded(redact(f"{type(error).__name__}: {error}"))


@lru_cache(maxsize=4096)
def compile_template(source: str, name: str = "template") -> Template:
    """Return `source` compiled; equal calls share one result.

    Raises:
        ValueError: bad template syntax or an unknown filter, with the line.
    """
    return Template(source, name)


def _compile(environment: Sandbox, source: str, name: str) -> JinjaTemplate:
    try:
        code = environment.compile(source, name, f"<{name}>")
    except TemplateSyntaxError as error:
        raise ValueError(f"template line {error.lineno}: {error.message}") from error
    except RecursionError as error:
        raise ValueError("template is nested too deeply") from error
    return JinjaTemplate.from_code(environment, code, environment.globals)


def _render(template: JinjaTemplate, variables: Mapping[str, Any]) -> str:
    size = 0
    chunks = []
    for chunk in template.root_render_func(template.new_context(dict(variables))):
        size += len(chunk)
        if size > MAX_SIZE:
            raise TooLargeError(f"more than {MAX_SIZE:,} characters")
        chunks.append(chunk)
    return "".join(chunks)


def _raw(template: JinjaTemplate, variables: Mapping[str, Any]) -> Any:
    """Return the only chunk as it is, possibly undefined; several become text."""
    chunks = list(template.root_render_func(template.new_context(dict(variables))))
    if len(chunks) == 1 and not isinstance(chunks[0], str):
        return chunks[0]
    return "".join(str(chunk) for chunk in chunks)


def _value(template: JinjaTemplate, variables: Mapping[str, Any]) -> Any:
    raw = _raw(template, variables)
    if isinstance(raw, StrictUndefined):
        str(raw)  # raises what the undefined stands for
    return raw


def _evaluate(template: JinjaTemplate, variables: Mapping[str, Any]) -> Any:
    value = _value(template, variables)
    return literal(value) if isinstance(value, str) else value


def _is_defined(template: JinjaTemplate, variables: Mapping[str, Any]) -> bool:
    try:
        raw = _raw(template, variables)
    except UndefinedError:
        return False
    return not isinstance(raw, StrictUndefined)


def literal(text: str) -> Any:
    """Return the Python literal `text` spells, or `text` when it spells none."""
    try:
        return ast.literal_eval(ast.parse(text, mode="eval"))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _failing_line(error: Exception, template: JinjaTemplate) -> int:
    line = 1
    traceback = error.__traceback__
    while traceback:
        if traceback.tb_frame.f_globals.get("__jinja_template__") is template:
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


def _undefined_reason(error: UndefinedError, lines: list[str]) -> str:
    """Lead with the dotted path that is undefined, where the template's line shows one."""
    missing = re.search(r"no (?:attribute |element )?'?([^']+?)'?(?:$| here;)", str(error))
    if not (missing and lines):
        return str(error)
    path = re.search(rf"[\w.\[\]'\"]+[.\['\"]{re.escape(missing[1])}\b['\"\]]*", lines[0])
    return f"'{path[0]}' is undefined: {error}" if path else str(error)


def _checked(source: str) -> str:
    compile_template(neutralised(source))
    return source


TemplateSource = Annotated[str, AfterValidator(_checked)]
"""Template text; its syntax is checked at load, config placeholders may stand in it."""

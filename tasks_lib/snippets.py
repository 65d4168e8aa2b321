"""Authors' Python: checked at load without running it, compiled once, errors placed.

Task files are code: a snippet runs with all the rights of this process, unsandboxed. Run only
task files you trust. Time limits and processes of their own, for code that hangs or dies, are
`snippet_member`'s.
"""

import ast
import hashlib
import inspect
import linecache
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Annotated, Any

from pydantic import AfterValidator

from tasks_lib import compat
from tasks_lib.errors import EvalmillError, SampleError, bounded
from tasks_lib.placeholders import is_placeholder, neutralised
from tasks_lib.secrets import redact
from tasks_lib.timelimit import GivenUp, run_coroutine


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a snippet's text stands: the file and the line of its first line."""

    path: Path
    first_line: int


_origins: dict[str, Origin] = {}


def remember_origin(text: str, path: Path, first_line: int = 1) -> None:
    """Let tracebacks of the snippet `text` show `path` and its lines.

    Call it again for the substituted text when placeholders in it have been filled in.

    Args:
        text: the snippet as a definition holds it.
        path: the included file, or the YAML file the snippet is written in.
        first_line: line of `path` (from 1) on which `text` begins.
    """
    _origins[text] = Origin(path, first_line)


class Snippet:
    """One function of an author's module. Get one with `load_snippet`.

    The module is run once, when the function is first called; all callers share its globals.

    Attributes:
        source: the module text.
        function: name of the function that is called.
        origin: where the text stands; None when nobody said.
        place: file and line of the function.
        message_limit: how long a message about an exception may be.
    """

    message_limit = 300

    def __init__(self, source: str, function: str) -> None:
        self.origin = _origins.get(source)
        definition = _definition(source, function, self.origin)
        self.source = source
        self.function = function
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        self._module_name = f"evalmill_snippet_{digest}"
        self._file = str(self.origin.path) if self.origin else f"<{function} {digest}>"
        self._first_line = self.origin.first_line if self.origin else 1
        self._line = self._first_line - 1 + definition.lineno
        self.place = f"{self._file}:{self._line}"
        self._lock = threading.Lock()
        self._loaded: Callable[..., Any] | None = None
        self._failure: EvalmillError | None = None
        self._arity: int | None = None
        if not self.origin:
            lines = source.splitlines(keepends=True)
            linecache.cache[self._file] = (len(source), None, lines, self._file)

    def __call__(self, *args: Any) -> Any:
        """Return the function's result; a coroutine is run to its end in a loop of its own.

        Call it where Ctrl-C does not arrive, in a thread or a process of its own: whatever is
        raised counts as raised by the snippet.

        Args:
            args: passed by position, as many as the function accepts.

        Raises:
            SampleError: of class `code`, naming exception, file and line. An evalmill error
                raised inside, such as a failed model call, passes as it is.
        """
        function = self._load()
        try:
            returned = function(*args[: self._arity])
            if inspect.isawaitable(returned):
                return run_coroutine(_awaited(returned))
            return returned
        except GivenUp:
            raise
        except BaseException as error:  # SystemExit, even KeyboardInterrupt: Ctrl-C never gets here
            raise self._placed(error) from error

    def _load(self) -> Callable[..., Any]:
        with self._lock:
            if self._failure:
                raise type(self._failure)(*self._failure.args)
            if self._loaded is None:
                try:
                    self._loaded = self._run_module()
                    self._arity = _arity(self._loaded)
                except GivenUp:  # it would hang again
                    words = "running the snippet's module did not end in time"
                    self._failure = SampleError("code", words, self.place)
                    raise
                except BaseException as error:
                    self._failure = self._placed(error)
                    raise self._failure from error
            return self._loaded

    def _run_module(self) -> Callable[..., Any]:
        if "latticeflow" in self.source:
            compat.install()
        module = ModuleType(self._module_name)
        module.__file__ = self._file
        sys.modules[self._module_name] = module  # dataclasses look their module up by name
        exec(self._compile(), module.__dict__)
        function: Callable[..., Any] = getattr(module, self.function)
        return function

    def _compile(self) -> CodeType:
        padded = "\n" * (self._first_line - 1) + self.source
        return compile(padded, self._file, "exec", dont_inherit=True)

    def _placed(self, error: BaseException) -> EvalmillError:
        if isinstance(error, EvalmillError):
            return error
        line = self._line
        traceback = error.__traceback__
        while traceback:
            if traceback.tb_frame.f_code.co_filename == self._file:
                line = traceback.tb_lineno
            traceback = traceback.tb_next
        words = redact(f"{type(error).__name__}: {error}")  # a secret cut in two would show
        problem = bounded(words, self.message_limit)
        return SampleError("code", problem, f"{self._file}:{line}")


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


@lru_cache(maxsize=1024)
def load_snippet(source: str, function: str) -> Snippet:
    """Return the snippet of `source` whose `function` will be called; one per text and name.

    Raises:
        ValueError: `source` is not Python or does not define `function`.
    """
    return Snippet(source, function)


def SnippetSource(function: str) -> Any:
    """Return the type of snippet text that must define `function`; checked when loaded.

    Config placeholders may stand in the text, or be all of it.
    """

    def checked(source: str) -> str:
        if not is_placeholder(source):
            _definition(neutralised(source), function, _origins.get(source))
        return source

    return Annotated[str, AfterValidator(checked)]


def _definition(
    source: str, function: str, origin: Origin | None
) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The definition of a function, the last of that name.

    Raises:
        ValueError: there is none, or `source` is not Python.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        line = error.lineno or 1
        place = f"{origin.path}:{origin.first_line - 1 + line}" if origin else f"line {line}"
        raise ValueError(f"snippet is not Python: {place}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"snippet is not Python: {error}") from error
    found = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if function not in found:
        known = ", ".join(found) or "no function"
        raise ValueError(f"snippet defines {known}; define '{function}' at its top level")
    return found[function]


def _arity(function: Callable[..., Any]) -> int | None:
    """Return how many positional arguments `function` takes; None when any number."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in parameters)

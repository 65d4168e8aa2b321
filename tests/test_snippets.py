"""Snippets: checked without running, called with what they accept, errors placed."""

import sys
import traceback
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.snippets import SnippetSource, load_snippet, remember_origin

FAILS = "def f(sample):\n    return sample['x'] / 0\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("def f(): return ()", (), id="no argument"),
        pytest.param("def f(a): return (a,)", (1,), id="the first"),
        pytest.param("def f(a, b=9): return (a, b)", (1, 2), id="defaults are filled"),
        pytest.param("def f(*args): return args", (1, 2, 3), id="all"),
        pytest.param("def f(a, *, k=5): return (a, k)", (1, 5), id="keywords are left alone"),
        pytest.param("async def f(a, b): return (a, b)", (1, 2), id="an async function"),
        pytest.param("def f(): return 0\ndef f(a): return (a,)", (1,), id="the last definition"),
    ],
)
def test_a_snippet_gets_as_many_arguments_as_it_accepts(source: str, expected: tuple[int, ...]):
    snippet = load_snippet(source, "f")
    assert snippet(1, 2, 3) == expected


def test_the_module_runs_once_and_late():
    load_snippet("raise RuntimeError('must not run')\ndef f(): pass", "f")
    snippet = load_snippet("calls = []\ndef f():\n    calls.append(1)\n    return len(calls)", "f")
    assert [snippet(), snippet()] == [1, 2]
    assert load_snippet(snippet.source, "f") is snippet


def test_an_included_snippet_names_its_file_and_line(tmp_path: Path):
    file = tmp_path / "scores.py"
    file.write_text(FAILS)
    remember_origin(FAILS, file)
    with pytest.raises(SampleError) as caught:
        load_snippet(FAILS, "f")({"x": 1})
    assert caught.value.error_class == "code"
    assert str(caught.value) == f"{file}:2: ZeroDivisionError: division by zero"
    shown = "".join(traceback.format_exception(caught.value.__cause__))
    assert "return sample['x'] / 0" in shown


def test_an_inline_snippet_names_the_yaml_line(tmp_path: Path):
    source = "def f():\n    return {}['k']\n"
    file = tmp_path / "task.yaml"
    remember_origin(source, file, first_line=7)
    with pytest.raises(SampleError, match=r"task\.yaml:8: KeyError: 'k'"):
        load_snippet(source, "f")()


def test_a_snippet_of_unknown_origin_shows_its_lines():
    with pytest.raises(SampleError, match=r"<f [0-9a-f]{12}>:3: ValueError: no") as caught:
        load_snippet(
            "def g():\n    # unknown origin\n    raise ValueError('no')\nf = g\n" + "def f(): g()",
            "f",
        )()
    shown = "".join(traceback.format_exception(caught.value.__cause__))
    assert "raise ValueError('no')" in shown


@pytest.mark.parametrize("prefix", ["", "async "])
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("raise KeyError('k')", "KeyError: 'k'"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
        ("raise RecursionError", "RecursionError"),
        ("raise ValueError('x' * 10000)", "ValueError: xx"),
    ],
)
def test_whatever_a_snippet_raises_is_a_code_error(prefix: str, body: str, problem: str):
    snippet = load_snippet(f"{prefix}def f():\n    {body}", "f")
    with pytest.raises(SampleError) as caught:
        snippet()
    assert caught.value.error_class == "code"
    assert caught.value.problem.startswith(problem)
    assert len(str(caught.value)) < 400
    assert caught.value.where.endswith(":2")


def test_missing_arguments_are_placed_at_the_function():
    with pytest.raises(SampleError, match=r":2: TypeError: f\(\) missing 1 required"):
        load_snippet("\ndef f(a, b): pass", "f")(1)


def test_a_failing_import_is_reported_on_every_call():
    snippet = load_snippet("import no_such_module\ndef f(): pass", "f")
    for _ in range(2):
        with pytest.raises(SampleError, match=":1: ModuleNotFoundError: No module named"):
            snippet()


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt"])
def test_a_module_that_ends_the_process_is_reported_on_every_call(error: str):
    snippet = load_snippet(f"raise {error}\ndef f(): pass", "f")
    for _ in range(2):
        with pytest.raises(SampleError, match=f":1: {error[:10]}"):
            snippet()


def test_errors_of_ours_pass_through_a_snippet_unchanged():
    source = "from tasks_lib.errors import SampleError\ndef f(): raise SampleError('infra', 'down')"
    with pytest.raises(SampleError, match="down") as caught:
        load_snippet(source, "f")()
    assert caught.value.error_class == "infra"


def test_snippets_import_our_types_under_their_old_names_and_any_package():
    source = (
        "import numpy as np\nfrom latticeflow.core.dtypes import Trace\n"
        "from latticeflow.assessment.dtypes import Trace as Older\n"
        "def f(values): return float(np.mean(values)), Trace is Older"
    )
    assert load_snippet(source, "f")([1, 2]) == (1.5, True)


def test_dataclasses_work_in_snippets():
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass P:\n    x: int\ndef f(): return P(1)"
    )
    point = load_snippet(source, "f")()
    assert point.x == 1
    assert type(point).__module__ in sys.modules


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:\n  pass", "snippet is not Python: line 1: "),
        ("x = 1", "defines no function; define 'f'"),
        ("def g(): pass\nclass C:\n  def f(self): pass", "defines g; define 'f'"),
        ("\0", "snippet"),
    ],
)
def test_bad_snippets_are_refused_at_load(source: str, message: str):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(SnippetSource("f")).validate_python(source)
    with pytest.raises(ValueError, match=message):
        load_snippet(source, "f")


def test_a_syntax_error_of_an_included_file_names_it(tmp_path: Path):
    source = "x = '<< config.a >>'\ndef f(:"
    remember_origin(source, tmp_path / "bad.py", first_line=3)
    with pytest.raises(ValidationError, match=r"bad\.py:4: "):
        TypeAdapter(SnippetSource("f")).validate_python(source)


@pytest.mark.parametrize(
    "source", ["<< config.code >>\n", "def f(): return '<< config.field >>' == << config.n >>"]
)
def test_placeholders_may_stand_in_a_snippet(source: str):
    assert TypeAdapter(SnippetSource("f")).validate_python(source) == source

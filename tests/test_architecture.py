"""What must stay true of the house: directions, sizes, late imports, documented names."""

import ast
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest

import flows
import tasks_lib
from tasks_lib.base import Definition
from tasks_lib.loading.schema import key_descriptions

REPOSITORY = Path(__file__).parents[1]
CATALOG = REPOSITORY / "tasks_lib/catalog"  # task files with authors' snippets, no modules
MAX_LINES = 300

# From the top of the house to its ground; a room may import its own layer and those below.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("flows",),
    ("report",),
    ("steps",),
    ("runs",),
    ("plan",),
    ("results",),
    ("resolve",),
    ("loading", "config"),
    (
        "actions",
        "definitions",
        "metrics",
        "models",
        "scorers",
        "solvers",
        "sources",
        "system_tasks",
        "trials",
    ),
    ("filters",),
    ("isolation",),
    ("compat", "placeholders", "snippets", "statistics", "templates", "trace"),
    ("streams", "timelimit"),
    ("base", "errors", "exit_codes", "home", "jsontext", "keys", "samples", "secrets"),
)
DEPTH = {room: depth for depth, rooms in enumerate(LAYERS) for room in rooms}

HEAVY = frozenset({"openai", "pyarrow", "pandas", "numpy", "scipy", "prefect", "llama_cpp"})
DESCRIPTORS = (property, classmethod, staticmethod)
UNIONS = {
    "solvers": "Solver",
    "scorers": "Scorer",
    "metrics": "Metric",
    "sources": "Source",
    "models.connections": "Connection",
}


@dataclass(frozen=True)
class Import:
    """One imported module, as one line of a file says it."""

    module: str
    line: int
    late: bool
    """Inside a function."""
    for_types: bool
    """Under `if TYPE_CHECKING:`."""


@dataclass(frozen=True)
class Source:
    """A module of ours as it is written."""

    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def room(self) -> str:
        """Its place in `LAYERS`: `flows`, or the part of tasks_lib it belongs to."""
        package, *rest = self.name.split(".")
        return rest[0] if package == "tasks_lib" and rest else package

    def place(self, line: int) -> str:
        return f"{self.path.relative_to(REPOSITORY)}:{line}"


@cache
def sources() -> dict[str, Source]:
    """Every module of the packages, by its name."""
    paths = {
        ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__"): path
        for package in ("tasks_lib", "flows")
        for path in sorted((REPOSITORY / package).rglob("*.py"))
        if CATALOG not in path.parents
    }
    found = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        found[name] = Source(name, path, tree, tuple(imports_of(tree, paths.keys())))
    return found


def imports_of(tree: ast.Module, known: Any) -> Iterator[Import]:
    """Yield what a module imports; `from package import module` counts as the module."""

    def visit(node: ast.AST, late: bool, for_types: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(alias.name, child.lineno, late, for_types)
            elif isinstance(child, ast.ImportFrom):
                for alias in child.names:
                    whole = f"{child.module}.{alias.name}"
                    module = whole if whole in known else str(child.module)
                    yield Import(module, child.lineno, late, for_types)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield from visit(child, True, for_types)
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                yield from visit(child, late, True)
            else:
                yield from visit(child, late, for_types)

    return visit(tree, False, False)


def is_ours(module: str) -> bool:
    return module.partition(".")[0] in {"tasks_lib", "flows"}


def test_every_room_has_a_layer() -> None:
    rooms = {source.room for source in sources().values()} - {"tasks_lib"}
    assert rooms - DEPTH.keys() == set(), "name the room in LAYERS"


def test_rooms_import_their_own_layer_or_one_below() -> None:
    wrong = [
        f"{source.place(used.line)} {source.room} imports {used.module}"
        for source in sources().values()
        for used in source.imports
        if used.module in sources()
        and sources()[used.module].room != "tasks_lib"
        and DEPTH[sources()[used.module].room] < DEPTH[source.room]
    ]
    assert wrong == []


def test_no_import_cycles() -> None:
    # Names needed for annotations alone are apart: a descriptor and its owner know each other.
    graph = {
        source.name: {u.module for u in source.imports if is_ours(u.module) and not u.for_types}
        for source in sources().values()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_modules_of_ours_are_imported_at_the_top() -> None:
    # A command of the CLI imports what it needs when it is called, to start fast.
    wrong = [
        f"{source.place(used.line)} {used.module}"
        for source in sources().values()
        for used in source.imports
        if used.late and is_ours(used.module) and source.room != "flows"
    ]
    assert wrong == []


def test_heavy_packages_are_imported_late_in_the_library() -> None:
    wrong = [
        f"{source.place(used.line)} {used.module}"
        for source in sources().values()
        for used in source.imports
        if source.room != "flows"
        and used.module.partition(".")[0] in HEAVY
        and not (used.late or used.for_types)
    ]
    assert wrong == []


def test_the_library_never_imports_prefect() -> None:
    wrong = [
        source.place(used.line)
        for source in sources().values()
        for used in source.imports
        if source.room != "flows" and used.module.partition(".")[0] == "prefect"
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("imported", "allowed"),
    [
        ("jinja2", {"tasks_lib.templates", "tasks_lib.templates.sandbox"}),
        ("typer", {"flows.cli"}),
    ],
)
def test_some_packages_have_a_single_home(imported: str, allowed: set[str]) -> None:
    wrong = [
        source.place(used.line)
        for source in sources().values()
        for used in source.imports
        if used.module.partition(".")[0] == imported
        and not any(source.name == home or source.name.startswith(home + ".") for home in allowed)
    ]
    assert wrong == []


@pytest.mark.parametrize("entry", ["tasks_lib", "flows.cli"])
def test_importing_it_loads_nothing_heavy(entry: str) -> None:
    names = [entry] if entry != "tasks_lib" else [n for n in sources() if not n.startswith("flows")]
    script = (
        "import importlib, json, sys\n"
        "for name in json.loads(sys.argv[1]): importlib.import_module(name)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(names)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert HEAVY & set(json.loads(done.stdout)) == set()


def test_modules_hold_one_concept_each() -> None:
    long = {
        str(path.relative_to(REPOSITORY)): lines
        for folder in ("tasks_lib", "flows", "tests")
        for path in (REPOSITORY / folder).rglob("*.py")
        if not path.name.startswith("test_")
        and (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert long == {}


def test_no_python_beside_the_data() -> None:
    # `datasets` is also the name of a package that may be installed.
    assert list((REPOSITORY / "datasets").rglob("*.py")) == []


def members(union: Any) -> set[type]:
    """The classes of a (nested, annotated) union."""
    if isinstance(union, type):
        return {union}
    parts = get_args(union)[:1] if get_origin(union) is Annotated else get_args(union)
    return set().union(*map(members, parts))


def has_own_tag(value: type) -> bool:
    """Whether a class says `type: Literal[...]` (or `connection_type`) of its own."""
    own = inspect.get_annotations(value)
    return any(get_origin(own.get(tag)) is Literal for tag in ("type", "connection_type"))


@pytest.mark.parametrize(("package", "union"), UNIONS.items())
def test_every_member_is_listed_in_its_union(package: str, union: str) -> None:
    home = f"tasks_lib.{package}"
    listed = members(getattr(importlib.import_module(home), union))
    shared = set.intersection(*(set(member.__mro__) for member in listed))
    bases = tuple(shared - listed - set(Definition.__mro__)) or (Definition,)
    written = {
        value
        for module in modules()
        if module.__name__.startswith(home + ".")
        for value in vars(module).values()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and issubclass(value, bases)
        and has_own_tag(value)
    }
    assert written == listed


def modules() -> Iterator[ModuleType]:
    for package in (tasks_lib, flows):
        yield package
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not info.name.endswith("__main__"):
                yield importlib.import_module(info.name)


def promised() -> set[str]:
    """Names of methods that protocols document for all who keep them."""
    return {
        attribute
        for module in modules()
        for value in vars(module).values()
        if inspect.isclass(value) and getattr(value, "_is_protocol", False)
        for attribute in vars(value)
        if inspect.getdoc(getattr(value, attribute))
    }


def public_members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield public classes, functions and methods that are written in a module."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value):
            yield f"{module.__name__}.{name}", value
            for attribute, member in vars(value).items():
                said = inspect.isfunction(member) or isinstance(member, DESCRIPTORS)
                if said and not attribute.startswith("_"):
                    yield f"{module.__name__}.{name}.{attribute}", getattr(value, attribute)
        elif inspect.isfunction(value):
            yield f"{module.__name__}.{name}", value


def test_public_names_are_documented() -> None:
    kept = promised()
    bare = [
        name
        for module in modules()
        for name, value in public_members(module)
        if not inspect.getdoc(value) and name.rpartition(".")[2] not in kept
    ]
    assert not bare, "\n".join(["no docstring:", *bare])


def test_what_may_be_written_in_yaml_is_documented() -> None:
    # These texts are what an editor shows.
    bare = [
        f"{value.__module__}.{value.__name__}.{name}"
        for module in modules()
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Definition)
        and value.__module__ == module.__name__
        for name in value.model_fields.keys() - key_descriptions(value).keys()
        if name not in {"type", "connection_type"}
    ]
    assert not bare, "\n".join(["no description:", *bare])

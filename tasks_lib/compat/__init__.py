"""The import names that authors' snippets use for our types."""

import sys
from types import ModuleType

from tasks_lib.compat import dtypes

_modules: dict[str, ModuleType] = {
    "latticeflow.core.dtypes": dtypes,
    "latticeflow.assessment.dtypes": dtypes,
    "latticeflow.bindings.open_responses.models": dtypes,
}


def provide(name: str, module: ModuleType) -> None:
    """Let `install` make `module` importable as `name`, too."""
    _modules[name] = module


def install() -> None:
    """Make `from latticeflow.core.dtypes import Trace` and its older spellings work.

    They give our own types, whatever else of that name is installed: an object of a
    stranger's `Trace` could not be stored or scored here. Calling it again changes nothing.
    """
    for name, module in _modules.items():
        parent, _, last = name.rpartition(".")
        setattr(_package(parent), last, module)
        sys.modules[name] = module


def _package(name: str) -> ModuleType:
    """Return the package `name`, made together with its parents where there is none."""
    package = sys.modules.get(name)
    if package is None:
        package = ModuleType(name, "Import names kept for authors' snippets.")
        package.__path__ = []
        sys.modules[name] = package
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(_package(parent), last, package)
    return package


def modules_named_in(source: str) -> list[str]:
    """Return our modules that stand behind the names a snippet uses, so as to import no others."""
    return list({module.__name__: None for name, module in _modules.items() if name in source})

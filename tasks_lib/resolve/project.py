"""The project around a file: which of its YAML files define which keys."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import yaml

import tasks_lib
from tasks_lib.loading.files import UnreadableError, project_of, read_text
from tasks_lib.loading.kinds import Kind, kind_of

_FOLDERS = ("datasets", "tasks", "models", "adapters", "model_adapters")
_CATALOG = Path(tasks_lib.__file__).parent / "catalog"
_TOP_LEVEL = re.compile(r"^([A-Za-z_]\w*):(.*)$", re.MULTILINE)


class Project:
    """Finds the file that defines a key; looks at files only when first asked.

    Files beside the given one come first, then the folders `datasets`, `tasks`, `models`,
    `adapters` beside it and in each folder above within the project, then those of the
    working directory, then the catalog that ships with evalmill.

    Args:
        file: the absolute path of the file everything starts from.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def find(self, kind: Kind, key: str) -> Path | None:
        """Return the nearest file that defines `key`; None when there is none."""
        return self._index.get((kind, key))

    def keys(self, kind: Kind) -> list[str]:
        """Return the keys of this kind that the project defines."""
        return [key for known, key in self._index if known == kind]

    @cached_property
    def _index(self) -> dict[tuple[Kind, str], Path]:
        index: dict[tuple[Kind, str], Path] = {}
        for path in dict.fromkeys(self._files()):
            found = _identify(path)
            if found:
                index.setdefault(found, path)
        return index

    def _files(self) -> Iterator[Path]:
        yield from _yaml_files(self._file.parent, self._file.parent.glob("*"))
        for root in self._roots():
            for folder in _FOLDERS:
                yield from _yaml_files(root, (root / folder).rglob("*"))
        yield from _yaml_files(_CATALOG, _CATALOG.rglob("*"))

    def _roots(self) -> Iterator[Path]:
        project = project_of(self._file)
        yield from (root for root in self._file.parents if root.is_relative_to(project))
        yield Path.cwd()


def _yaml_files(root: Path, paths: Iterable[Path]) -> list[Path]:
    """Return those of `paths` that are YAML and, links followed, inside of `root`."""
    real = root.resolve()
    found = (path.resolve() for path in paths if path.suffix in (".yaml", ".yml"))
    return sorted(path for path in found if path.is_relative_to(real))


def _identify(path: Path) -> tuple[Kind, str] | None:
    """Tell kind and key from the keys at the left margin, without parsing the file."""
    try:
        fields = dict(_TOP_LEVEL.findall(read_text(path)))
        key = yaml.safe_load(fields.get("key", ""))
    except (UnreadableError, yaml.YAMLError):
        return None  # whoever names this file will be told what is wrong with it
    return (kind_of(fields), key) if isinstance(key, str) else None

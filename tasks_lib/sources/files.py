"""Rows of several files, one file after the other."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from pathlib import Path

from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.samples import Sample
from tasks_lib.sources.base import Rows, digest
from tasks_lib.sources.ids import all_differ
from tasks_lib.sources.local import FileRows, LocalSource


class RowsOfFiles(Rows):
    """The rows of several files, in the order given.

    Ids are those of the `sample_id` columns where these tell the rows of all files apart; else
    each follows the name of its file: `night/17`.

    Args:
        files: at least one; each is read through once.

    Raises:
        DefinitionErrors: all that is wrong with the files, naming file and line.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = _opened(files)
        self.columns = tuple(dict.fromkeys(name for rows in self._files for name in rows.columns))
        *self._starts, self._length = accumulate(map(len, self._files), initial=0)
        stems = [file.stem for file in files]
        self._names = stems if len(set(stems)) == len(stems) else [file.name for file in files]
        named = [rows.ids for rows in self._files if rows.ids is not None]
        all_named = len(named) == len(self._files) and all_differ(named)
        self._prefixed = len(files) > 1 and not all_named

    def __len__(self) -> int:
        return self._length

    def take(self, places: Sequence[int]) -> list[Sample]:
        taken: list[Sample] = []
        for number, some in groupby(places, lambda place: bisect_right(self._starts, place) - 1):
            wanted = list(some)
            start = self._starts[number]
            samples = self._files[number].take([place - start for place in wanted])
            prefix = f"{self._names[number]}/" if self._prefixed else ""
            taken += [
                replace(sample, id=f"{prefix}{sample.id}", index=place)
                for place, sample in zip(wanted, samples, strict=True)
            ]
        return taken

    def fingerprint(self) -> str:
        parts = zip(self._names, (rows.fingerprint() for rows in self._files), strict=True)
        return digest("files", *(text for part in parts for text in part))


def _opened(files: Sequence[Path]) -> list[FileRows]:
    opened: list[FileRows] = []
    problems: list[DefinitionError] = []
    for file in files:
        try:
            opened.append(LocalSource(file_path=str(file)).open(file))
        except DefinitionErrors as error:
            problems += error.problems
        except DefinitionError as error:
            problems.append(error)
    if problems:
        raise DefinitionErrors(problems)
    return opened

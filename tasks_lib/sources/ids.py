"""Sample ids: the `sample_id` column, checked for holes and repeats without keeping it."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tasks_lib.errors import DefinitionError, DefinitionErrors

ID_COLUMN = "sample_id"
_HOLE = 0
_MOST_REPORTED = 20
_SHARE = 100_000


def id_text(value: Any) -> str | None:
    """Return a cell of the id column as text; None where it holds no id (null, empty, nested)."""
    if isinstance(value, bool | float) or not isinstance(value, str | int):
        return repr(value) if isinstance(value, float) and value == value else None
    return str(value) or None


class IdIndex:
    """One 64-bit hash per row of a file: enough to find repeats, small for a million rows."""

    def __init__(self) -> None:
        self.hashes = array("q")

    def add(self, value: Any) -> None:
        """Take the next row's `sample_id`, None where the row has none."""
        text = id_text(value)
        self.hashes.append(_HOLE if text is None else hash(text) or 1)

    def settle(
        self,
        positions: Sequence[int],
        read_ids: Callable[[list[int]], list[Any]],
        place: Callable[[int], str],
    ) -> bool:
        """Tell whether the id column names the rows at `positions`; False when it has holes.

        Args:
            positions: rows of the file that are used.
            read_ids: reads `sample_id` at some positions.
            place: names a position as `file:line`.

        Raises:
            DefinitionError: two rows have the same id.
        """
        hashes = array("q", map(self.hashes.__getitem__, positions))
        if _HOLE in hashes:
            return False
        if _has_repeats(hashes):
            _refuse_repeats(hashes, positions, read_ids, place)
        return True


def all_differ(indexes: Iterable[IdIndex]) -> bool:
    """Tell whether no id of several files, all of whose rows have one, is there twice."""
    return not _has_repeats(array("q", (number for index in indexes for number in index.hashes)))


def _has_repeats(hashes: "array[int]") -> bool:
    """Look at a share of the hashes at a time: a set of all would outweigh everything else."""
    shares = 1 + len(hashes) // _SHARE
    for share in range(shares):
        some = [number for number in hashes if number % shares == share]
        if len(set(some)) < len(some):
            return True
    return False


def _refuse_repeats(
    hashes: "array[int]",
    positions: Sequence[int],
    read_ids: Callable[[list[int]], list[Any]],
    place: Callable[[int], str],
) -> None:
    alike: defaultdict[int, list[int]] = defaultdict(list)
    for position, number in zip(positions, hashes, strict=True):
        alike[number].append(position)
    problems = []
    for group in alike.values():
        first: dict[str | None, int] = {}
        texts = map(id_text, read_ids(group)) if len(group) > 1 else ()
        for position, text in zip(group, texts, strict=False):
            if text in first:
                problems.append(_repeated(text, place(first[text]), place(position)))
            first.setdefault(text, position)
        if len(problems) >= _MOST_REPORTED:
            break
    if problems:
        raise DefinitionErrors(problems[:_MOST_REPORTED])


def _repeated(text: str | None, first: str, second: str) -> DefinitionError:
    return DefinitionError(
        f"{ID_COLUMN} '{text}' is there twice, first at {first}",
        second,
        "give every row its own id, or leave the column out",
    )

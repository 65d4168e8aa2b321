"""What an author's snippet returned, read as a score."""

import sys
from collections.abc import Mapping
from typing import Any

from tasks_lib.errors import SampleError, bounded
from tasks_lib.scorers.score import Score

_MOST_BITS = sys.float_info.max_exp  # beyond is no float, and further on no text either
_WRAPPED = frozenset({"scores", "metadata"})


def read_score(returned: Any, where: str) -> Score:
    """Return the score in `returned`: a mapping of scores, or `{"scores": …, "metadata": …}`.

    It is the second form when `scores` is a mapping and no other key but `metadata` stands
    beside it. Numpy values become plain ones; a NaN stays and counts as not scored.

    Args:
        returned: what the snippet gave.
        where: the snippet's name for messages, such as `compute_scores`.

    Raises:
        SampleError: of class `code`: it is neither form, or holds something JSON can't.
    """
    try:
        return _read(returned, where)
    except RecursionError:
        raise _wrong(
            f"{where} returned something nested without end", "return flatter values"
        ) from None


def _read(returned: Any, where: str) -> Score:
    if not isinstance(returned, Mapping):
        raise _wrong(
            f"{where} returned {_shown(returned)}",
            'return a dict of scores, or {"scores": {...}, "metadata": {...}}',
        )
    if isinstance(returned.get("scores"), Mapping) and returned.keys() <= _WRAPPED:
        metadata = returned.get("metadata")
        if not isinstance(metadata, Mapping | None):
            raise _wrong(f"{where} returned metadata {_shown(metadata)}", "make it a dict")
        return Score(
            values=_plain(returned["scores"], f"{where}: scores"),
            metadata=None if metadata is None else _plain(metadata, f"{where}: metadata"),
        )
    return Score(values=_plain(returned, where))


def _plain(value: Any, path: str) -> Any:
    """Return `value` as plain JSON; `path` names it in messages."""
    if value is None or type(value) in (bool, float, str):
        return value
    if type(value) is int:
        if value.bit_length() > _MOST_BITS:
            raise _wrong(f"{path} is an integer of {value.bit_length():,} bits", "return less")
        return value
    if isinstance(value, Mapping):
        return {_name(key, path): _plain(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return _plain(value.tolist(), path)
    for plain in (str, bool, int, float):
        if isinstance(value, plain):  # such as the member of a string enum
            return _plain(plain(value), path)
    raise _wrong(f"{path} is {_shown(value)}", "return booleans, numbers, strings, lists or dicts")


def _name(key: Any, path: str) -> str:
    if isinstance(key, str):
        return str(key)
    raise _wrong(f"{path} has the key {_shown(key)}", "use strings as keys")


def _shown(value: Any) -> str:
    return "None" if value is None else f"{bounded(repr(value), 80)} ({type(value).__name__})"


def _wrong(problem: str, fix: str) -> SampleError:
    return SampleError("code", problem, fix=fix)

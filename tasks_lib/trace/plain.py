"""Between typed views and the plain JSON they show."""

from enum import StrEnum
from typing import Any


class View:
    """Shows a plain JSON object, which is the truth."""

    __slots__ = ("_data", "_unset", "_views")

    _data: dict[str, Any]
    _unset: frozenset[str]
    """Keys of `_data` that nobody gave: their defaults were filled in."""
    _views: dict[str, Any] | None
    """Views of nested values by key, once looked at."""

    def _store(self, name: str, raw: Any) -> None:
        """Set a member of the JSON object; views of the old value are let go."""
        if self._views:
            self._views.pop(name, None)
        self._claim(name, raw)

    def _claim(self, name: str, raw: Any) -> None:
        """Set a member of the JSON object to what its view already shows."""
        self._data[name] = raw
        if name in self._unset:
            self._unset -= {name}


def raw_of(value: Any) -> Any:
    """Return the JSON object behind a record; any other value as it is."""
    return value._data if isinstance(value, View) else value


def plain(value: Any) -> Any:
    """Return `value` with every record in it replaced by its JSON object; copies containers."""
    if isinstance(value, View):
        return value._data
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return str(value) if isinstance(value, StrEnum) else value


def copy_json(value: Any) -> Any:
    """Return an independent copy of plain JSON `value`; anything else is shared."""
    if type(value) is dict:
        return {key: copy_json(member) for key, member in value.items()}
    if type(value) is list:
        return [copy_json(member) for member in value]
    return value


def detached(value: Any) -> Any:
    """Return a plain JSON copy of `value` that shares nothing with it."""
    return copy_json(plain(value))

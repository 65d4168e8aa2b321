"""The keys of a record: how their JSON is read and what may be written to them."""

from abc import ABC, abstractmethod
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, Generic, Self, TypeVar, overload

from tasks_lib.trace.plain import View, plain

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

REQUIRED: Final = object()
"""Default of a field that has none."""


class Field(ABC, Generic[T]):
    """One key of a record's JSON object, seen as a `T`.

    Subclasses define `read`, `write` and `dump`; the value itself lives in the record's object, so
    every view of that object sees a change at once.
    """

    name: str

    def __init__(self, default: Any = REQUIRED, always_set: bool = False) -> None:
        """Declare the field.

        Args:
            default: the JSON value where none is given, or a function that makes one.
            always_set: count the key as set even where it was only defaulted, because a
                dump without it would say less.
        """
        self.default = default
        self.always_set = always_set

    @property
    def required(self) -> bool:
        """Whether the key must be given."""
        return self.default is REQUIRED

    def default_json(self) -> Any:
        """Return a fresh default, as JSON."""
        return self.default() if callable(self.default) else self.default

    @abstractmethod
    def read(self, record: View, raw: Any) -> T:
        """Return what `record`'s attribute shows for the JSON value `raw`."""

    @abstractmethod
    def write(self, value: Any, where: str) -> Any:
        """Return the JSON form of `value`.

        Raises:
            ValueError: `value` is not what the field holds; the message starts with `where`.
        """

    def adopt(self, record: View, value: Any) -> None:
        """Let `record` show the very records inside `value`, which was just written."""

    @abstractmethod
    def dump(self, record: View, exclude_unset: bool) -> Any:
        """Return an independent JSON copy of the field's value in `record`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: View, owner: type) -> T: ...
    def __get__(self, record: View | None, owner: type) -> Self | T:
        if record is None:
            return self
        try:
            raw = record._data[self.name]
        except KeyError:
            if self.required:
                raise AttributeError(f"{owner.__name__} has no '{self.name}'") from None
            raw = self.default_json()
        return self.read(record, raw)

    def __set__(self, record: View, value: Any) -> None:
        record._store(self.name, self.write(value, f"{type(record).__name__}.{self.name}"))
        self.adopt(record, value)


class Plain(Field[T]):
    """A JSON value of the given Python types, kept as it is; booleans are not numbers."""

    def __init__(self, *kinds: type, default: Any = REQUIRED, always_set: bool = False) -> None:
        super().__init__(default, always_set)
        self.kinds = kinds

    def read(self, record: View, raw: Any) -> T:
        value: T = raw
        return value

    def write(self, value: Any, where: str) -> Any:
        wrong_bool = isinstance(value, bool) and bool not in self.kinds
        if self.kinds and (wrong_bool or not isinstance(value, self.kinds)):
            known = " or ".join(_JSON_NAMES[kind] for kind in self.kinds)
            raise ValueError(f"{where}: {value!r:.80} is not {known}")
        return str(value) if isinstance(value, StrEnum) else value

    def dump(self, record: View, exclude_unset: bool) -> Any:
        return plain(getattr(record, self.name))


_JSON_NAMES: dict[type, str] = {
    str: "text",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def string(default: Any = REQUIRED, always_set: bool = False) -> Plain[str]:
    """Declare a text."""
    return Plain(str, default=default, always_set=always_set)


def maybe(kind: type[T], *kinds: type) -> Plain[T | None]:
    """Declare a value of `kind` that is null unless given."""
    return Plain(kind, *kinds, type(None), default=None)


def plain_map(default: Any = REQUIRED) -> Plain[dict[str, Any]]:
    """Declare a JSON object whose members are not looked into."""
    return Plain(dict, default=default)


class Json(Plain[Any]):
    """Any JSON value; records inside it are written as their JSON objects."""

    def __init__(self, default: Any = REQUIRED) -> None:
        super().__init__(default=default)

    def write(self, value: Any, where: str) -> Any:
        return plain(value)


class Constant(Plain[str]):
    """The one text a key may hold, such as a type tag."""

    def __init__(self, value: str, always_set: bool = False) -> None:
        super().__init__(str, default=value, always_set=always_set)

    def write(self, value: Any, where: str) -> Any:
        if value != self.default:
            raise ValueError(f"{where}: {value!r:.80} is not '{self.default}'")
        return self.default


class Choice(Field[E]):
    """A text out of an enumeration."""

    def __init__(self, choices: type[E], default: Any = REQUIRED) -> None:
        super().__init__(default)
        self.choices = choices

    def read(self, record: View, raw: Any) -> E:
        return self.choices(raw)

    def write(self, value: Any, where: str) -> Any:
        try:
            return self.choices(value).value
        except ValueError:
            known = ", ".join(self.choices)
            raise ValueError(f"{where}: {value!r:.80} is none of {known}") from None

    def dump(self, record: View, exclude_unset: bool) -> Any:
        return record._data.get(self.name, self.default)


class Timestamp(Field[datetime | None]):
    """A moment, null unless given; ISO 8601 text in JSON, Unix seconds are taken too."""

    def __init__(self) -> None:
        super().__init__(None)

    def read(self, record: View, raw: Any) -> datetime | None:
        return datetime.fromisoformat(raw) if isinstance(raw, str) else None

    def write(self, value: Any, where: str) -> Any:
        if value is None:
            return None
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).isoformat()
        try:
            datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise ValueError(f"{where}: {value!r:.80} is not an ISO 8601 time") from None
        return value

    def dump(self, record: View, exclude_unset: bool) -> Any:
        return record._data.get(self.name)

"""Fields whose JSON holds further records, and the lists that keep such JSON in step."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from operator import is_
from typing import Any, Generic, Protocol, SupportsIndex, TypeVar, get_args

from tasks_lib.trace.fields import REQUIRED, Field
from tasks_lib.trace.plain import View, plain, raw_of
from tasks_lib.trace.record import Record

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Shape(Protocol[R_co]):
    """What a nested value may be: a record class, or a choice between some."""

    def view(self, data: Any, /) -> R_co:
        """Return the typed view of the JSON value `data`."""

    def accept(self, value: Any, where: str, /) -> Any:
        """Return the JSON value of `value`; a ValueError starting with `where` if unfit."""


class Tagged(Generic[R]):
    """One of several record classes, told apart by the text under `type`.

    Args:
        union: the classes, each with a constant `type`.
        telling: keys that tell the type of an object which does not say it, the first one
            found deciding; dumps leave a type out that was only defaulted.
    """

    def __init__(self, union: Any, telling: Mapping[str, str] | None = None) -> None:
        self.classes: dict[str, Shape[R]] = {
            record.model_fields["type"].default: record for record in get_args(union)
        }
        self.telling = telling or {}

    def view(self, data: Any) -> R:
        return self.classes[data["type"]].view(data)

    def accept(self, value: Any, where: str) -> Any:
        data = raw_of(value)
        if not isinstance(data, dict):
            raise ValueError(f"{where}: {value!r:.80} is not an object")
        tag = self.type_of(data)
        shape = self.classes.get(tag) if isinstance(tag, str) else None
        if shape is None:
            known = ", ".join(self.classes)
            raise ValueError(f"{where}.type: {tag!r:.80} is none of {known}")
        if data is not value:
            return data
        accepted = shape.accept(data, where)
        return accepted if "type" in accepted else {"type": tag, **accepted}

    def type_of(self, data: dict[str, Any]) -> Any:
        """Return the type `data` says or, by its other keys, tells; None if it does neither."""
        if "type" in data:
            return data["type"]
        return next((tag for key, tag in self.telling.items() if key in data), None)


class LookedAt(Generic[R]):
    """One of several record classes, told by what an object looks like.

    Args:
        class_of: returns the class of a JSON object.
        what: names what it is, for messages.
    """

    def __init__(self, class_of: Callable[[dict[str, Any]], type[Record]], what: str) -> None:
        self.class_of = class_of
        self.what = what

    def view(self, data: dict[str, Any]) -> R:
        record: Any = self.class_of(data)
        shown: R = record.view(data)
        return shown

    def accept(self, value: Any, where: str) -> Any:
        if isinstance(value, Record):
            return value._data
        if not isinstance(value, dict):
            raise ValueError(f"{where}: {value!r:.80} is not {self.what}")
        return self.class_of(value).accept(value, where)


def _settled(change: Callable[..., Any]) -> Any:
    """Return a method that changes a list as `change` does and then brings its JSON in line."""

    @wraps(change)
    def changed(self: "RecordList[Any]", *args: Any, **options: Any) -> Any:
        result = change(self, *args, **options)
        self._settle()
        return result

    return changed


class RecordList(list[R]):
    """A list of records that writes every change through to its JSON list."""

    def __init__(
        self,
        owner: View,
        name: str,
        shape: Shape[R],
        raw: list[Any],
        known: Iterable[Any] = (),
    ) -> None:
        """Show `raw`, the list under `name` of `owner`, reusing those of the `known` records."""
        self._owner = owner
        self._name = name
        self._shape = shape
        self._raw = raw
        super().__init__(self._views(known))

    def _views(self, known: Iterable[Any]) -> Iterator[R]:
        records = {id(raw_of(value)): value for value in known}
        view = self._shape.view
        return (records[id(data)] if id(data) in records else view(data) for data in self._raw)

    def refresh(self) -> None:
        """Catch up with changes made to the JSON list itself."""
        raw = self._raw
        if len(self) == len(raw) and all(
            raw_of(value) is data for value, data in zip(self, raw, strict=True)
        ):
            return
        super().__setitem__(slice(None), list(self._views(self)))

    def _settle(self) -> None:
        """Bring the JSON list in line after a change; undo the change if it does not fit."""
        where = f"{type(self._owner).__name__}.{self._name}"
        known = {id(data) for data in self._raw}
        accept, view = self._shape.accept, self._shape.view
        raw: list[Any] = []
        seen: list[R] = []
        try:
            for place, value in enumerate(self):
                data = raw_of(value)
                if id(data) not in known:
                    data = accept(value, f"{where}[{place}]")
                raw.append(data)
                seen.append(value if isinstance(value, Record) else view(data))
        except ValueError:
            super().__setitem__(slice(None), [view(data) for data in self._raw])
            raise
        self._raw[:] = raw
        super().__setitem__(slice(None), seen)
        if (self._owner._views or {}).get(self._name) is self:
            self._owner._claim(self._name, self._raw)

    append = _settled(list.append)
    extend = _settled(list.extend)
    insert = _settled(list.insert)
    remove = _settled(list.remove)
    pop = _settled(list.pop)
    clear = _settled(list.clear)
    reverse = _settled(list.reverse)
    sort = _settled(list.sort)
    __setitem__ = _settled(list.__setitem__)
    __delitem__ = _settled(list.__delitem__)
    __iadd__ = _settled(list.__iadd__)
    __imul__ = _settled(list.__imul__)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return list, (list(self),)


class Nested(Field[Any]):
    """A record inside a record; None only where that is the default."""

    def __init__(self, shape: Shape[Any], default: Any = REQUIRED) -> None:
        super().__init__(default)
        self.shape = shape

    def read(self, record: View, raw: Any) -> Any:
        views = record._views
        if views is None:
            views = record._views = {}
        view = views.get(self.name)
        if view is None or raw_of(view) is not raw:
            view = views[self.name] = raw if raw is None else self.shape.view(raw)
        return view

    def write(self, value: Any, where: str) -> Any:
        if value is None and self.default is None:
            return None
        return self.shape.accept(value, where)

    def adopt(self, record: View, value: Any) -> None:
        if isinstance(value, Record):
            record._views = {**(record._views or {}), self.name: value}

    def dump(self, record: View, exclude_unset: bool) -> Any:
        return dump(getattr(record, self.name), exclude_unset)


def nested(shape: Shape[R]) -> Field[R]:
    """Declare a nested record."""
    return Nested(shape)


def maybe_nested(shape: Shape[R]) -> Field[R | None]:
    """Declare a nested record that is null unless given."""
    return Nested(shape, default=None)


class NestedList(Nested):
    """A list of records; None only where that is the default."""

    list_type: type[RecordList[Any]] = RecordList

    def __set__(self, record: View, value: Any) -> None:
        # `record.items += [...]` ends with the list being set to itself.
        if value is None or (record._views or {}).get(self.name) is not value:
            super().__set__(record, value)

    def read(self, record: View, raw: Any) -> Any:
        views = record._views
        if views is None:
            views = record._views = {}
        view = views.get(self.name)
        if view is not None and (view._raw is raw or self.name not in record._data):
            view.refresh()
        elif raw is None:
            view = None
        else:
            view = views[self.name] = self.list_type(record, self.name, self.shape, raw)
        return view

    def write(self, value: Any, where: str) -> Any:
        if value is None and self.default is None:
            return None
        if not isinstance(value, (list, tuple)):
            raise ValueError(f"{where}: {value!r:.80} is not a list")
        accept = self.shape.accept
        raw = [accept(member, f"{where}[{place}]") for place, member in enumerate(value)]
        return value if all(map(is_, raw, value)) and type(value) is list else raw

    def adopt(self, record: View, value: Any) -> None:
        if value is not None and record._data[self.name] is value:
            record._data[self.name] = list(value)
        if any(isinstance(member, Record) for member in value or ()):
            raw = record._data[self.name]
            views = self.list_type(record, self.name, self.shape, raw, known=value)
            record._views = {**(record._views or {}), self.name: views}


def nested_list(shape: Shape[R], default: Any = REQUIRED) -> Field[RecordList[R]]:
    """Declare a list of records."""
    return NestedList(shape, default)


def maybe_list(shape: Shape[R]) -> Field[RecordList[R] | None]:
    """Declare a list of records that is null unless given."""
    return NestedList(shape, default=None)


def dump(value: Any, exclude_unset: bool) -> Any:
    """Return the independent JSON form of a record, a list of them, or a JSON value."""
    if isinstance(value, list):
        return [dump(member, exclude_unset) for member in value]
    if isinstance(value, Record):
        return value._dump(exclude_unset)
    return plain(value)

"""Records: typed views of plain JSON objects.

The plain object is the truth. A record adds attributes, checks what is written, and keeps
no state of its own besides which keys were defaulted, so views come and go for free.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from tasks_lib.jsontext import dumps, loads
from tasks_lib.trace.fields import Field
from tasks_lib.trace.plain import View, copy_json, detached, plain

_NOTHING_UNSET: frozenset[str] = frozenset()
_new = object.__new__


class _RecordType(type):
    """Gives every record class its fields, and its instances no room for anything else."""

    model_fields: Mapping[str, Field[Any]]

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> "_RecordType":
        cls = super().__new__(mcs, name, bases, {"__slots__": (), **namespace})
        own = {key: value for key, value in namespace.items() if isinstance(value, Field)}
        cls.model_fields = {**getattr(cls, "model_fields", {}), **own}
        return cls


class Record(View, metaclass=_RecordType):
    """A JSON object seen through typed attributes; brackets work like attributes.

    The constructor takes the fields as keyword arguments, refuses unknown ones, and fills in
    defaults. Validation from data (`model_validate`) ignores unknown keys.
    """

    model_fields: ClassVar[Mapping[str, Field[Any]]]
    """The declared fields, in the order they are written."""

    def __init__(self, **values: Any) -> None:
        self._data = data = {}
        self._views = None
        unset = set()
        missing = []
        for name, field in self.model_fields.items():
            if name in values:
                value = values.pop(name)
                data[name] = field.write(value, f"{type(self).__name__}.{name}")
                field.adopt(self, value)
            elif field.required:
                missing.append(name)
            else:
                data[name] = field.default_json()
                if not field.always_set:
                    unset.add(name)
        if missing:
            raise ValueError(f"{type(self).__name__}: missing {', '.join(missing)}")
        data.update(self._unknown(values))
        self._unset = frozenset(unset)

    @classmethod
    def _unknown(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Return what the constructor keeps of the arguments that are not fields."""
        if values:
            raise ValueError(f"{cls.__name__}: unknown {', '.join(values)}")
        return values

    @classmethod
    def view(cls, data: dict[str, Any]) -> Self:
        """Return a record over `data` itself, unchecked; writing to it writes to `data`."""
        record = _new(cls)
        record._data = data
        record._views = None
        record._unset = _NOTHING_UNSET
        return record

    @classmethod
    def accept(cls, value: Any, where: str) -> dict[str, Any]:
        """Return the JSON object of `value`, a record of this class or an object fit for one.

        Raises:
            ValueError: a key is missing or holds something else; the message starts with
                `where`.
        """
        if isinstance(value, Record):
            if isinstance(value, cls):
                return value._data
            value = value._data
        if not isinstance(value, dict):
            raise ValueError(f"{where}: {value!r:.80} is not an object ({cls.__name__})")
        changed = {}
        for name, field in cls.model_fields.items():
            if name in value:
                written = field.write(value[name], f"{where}.{name}")
                if written is not value[name]:
                    changed[name] = written
            elif field.required:
                raise ValueError(f"{where}: missing '{name}' ({cls.__name__})")
        return {**value, **changed} if changed else value

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """Return a record over a copy of the JSON object `value`.

        Raises:
            ValueError: `value` does not fit.
        """
        return cls.view(cls.accept(detached(value), cls.__name__))

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """Return a record read from JSON `text`.

        Raises:
            ValueError: `text` is not JSON or does not fit.
        """
        return cls.view(cls.accept(loads(text), cls.__name__))

    @property
    def model_fields_set(self) -> set[str]:
        """The names of the fields that were given rather than defaulted."""
        return {name for name in self._data if name not in self._unset}

    def _dump(self, exclude_unset: bool) -> dict[str, Any]:
        data = self._data
        dumped = {
            name: field.dump(self, exclude_unset)
            for name, field in self.model_fields.items()
            if not exclude_unset or (name in data and name not in self._unset)
        }
        return dumped

    def model_dump(
        self,
        *,
        mode: str = "json",
        exclude_unset: bool = True,
        exclude_none: bool = False,
        include: set[str] | None = None,
        exclude: set[str] | None = None,
    ) -> dict[str, Any]:
        """Return an independent plain JSON object of the fields that were set.

        Args:
            mode: `json` or `python`; the values are JSON in both.
            exclude_unset: leave out fields that were only defaulted, at every depth.
            exclude_none: leave out null members of this object.
            include: only these members.
            exclude: not these members.
        """
        return {
            name: value
            for name, value in self._dump(exclude_unset).items()
            if not (exclude_none and value is None)
            and (include is None or name in include)
            and (exclude is None or name not in exclude)
        }

    def model_dump_include_unset(self, **options: Any) -> dict[str, Any]:
        """Return `model_dump` with every field, defaults included."""
        return self.model_dump(**options, exclude_unset=False)

    def model_dump_json(self, *, indent: int | None = None, **options: Any) -> str:
        """Return the JSON text of `model_dump`, compact unless `indent` is given."""
        dumped = self.model_dump(**options)
        return dumps(dumped) if indent is None else json.dumps(dumped, indent=indent)

    def model_dump_json_include_unset(self, *, indent: int | None = None, **options: Any) -> str:
        """Return the JSON text of `model_dump_include_unset`."""
        return self.model_dump_json(indent=indent, **options, exclude_unset=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = True) -> Self:
        """Return an independent copy, with the members of `update` changed.

        Args:
            update: new values by field name.
            deep: accepted for likeness with pydantic; a copy never shares anything.
        """
        copy = self.view(copy_json(self._data))
        copy._unset = self._unset
        for name, value in (update or {}).items():
            setattr(copy, name, value)
        return copy

    def __getitem__(self, name: str) -> Any:
        if isinstance(name, str) and not name.startswith("_"):
            try:
                return getattr(self, name)
            except AttributeError:
                pass
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self._data or name in self.model_fields

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name in self.model_fields:
            yield name, getattr(self, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        related = isinstance(other, type(self)) or isinstance(self, type(other))
        return related and self._complete() == other._complete()

    __hash__ = None  # type: ignore[assignment]  # records change

    def _complete(self) -> dict[str, Any]:
        return self._dump(exclude_unset=False)

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in self)
        return f"{type(self).__name__}({members})"

    def __copy__(self) -> Self:
        return self.model_copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.model_copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._data, self._unset)


class OpenRecord(Record):
    """A record that keeps keys it does not know, also as attributes."""

    @classmethod
    def _unknown(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {name: plain(value) for name, value in values.items()}

    def _dump(self, exclude_unset: bool) -> dict[str, Any]:
        dumped = super()._dump(exclude_unset)
        for name, value in self._data.items():
            if name not in self.model_fields:
                dumped[name] = plain(value)
        return dumped

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from super().__iter__()
        for name, value in self._data.items():
            if name not in self.model_fields:
                yield name, value

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name not in self.model_fields and name in self._data:
            return self._data[name]
        raise AttributeError(f"{type(self).__name__} has no '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name in self.model_fields:
            super().__setattr__(name, value)
        else:
            self._data[name] = plain(value)


def _restore(cls: type[Record], data: dict[str, Any], unset: frozenset[str]) -> Record:
    """Rebuild a pickled record."""
    record = cls.view(data)
    record._unset = unset
    return record

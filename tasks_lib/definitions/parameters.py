"""Parameters a task or an evaluation declares in `config_spec`, and the values they accept."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from tasks_lib.base import Definition
from tasks_lib.definitions.keys import DisplayName, repeated
from tasks_lib.definitions.scalars import (
    Scalar,
    ScalarType,
    as_boolean,
    as_float,
    as_integer,
    as_scalar,
    as_text,
    shown,
)
from tasks_lib.errors import bounded

Number = TypeVar("Number", int, float)


class BaseParameter(Definition):
    """A named value that `<< config.KEY >>` stands for."""

    key: Annotated[str, StringConstraints(min_length=1)]
    """Name used in `<< config.KEY >>`; spaces are allowed."""
    display_name: DisplayName
    """Name shown to people."""
    description: str | None = None
    """What the parameter means."""
    nullable: bool = False
    """Whether it may be left without a value, which then is null."""

    def accept(self, value: Any) -> Any:
        """Return `value`, which is not null, as the parameter's type.

        Raises:
            ValueError: it has another type, or lies outside of what is allowed.
        """
        raise TypeError(f"{type(self).__name__} does not say what it accepts")

    def substitute(self, value: Any) -> Any:
        """Return what `<< config.KEY >>` becomes for an accepted `value`."""
        return value

    @property
    def default(self) -> Any:
        """The value used when none is supplied; None when there is no default."""
        return getattr(self, "default_value", None)

    @field_validator("default_value", check_fields=False)
    @classmethod
    def _default_is_acceptable(cls, value: Any, info: ValidationInfo) -> Any:
        others = cls.model_fields.keys() - {"default_value"}
        if value is not None and others <= info.data.keys():
            cls.model_construct(**info.data).accept(value)
        return value


class FloatParameter(BaseParameter):
    """A number."""

    type: Literal["float"]
    min: float | None = None
    """Smallest value allowed."""
    max: float | None = None
    """Largest value allowed."""
    default_value: float | None = None
    """Value used when none is supplied."""

    def accept(self, value: Any) -> float:
        return _within(as_float(value), self.min, self.max)


class IntParameter(BaseParameter):
    """A whole number."""

    type: Literal["int"]
    min: int | None = None
    """Smallest value allowed."""
    max: int | None = None
    """Largest value allowed."""
    default_value: int | None = None
    """Value used when none is supplied."""

    def accept(self, value: Any) -> int:
        return _within(as_integer(value), self.min, self.max)


def _within(value: Number, smallest: Number | None, largest: Number | None) -> Number:
    if smallest is not None and value < smallest:
        raise ValueError(f"{value} is below the smallest value allowed, {smallest}")
    if largest is not None and value > largest:
        raise ValueError(f"{value} is above the largest value allowed, {largest}")
    return value


class BooleanParameter(BaseParameter):
    """True or false."""

    type: Literal["boolean"]
    default_value: bool | None = None
    """Value used when none is supplied."""

    def accept(self, value: Any) -> bool:
        return as_boolean(value)


class StringExample(Definition):
    """A value to offer for a text parameter."""

    value: str
    """The text."""
    display_name: str
    """Name shown for it."""


class _TextParameter(BaseParameter):
    """Any text."""

    def accept(self, value: Any) -> str:
        return as_text(value)


class StringParameter(_TextParameter):
    """A text."""

    type: Literal["string"]
    string_kind: Literal["freeform", "python", "jinja"] = "freeform"
    """What the text is, for editors."""
    default_file_content: str | None = None
    """Text to start editing from; it is not a default value."""
    examples: tuple[StringExample, ...] | None = None
    """Values to offer."""
    default_value: str | None = None
    """Value used when none is supplied."""


class ModelParameter(_TextParameter):
    """The key of a model."""

    type: Literal["model"]
    usage: (
        Literal["model_under_test", "judge_model", "synthesizer_model", "productivity_assistant"]
        | None
    ) = None
    """What the model is for: `model_under_test` is the evaluated model."""
    default_value: str | None = None
    """Model key used when none is supplied."""


class DatasetParameter(_TextParameter):
    """The key of a dataset."""

    type: Literal["dataset"]
    default_value: str | None = None
    """Dataset key used when none is supplied."""


class TaskResultParameter(_TextParameter):
    """An earlier result."""

    type: Literal["task_result"]
    default_value: str | None = None
    """Result used when none is supplied."""


class DatasetColumnParameter(_TextParameter):
    """The name of a column of the dataset."""

    type: Literal["dataset_column"]
    default_value: str | None = None
    """Column name used when none is supplied."""


class ListParameter(BaseParameter):
    """A list of values of one type."""

    type: Literal["list"]
    dtype: ScalarType
    """Type of every entry."""
    default_value: tuple[Any, ...] | None = None
    """Value used when none is supplied."""

    def accept(self, value: Any) -> list[Scalar]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{shown(value)} is not a list")
        return [as_scalar(self.dtype, entry) for entry in value]


class DictParameter(BaseParameter):
    """A mapping from text to values of one type."""

    type: Literal["dict"]
    value_dtype: ScalarType
    """Type of every value."""
    default_value: dict[str, Any] | None = None
    """Value used when none is supplied."""

    def accept(self, value: Any) -> dict[str, Scalar]:
        if not isinstance(value, dict):
            raise ValueError(f"{shown(value)} is not a mapping")
        return {as_text(key): as_scalar(self.value_dtype, entry) for key, entry in value.items()}


class CategoricalParameter(BaseParameter):
    """One of several texts, or some of them."""

    type: Literal["categorical"]
    allowed_values: Annotated[tuple[str, ...], Field(min_length=1)]
    """The texts to choose from."""
    multiple: bool = False
    """Whether a list of them is chosen instead of one."""
    values_mapping: dict[str, Scalar] | None = None
    """What a chosen text stands for; texts not listed stand for themselves."""
    default_value: str | tuple[str, ...] | None = None
    """Value used when none is supplied."""

    def accept(self, value: Any) -> str | list[str]:
        if self.multiple:
            if not isinstance(value, list | tuple):
                raise ValueError(f"{shown(value)} is not a list; 'multiple: true' needs one")
            return [self._allowed(entry) for entry in value]
        return self._allowed(value)

    def substitute(self, value: Any) -> Any:
        mapping = self.values_mapping or {}
        if isinstance(value, list):
            return [mapping.get(entry, entry) for entry in value]
        return mapping.get(value, value)

    def _allowed(self, value: Any) -> str:
        if value not in self.allowed_values:
            allowed = ", ".join(repr(choice) for choice in self.allowed_values)
            raise ValueError(f"{shown(value)} is not one of {bounded(allowed)}")
        return str(value)


ParameterSpec = Annotated[
    FloatParameter
    | IntParameter
    | BooleanParameter
    | StringParameter
    | ModelParameter
    | DatasetParameter
    | DatasetColumnParameter
    | TaskResultParameter
    | ListParameter
    | DictParameter
    | CategoricalParameter,
    Field(discriminator="type"),
]
"""A parameter of any type."""


def check_parameter_keys(parameters: tuple[ParameterSpec, ...]) -> tuple[ParameterSpec, ...]:
    """Return `parameters` when their keys differ.

    Raises:
        ValueError: two share a key.
    """
    twice = repeated([parameter.key for parameter in parameters])
    if twice is not None:
        raise ValueError(f"two parameters have the key '{twice}'; rename one")
    return parameters

"""Every error evalmill raises.

EvalmillError
├── DefinitionError      the files or flags are wrong; nothing was called (exit 2)
│   └── DefinitionErrors several of them, reported together
├── SampleError          one sample failed; becomes an error row, the run goes on
├── MetricError          one metric can't be computed; the others stand
├── StoreError           the store can't be read or written
├── CircuitError         a model gives no usable reply; the run was stopped (exit 3)
└── Stopped              the run is being interrupted
    └── OverBudget       this call may not begin; the rest goes on
"""

from collections.abc import Sequence
from typing import Any, Literal, get_args

ErrorClass = Literal["infra", "model", "template", "code", "judge", "data"]
"""Why a sample failed: `infra` connection, timeout, 429 and 5xx after retries; `model`
context length, content filter, empty or malformed reply; `template` rendering; `code` an
author's snippet; `judge` an unreadable verdict; `data` the sample itself."""

ERROR_CLASSES: tuple[str, ...] = get_args(ErrorClass)


class EvalmillError(Exception):
    """Base of the tree; says what is wrong, where, and what to do about it.

    Args:
        problem: what is wrong, in plain words, with the offending value quoted.
        where: `file:line: key.path` or `sample 'id'`; empty when it has no place.
        fix: an imperative sentence; empty when there is nothing to advise.
    """

    def __init__(self, problem: str, where: str = "", fix: str = "") -> None:
        super().__init__(problem, where, fix)  # args in full: pickling rebuilds from them
        self.problem = problem
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        head = f"{self.where}: {self.problem}" if self.where else self.problem
        return f"{head}; {self.fix}" if self.fix else head


class DefinitionError(EvalmillError):
    """A file, a flag or a definition is wrong; nothing was called."""


class DefinitionErrors(DefinitionError):
    """Everything that is wrong with the files, so that one look mends them all."""

    def __init__(self, problems: Sequence[DefinitionError]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[type["DefinitionErrors"], tuple[tuple[DefinitionError, ...]]]:
        return type(self), (self.problems,)


class SampleError(EvalmillError):
    """One sample, or one score of it, failed; the others are not touched.

    Args:
        error_class: why, one of `ErrorClass`.

    Attributes:
        metadata: what is stored beside the error, as JSON values; None without any.
    """

    metadata: dict[str, Any] | None = None

    def __init__(
        self, error_class: ErrorClass, problem: str, where: str = "", fix: str = ""
    ) -> None:
        super().__init__(problem, where, fix)
        self.args = (error_class, problem, where, fix)
        self.error_class: ErrorClass = error_class


class MetricError(EvalmillError):
    """One metric can't be computed from the scores it was given; the others stand."""


class StoreError(EvalmillError):
    """The store can't be read or written."""


class CircuitError(EvalmillError):
    """A model gives no usable reply, and so the run was stopped.

    Args:
        model: the model's key.
        resumable: whether it can be mended without changing the definitions.
    """

    def __init__(
        self,
        problem: str,
        where: str = "",
        fix: str = "",
        model: str = "",
        resumable: bool = True,
    ) -> None:
        super().__init__(problem, where, fix)
        self.args = (problem, where, fix, model, resumable)
        self.model = model
        self.resumable = resumable


class Stopped(EvalmillError):
    """The run is being stopped or interrupted; nothing new may start."""

    def __init__(self) -> None:
        super().__init__("the run was interrupted")
        self.args = ()


class OverBudget(Stopped):
    """The budget is used up: what needs a further call is skipped, what needs none goes on.

    Attributes:
        metadata: what is stored beside a score that was skipped, as JSON values.
    """

    metadata: dict[str, Any] | None = None


def bounded(text: str, limit: int = 300) -> str:
    """Return `text` cut in its middle to at most `limit` characters, fit for a message."""
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"

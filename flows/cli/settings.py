"""Flags turned into what the library takes."""

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from tasks_lib.definitions.evaluation import CachePolicy, Subsampling
from tasks_lib.errors import DefinitionError
from tasks_lib.resolve import Overrides
from tasks_lib.results.load import NEWEST, run_named


def pairs(texts: Iterable[str] | None, flag: str) -> dict[str, str]:
    """Return `NAME=VALUE` texts as a mapping.

    Raises:
        DefinitionError: a text has no `=` or no name.
    """
    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise DefinitionError(f"'{text}' is not NAME=VALUE", where=flag)
        found[name] = value
    return found


def gates(texts: Iterable[str] | None) -> dict[str, float]:
    """Return `METRIC=VALUE` texts as least values by metric.

    Raises:
        DefinitionError: a value is no number.
    """
    found = {}
    for name, text in pairs(texts, "--fail-under").items():
        try:
            found[name] = float(text)
        except ValueError:
            raise DefinitionError(f"'{text}' is no number", where="--fail-under") from None
    return found


def continued_run(
    resume: str | None, retry_errors: str | None, run_id: str | None, store: Path
) -> str | None:
    """Return the id of the run that is continued; None for a new one.

    Raises:
        DefinitionError: several flags name a run, or it can't have the name it is to have.
    """
    given = [run for run in (resume, retry_errors, run_id) if run is not None]
    if len(given) > 1:
        raise DefinitionError(
            "--resume, --retry-errors and --run-id each name the run", fix="give one of them"
        )
    if run_id == NEWEST:
        raise DefinitionError(
            f"'{NEWEST}' means the newest run", where="--run-id", fix="choose another id"
        )
    earlier = retry_errors if resume is None else resume
    return None if earlier is None else run_named(earlier, store)


def choice(text: str | None, allowed: object, flag: str) -> str | None:
    """Return `text` when it is one of a Literal's values.

    Raises:
        DefinitionError: it is none of them.
    """
    values = get_args(allowed)
    if text is not None and text not in values:
        raise DefinitionError(f"'{text}' is none of {', '.join(values)}", where=flag)
    return text


def overrides(
    *,
    model: str | None,
    dataset: str | None,
    settings: Iterable[str] | None,
    limit: int | None,
    subsampling: str | None,
    trials: int | None,
    cache: str | None,
    env: Path | None,
    allow_outside: bool,
) -> Overrides:
    """Return what the command line says of an evaluation.

    Raises:
        DefinitionError: a flag has a wrong value.
    """
    return Overrides(
        model=model,
        dataset=dataset,
        settings=pairs(settings, "--set"),
        num_samples=limit,
        subsampling=choice(subsampling, Subsampling, "--subsampling"),  # type: ignore[arg-type]
        num_trials=trials,
        cache_policy=choice(cache, CachePolicy, "--cache"),  # type: ignore[arg-type]
        env_file=env,
        allow_outside=allow_outside,
    )

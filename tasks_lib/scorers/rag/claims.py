"""Claims: what a text says, cut into triples."""

from collections.abc import Sequence
from typing import Any

from tasks_lib.errors import SampleError, bounded
from tasks_lib.jsontext import loads

Claim = dict[str, str]
"""`{"subject", "predicate", "object"}`."""

PARTS = ("subject", "predicate", "object")


def claim_of(value: Any) -> Claim | None:
    """Return the claim that JSON is; None when it is none. Numbers are written out."""
    if not isinstance(value, dict):
        return None
    parts = [value.get(part) for part in PARTS]
    if not all(isinstance(part, str | int | float) for part in parts):
        return None
    return {name: str(part) for name, part in zip(PARTS, parts, strict=True)}


def numbered(claims: Sequence[Claim]) -> str:
    """Return claims as prompts show them, numbered from 1."""
    return "\n".join(
        f"{number}. {' '.join(claim[part] for part in PARTS)}"
        for number, claim in enumerate(claims, 1)
    )


def claims_of_column(value: Any, column: str) -> list[Claim]:
    """Return the claims that a dataset column holds: a list of triples, or its JSON text.

    Raises:
        SampleError: it holds something else.
    """
    listed = _listed(value, column)
    claims = [claim_of(entry) for entry in listed]
    for entry, claim in zip(listed, claims, strict=True):
        if claim is None:
            raise SampleError(
                "data",
                f"column '{column}' holds {bounded(repr(entry), 80)}, which is no claim",
                fix="write claims as {subject: …, predicate: …, object: …}",
            )
    return [claim for claim in claims if claim is not None]


def required_of_column(value: Any, column: str, count: int) -> list[bool]:
    """Return which of `count` claims a column of REQUIRED and OPTIONAL labels requires.

    Raises:
        SampleError: it holds something else, or not one label a claim.
    """
    labels = [str(entry).strip().upper() for entry in _listed(value, column)]
    wrong = next((label for label in labels if label not in ("REQUIRED", "OPTIONAL")), None)
    if wrong is not None:
        problem = f"column '{column}' holds the label {bounded(repr(wrong), 80)}"
        raise SampleError("data", problem, fix="write REQUIRED or OPTIONAL")
    if len(labels) != count:
        problem = f"column '{column}' holds {len(labels)} labels for {count} claims"
        raise SampleError("data", problem, fix="write one label a claim, in the same order")
    return [label == "REQUIRED" for label in labels]


def _listed(value: Any, column: str) -> list[Any]:
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            value = None
    if not isinstance(value, list):
        raise SampleError("data", f"column '{column}' holds no list")
    return value

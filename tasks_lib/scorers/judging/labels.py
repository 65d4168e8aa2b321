"""Labels as authors write them."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator


def _visible(label: str) -> str:
    if not label.strip():
        raise ValueError("a label can't be empty")
    return label


Label = Annotated[str, AfterValidator(_visible)]
"""A label; spaces around it do not count."""


def check_labels_differ(labels: Iterable[str]) -> None:
    """Refuse labels that no reply could tell apart.

    Raises:
        ValueError: two are equal, spaces around them apart.
    """
    seen: set[str] = set()
    for label in labels:
        if label.strip() in seen:
            raise ValueError(f"the label '{label.strip()}' is given twice")
        seen.add(label.strip())

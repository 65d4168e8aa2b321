"""The keys definitions are known by: what they may hold, and those made where none is written."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import StringConstraints

LONGEST_KEY = 250

UserKey = Annotated[
    str, StringConstraints(pattern=r"^[a-zA-Z0-9_\-]+$", min_length=1, max_length=LONGEST_KEY)
]
"""A key an author writes: letters, digits, `_` and `-`, at most 250 of them."""

_FOREIGN = re.compile(r"[^a-z0-9_-]+")
_DASHES = re.compile(r"-{2,}")


def sanitised(text: str) -> str:
    """Return `text` as a key: lower case, every run of foreign characters one `-`.

    Raises:
        ValueError: nothing is left, or more than 250 characters.
    """
    key = _DASHES.sub("-", _FOREIGN.sub("-", text.lower())).strip("-")
    if not 0 < len(key) <= LONGEST_KEY:
        raise ValueError(f"no key of 1 to {LONGEST_KEY} characters can be made of {text[:60]!r}")
    return key


def unique_keys(members: Iterable[tuple[str | None, str]]) -> tuple[str, ...]:
    """Return one key per member, all different, in the members' order.

    Args:
        members: the key as written or None, and the key a member without one gets; made
            keys that are taken continue as `<key>_2`, `<key>_3`, ….

    Raises:
        ValueError: two members were given the same key.
    """
    listed = list(members)
    taken: set[str] = set()
    for written, _ in listed:
        if written is None:
            continue
        if written in taken:
            raise ValueError(f"the key '{written}' is used twice; rename one of the two")
        taken.add(written)
    keys = []
    for written, made in listed:
        key, number = written or made, 1
        while written is None and key in taken:
            number += 1
            key = f"{made}_{number}"
        taken.add(key)
        keys.append(key)
    return tuple(keys)

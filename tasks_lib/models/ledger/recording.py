"""Recorded model calls as a JSONL file: what `replay` answers from.

One object a line, in the order of the calls:

    {"sample_id": "FR", "trial": 0, "ordinal": 0, "model": "smollm2",
     "request": {"messages": [...], "temperature": 0}, "reply": {"choices": [...]}}

`request` is the body that was sent, without its `model`, so that any model may be replayed
as any other. `reply` is the body that came: a JSON object or array as it is, anything else
as text. `trial` and `ordinal` (how many equal calls of the same sample and trial came
before) count from zero. Only `request` and `reply` are needed in a file written by hand.
"""

import os
from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

from tasks_lib.errors import DefinitionError, bounded
from tasks_lib.jsontext import dump_bytes, loads
from tasks_lib.models.ledger.ledger import Entry

_LINES_LOOKED_AT = 100  # for the parameters that a message names
_MAX_PARAMETER_SETS = 4


def write_recording(rows: Iterable[Entry], path: Path) -> int:
    """Write calls, such as `ledger.entries` yields, to `path`; return how many.

    The file appears whole or not at all.

    Raises:
        OSError: it can't be written.
    """
    written = 0
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as file:
            for row in rows:
                file.write(dump_bytes(_line(row)) + b"\n")
                written += 1
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return written


def _line(row: Entry) -> dict[str, Any]:
    return {
        "sample_id": row.call.sample_id,
        "trial": row.call.trial,
        "ordinal": row.call.ordinal,
        "model": row.model_key,
        "request": _without_model(_json_or_text(row.request)),
        "reply": _json_or_text(row.body),
    }


def _json_or_text(body: bytes) -> Any:
    """The object or array that `body` is, else its text."""
    try:
        value = loads(body)
    except ValueError:
        value = None
    return value if isinstance(value, dict | list) else body.decode("utf-8", "replace")


def _without_model(request: Any) -> Any:
    if isinstance(request, dict):
        return {key: value for key, value in request.items() if key != "model"}
    return request


class Recording:
    """A recording open for look-ups; holds 32 bytes a line in memory, not the lines.

    Raises:
        DefinitionError: the file can't be read, or a line is no recorded call.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parameters: set[bytes] = set()
        calls, requests, offsets = array("Q"), array("Q"), array("Q")
        digest = sha256()
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise DefinitionError(
                f"the recording can't be read: {error.strerror}", where=str(path)
            ) from None
        try:
            for offset, line in self._lines():
                digest.update(line)
                request, owner = self._parsed(line, offset)
                if len(offsets) < _LINES_LOOKED_AT:
                    self._parameters.add(_parameters(request))
                canonical = _canonical(request)
                requests.append(_key(canonical))
                calls.append(_key(canonical, *owner))
                offsets.append(offset)
        except BaseException:
            self._file.close()
            raise
        self.digest = digest.hexdigest()[:16]
        self._calls = _Index(calls, offsets)
        self._requests = _Index(requests, offsets)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        offset = 0
        for line in self._file:
            if line.strip():
                yield offset, line
            offset += len(line)

    def _parsed(self, line: bytes, offset: int) -> tuple[Any, list[str | int]]:
        """Return a line's request, and whose it is: sample, trial, ordinal; empty: anyone's."""
        try:
            call = loads(line)
            request, _ = call["request"], call["reply"]
            owner: list[str | int] = []
            if "sample_id" in call:
                numbers = int(call.get("trial", 0)), int(call.get("ordinal", 0))
                owner = [str(call["sample_id"]), *numbers]
        except (ValueError, KeyError, TypeError) as error:
            raise DefinitionError(
                f"no recorded call: {type(error).__name__}: {error}",
                where=f"{self.path}:{self._line_number(offset)}",
                fix="write one JSON object a line with 'request' and 'reply'",
            ) from None
        return request, owner

    def _line_number(self, offset: int) -> int:
        with self.path.open("rb") as file:
            return file.read(offset).count(b"\n") + 1

    def reply(self, body: bytes, sample_id: str, trial: int, ordinal: int) -> bytes | None:
        """Return the reply recorded for this call, else for its request; None: there is none.

        Of several recordings of the request alone it is number `trial + ordinal`, so that
        the answer does not depend on the order of the calls.
        """
        canonical = _canonical(_json_or_text(body))
        found = self._calls.find(_key(canonical, sample_id, trial, ordinal), 0)
        if found is None:
            found = self._requests.find(_key(canonical), trial + ordinal)
        if found is None:
            return None
        self._file.seek(found)
        reply = loads(self._file.readline())["reply"]
        return (
            reply.encode("utf-8", "surrogatepass") if isinstance(reply, str) else dump_bytes(reply)
        )

    def why_missing(self, body: bytes, trial: int) -> str:
        """Say what the recording lacks for `reply` to answer."""
        request = _json_or_text(body)
        name = f"'{self.path.name}'"
        if times := self._requests.count(_key(_canonical(request))):
            plural = "reply" if times == 1 else "replies"
            return f"{name} holds {times} {plural} to this request, trial {trial} asks for another"
        asked = _parameters(_without_model(request))
        if 0 < len(self._parameters) <= _MAX_PARAMETER_SETS and asked not in self._parameters:
            known = " or ".join(sorted(each.decode() for each in self._parameters))
            return (
                f"{name} was recorded with the parameters {bounded(known)}, "
                f"this request has {bounded(asked.decode())}"
            )
        return f"{name} holds no reply to this request"

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _Index:
    """Offsets by 64-bit key, equal keys in file order."""

    def __init__(self, keys: "array[int]", offsets: "array[int]") -> None:
        import numpy as np

        unsorted = np.frombuffer(keys, dtype=np.uint64)
        order = np.argsort(unsorted, kind="stable")
        self._keys = unsorted[order]
        self._offsets = np.frombuffer(offsets, dtype=np.uint64)[order]

    def find(self, key: int, number: int) -> int | None:
        """Return the offset of entry `number` of `key`, counted from zero."""
        low, high = self._range(key)
        return int(self._offsets[low + number]) if low + number < high else None

    def count(self, key: int) -> int:
        low, high = self._range(key)
        return high - low

    def _range(self, key: int) -> tuple[int, int]:
        value = self._keys.dtype.type(key)
        low = int(self._keys.searchsorted(value, "left"))
        return low, int(self._keys.searchsorted(value, "right"))


def _parameters(request: Any) -> bytes:
    rest = request if isinstance(request, dict) else {}
    texts = ("messages", "input", "model")
    return dump_bytes({k: v for k, v in rest.items() if k not in texts}, sort_keys=True)


def _canonical(request: Any) -> bytes:
    return dump_bytes(_without_model(request), sort_keys=True)


def _key(canonical: bytes, *owner: str | int) -> int:
    digest = blake2b(canonical, digest_size=8)
    if owner:
        digest.update(dump_bytes(owner))
    return int.from_bytes(digest.digest(), "little")

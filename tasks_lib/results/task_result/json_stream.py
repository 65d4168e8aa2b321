"""Walking through a large JSON file: one value in memory at a time, with its place."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from tasks_lib.jsontext import loads

_CHUNK = 1 << 20
_LONGEST_TAIL = 64  # a number cut by the end of a chunk may be read as a shorter one
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class JsonStream:
    """A JSON text that is walked through from its beginning to its end.

    Whoever iterates over `members` or `elements` takes each value, with `value`, `measured`
    or by iterating over it, before asking for the next.

    Args:
        file: open for reading; read as the walk goes on.
    """

    # Bytes are held as Latin-1 text, a character a byte: the structure of JSON is ASCII, so
    # places in it are places in the file, and a value is decoded when it is asked for.

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._text = ""
        self._at = 0
        self._start = 0  # of `_text` in the file
        if self._more() and self._text.startswith("\xef\xbb\xbf"):
            self._at = 3

    def peek(self) -> str:
        """Return the first character of what comes next.

        Raises:
            ValueError: nothing does.
        """
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                raise ValueError("the file ends too early")

    def members(self) -> Iterator[str]:
        """Yield the keys of the object that comes next.

        Raises:
            ValueError: no object does.
        """
        self._expect("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            key = self.value()
            self._expect(":")
            yield key
            if self._expect(",", "}") == "}":
                return

    def elements(self) -> Iterator[int]:
        """Yield the places of the entries of the list that comes next.

        Raises:
            ValueError: no list does.
        """
        self._expect("[")
        if self.peek() == "]":
            self._at += 1
            return
        place = 0
        while True:
            yield place
            place += 1
            if self._expect(",", "]") == "]":
                return

    def value(self) -> Any:
        """Return the value that comes next.

        Raises:
            ValueError: it is no JSON.
        """
        begin, _ = self._skip()
        return loads(self._text[begin : self._at].encode("latin-1"))

    def measured(self) -> tuple[int, int, Any]:
        """Return where in the file the next value starts and ends, and the value.

        Raises:
            ValueError: it is no JSON.
        """
        begin, end = self._skip()
        value = loads(self._text[begin:end].encode("latin-1"))
        return self._start + begin, self._start + end, value

    def digest(self) -> str:
        """Return the hash of the file, once it was walked through to its end."""
        while self._more():
            self._at = len(self._text)
        return self._digest.hexdigest()

    def _skip(self) -> tuple[int, int]:
        self.peek()
        while True:
            try:
                _, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more():
                    raise ValueError(f"is no JSON: {error.msg}") from None
            except RecursionError:
                raise ValueError("the JSON is nested too deeply") from None
            else:
                if len(self._text) - end >= _LONGEST_TAIL or not self._more():
                    begin, self._at = self._at, end
                    return begin, end

    def _expect(self, *wanted: str) -> str:
        found = self.peek()
        if found not in wanted:
            raise ValueError(f"is no JSON: {found!r} stands where {' or '.join(wanted)} should")
        self._at += 1
        return found

    def _more(self) -> bool:
        """Read on, and forget what was passed; False at the end of the file."""
        chunk = self._file.read(max(_CHUNK, len(self._text) - self._at))
        if not chunk:
            return False
        self._digest.update(chunk)
        self._start += self._at
        self._text = self._text[self._at :] + chunk.decode("latin-1")
        self._at = 0
        return True

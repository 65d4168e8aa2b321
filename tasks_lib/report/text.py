"""Text from datasets and models made fit for a terminal."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return `text` with control characters written out (`\x1b`), line breaks and tabs kept.

    A reply so can neither clear the screen nor recolour or reorder what others say.
    """
    text = text.replace("\r\n", "\n")
    return (
        _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)
        .encode("utf-8", "backslashreplace")
        .decode()
    )


def one_line(text: str, width: int) -> str:
    """Return `text` on one line of at most `width` characters."""
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"

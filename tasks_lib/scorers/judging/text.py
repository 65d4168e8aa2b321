"""Text of a judge's reply that stands alone, markup and punctuation apart."""

import re
from collections.abc import Iterator

_MARKUP = "*_`\"'\u2018\u2019\u201c\u201d«»()[] \t\r\n"
_POINTS = ".,;:!"
_HEADING = re.compile(r"#{1,6}\s+")
_NO_WORDS = re.compile(r"(?:[`~]{3,}\w*|[-*_=]{3,})?")  # nothing, a fence, a rule
_COLON = re.compile(r"(?<![0-9\"])[:\uff1a]")
_UNSAYING = re.compile(  # a negation, or JSON that is broken
    r"\b(?:not|no|never|neither|nor|cannot|without)\b|n['\u2019]t\b|\{", re.IGNORECASE
)
_STATEMENT = re.compile(
    r"\W*(?:(?:so|thus|hence|therefore),?\s+)?(?:it|this|that|(?:(?:the|this|that|my|your|its|final"
    r"|overall|given|submitted|candidate|model)(?:['\u2019]s)?\s+)*"
    r"(?:answer|assessment|classification|completion|conclusion|evaluation|grade|judge?ment|label"
    r"|output|prediction|rating|reply|response|result|score|submission|verdict))\s+is\s+",
    re.IGNORECASE,
)
_LONGEST_ANSWER = 500  # characters after a colon; what is longer is no answer


def bare(text: str) -> str:
    """Return `text` without surrounding quotes, emphasis, brackets and closing punctuation.

    Signs that change a meaning stay: `-1`, `!correct`, `correct?`, `~~correct~~`, `> correct`.
    """
    text = text.strip()
    heading = _HEADING.match(text)
    start = heading.end() if heading else 0
    return text[start:].lstrip(_MARKUP).rstrip(_MARKUP + _POINTS)


def worded_lines(text: str) -> list[str]:
    """Return the lines of `text` that say something: no blank ones, fences or rules."""
    return [line for line in text.splitlines() if not _NO_WORDS.fullmatch(line.strip())]


def standing_alone(line: str) -> Iterator[str]:
    """Yield what may be the verdict of a line: all of it, or what it ends in, longest first.

    It may follow a colon (`Verdict: correct`) or a plain statement's verb (`The response is
    incorrect.`), unless something is negated before.
    """
    yield line
    unsaid = _UNSAYING.search(line)
    for colon in _COLON.finditer(line, max(0, len(line) - _LONGEST_ANSWER)):
        if unsaid is not None and unsaid.start() < colon.start():
            return
        yield line[colon.end() :]
    statement = _STATEMENT.match(line)
    if statement is not None:
        yield line[statement.end() :]

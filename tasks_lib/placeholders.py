"""How text with `<< config.x >>` in it is checked before the values are known."""

import re

_PLACEHOLDER = re.compile(r"<<\s*(?:config|secrets)\.(?:(?!<<|>>).)+?\s*>>")


def neutralised(text: str) -> str:
    """Return `text` with a harmless name in place of every placeholder."""
    return _PLACEHOLDER.sub("placeholder", text) if "<<" in text else text


def is_placeholder(text: str) -> bool:
    """Tell whether `text` is one placeholder and nothing else."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None

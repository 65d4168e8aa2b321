"""What stands for a name, an attribute or a column that is not there."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from jinja2 import StrictUndefined

from tasks_lib.errors import bounded


class Missing(StrictUndefined):
    """Something undefined; where it is a column, the complaint names those there are."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        known = self._undefined_obj
        if not isinstance(known, Mapping):
            return super()._undefined_message
        names = [str(name) for name in known]
        if near := get_close_matches(str(self._undefined_name), names, n=1):
            advice = f"did you mean '{near[0]}'?"
        else:
            advice = bounded("there is " + (", ".join(map(repr, names)) or "nothing"), 200)
        return f"no {self._undefined_name!r} here; {advice}"


class MissingMember(Missing):
    """An absent column that names a dict method: undefined, yet the method when called."""

    __slots__ = ()

    def method(self) -> Callable[..., Any]:
        """Return the method that is meant when it is called."""
        found: Callable[..., Any] = getattr(self._undefined_obj, str(self._undefined_name))
        return found

"""Calls at a time of all workers together, kept by a global concurrency limit of Prefect.

`EVALMILL_GLOBAL_LIMIT=NAME` names the limit (`prefect gcl create NAME --limit 40`); without it
Prefect is asked nothing. `leases.py` does the rest.
"""

import os
from dataclasses import dataclass

from tasks_lib.errors import DefinitionError
from tasks_lib.runs.run import Run

VARIABLE = "EVALMILL_GLOBAL_LIMIT"


@dataclass(frozen=True)
class GlobalLimit:
    """The limit that the environment names, or that it names none.

    Attributes:
        name: empty for none.
        api_url: where its server is.
        slots: calls at a time that it allows.
        trouble: why it can't be kept to; empty when it can.
    """

    name: str = ""
    api_url: str = ""
    slots: int = 0
    trouble: str = ""

    def bind(self, run: Run) -> None:
        """Let a run keep to it, or warn that it doesn't."""
        if self.trouble:
            run.warn(f"{VARIABLE} is not kept to: {self.trouble}")
        elif self.name:
            from flows.leases import GlobalLeases

            batches = run.plan.batches_at_once
            run.leases = GlobalLeases(self.name, self.api_url, self.slots, batches, run.warn)


def named_limit(prefect: bool = True) -> GlobalLimit:
    """Return the limit that the environment names.

    Args:
        prefect: whether Prefect may be used.

    Raises:
        DefinitionError: there is no such limit.
    """
    name = os.environ.get(VARIABLE, "")
    if not name:
        return GlobalLimit()
    if not prefect:
        return GlobalLimit(name, trouble="the run is without Prefect")
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    from flows.client import connected, find_api, hush_console
    from flows.server import ServerUnavailable

    hush_console()
    try:
        api_url = find_api()
        with connected(api_url), get_client(sync_client=True) as client:
            limit = client.read_global_concurrency_limit_by_name(name)
    except ServerUnavailable as error:
        return GlobalLimit(name, trouble=str(error))
    except ObjectNotFound:
        raise DefinitionError(
            f"Prefect has no global concurrency limit '{name}'",
            where=VARIABLE,
            fix=f"make it with: prefect gcl create {name} --limit N",
        ) from None
    return GlobalLimit(name, api_url, limit.limit)

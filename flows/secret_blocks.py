"""Secrets kept in Prefect Secret blocks."""

import re
from collections.abc import Collection
from typing import cast

from tasks_lib.errors import DefinitionError


def from_blocks(names: Collection[str]) -> dict[str, str]:
    """Return the values of Prefect Secret blocks, by the names that definitions use.

    A block's name holds lower-case letters, digits and dashes only, so `<< secrets.MY_KEY >>`
    means the block `my-key`.

    Args:
        names: of secrets that no file declares; Prefect is not imported for none.

    Raises:
        DefinitionError: there is no such block, or no Prefect API to ask.
    """
    if not names:
        return {}
    from prefect.blocks.system import Secret

    from flows.client import connected, find_api, hush_console
    from flows.server import ServerUnavailable

    hush_console()
    values: dict[str, str] = {}
    for name in names:
        block = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        try:
            with connected(find_api()):
                loaded = cast("Secret[str]", Secret.load(block, _sync=True))  # type: ignore[call-arg]
        except (ValueError, ServerUnavailable) as error:
            raise DefinitionError(
                f"secret '{name}' is neither declared nor a Prefect Secret block '{block}': "
                f"{str(error).splitlines()[0]}",
                fix=f"add '{name}: $YOUR_VARIABLE' under 'secrets:', or make the block",
            ) from None
        values[name] = str(loaded.get())
    return values

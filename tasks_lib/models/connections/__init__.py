"""The connections a model may use. To add one: write its file, then list it here."""

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from tasks_lib.models.connections.custom import CustomConnection
from tasks_lib.models.connections.local import LocalConnection
from tasks_lib.models.connections.mock import MockConnection
from tasks_lib.models.connections.placeholder import PlaceholderConnection
from tasks_lib.models.connections.provider import ProviderConnection
from tasks_lib.models.connections.replay import ReplayConnection


def _kind(value: Any) -> str:
    """The `connection_type`, which may be left out of a custom connection."""
    if isinstance(value, dict):
        return str(value.get("connection_type", "custom_connection"))
    return str(getattr(value, "connection_type", "custom_connection"))


Connection = Annotated[
    Annotated[CustomConnection, Tag("custom_connection")]
    | Annotated[ProviderConnection, Tag("provider_connection")]
    | Annotated[PlaceholderConnection, Tag("placeholder")]
    | Annotated[MockConnection, Tag("mock")]
    | Annotated[ReplayConnection, Tag("replay")]
    | Annotated[LocalConnection, Tag("local")],
    Discriminator(_kind),
]

__all__ = ["Connection"]

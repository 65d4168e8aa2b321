"""The model: who answers, over which connection, within which limits."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, FiniteFloat, PositiveInt, Tag

from tasks_lib.base import Definition
from tasks_lib.definitions.keys import DisplayName, ProviderReference, ReferencedKey
from tasks_lib.definitions.price import Price
from tasks_lib.models.connections import Connection
from tasks_lib.models.connections.base import REQUEST_TIMEOUT


class Model(Definition):
    """A model that tasks may evaluate or ask for help."""

    key: ReferencedKey
    """Name that evaluations and scorers use for the model."""
    display_name: DisplayName
    """Name shown to people."""
    description: str | None = None
    """What the model is, in a sentence."""
    task: Literal["chat_completion", "embeddings", "custom"] = "chat_completion"
    """What the model does."""
    rate_limit: PositiveInt | None = None
    """Requests per minute at most."""
    max_concurrent_requests: PositiveInt | None = None
    """Requests in flight at most."""
    timeout: Annotated[FiniteFloat, Field(gt=0)] = REQUEST_TIMEOUT
    """Seconds that one attempt of a request may take, waiting for its turn not counted."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Added to requests that do not set them: `temperature`, `max_tokens`, `seed`, …"""
    price: Price | None = None
    """What its tokens cost; looked up in files of prices when left out."""
    secrets: dict[str, str] | None = None
    """Secrets for `<< secrets.NAME >>`; write values as `$NAME`, which is what is stored."""
    config: Connection
    """How the model is reached."""


class ProviderModel(Definition):
    """A model of a known provider, called with `<PROVIDER>_API_KEY` from the environment."""

    provider: ProviderReference = Field(alias="$provider")
    """`<provider>/<model>`, such as `openai/gpt-4.1-nano`; its key is `openai$gpt-4-1-nano`."""


def _form(entry: Any) -> str:
    if isinstance(entry, dict):
        return "provider" if "$provider" in entry else "model"
    return "provider" if isinstance(entry, ProviderModel) else "model"


ModelEntry = Annotated[
    Annotated[Model, Tag("model")] | Annotated[ProviderModel, Tag("provider")],
    Discriminator(_form),
]
"""An entry of a list of models: a model, or a provider's by its name."""

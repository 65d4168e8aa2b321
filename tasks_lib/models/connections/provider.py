"""`provider_connection`: a model of a known provider, key from the environment."""

import os
from collections.abc import Mapping
from typing import ClassVar, Literal

from tasks_lib.models.connections.base import BaseConnection, ModelInfo
from tasks_lib.models.connections.http import HttpClient
from tasks_lib.secrets import reveal

PROVIDER_URLS: dict[str, str] = {
    "anthropic": "https://api.anthropic.com/v1",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "latticeflow": "https://api.latticeflow.ai/v1",
    "novita": "https://api.novita.ai/v3/openai",
    "openai": "https://api.openai.com/v1",
    "sambanova": "https://api.sambanova.ai/v1",
    "together": "https://api.together.xyz/v1",
}
"""OpenAI-compatible base URL of each provider; `<PROVIDER>_BASE_URL` overrides it."""

Provider = Literal[
    "anthropic", "fireworks", "gemini", "latticeflow", "novita", "openai", "sambanova", "together"
]


class ProviderConnection(BaseConnection):
    """A provider's model; the key comes from `<PROVIDER>_API_KEY`."""

    default_adapter: ClassVar[str] = "latticeflow$openai_chat_completion"

    connection_type: Literal["provider_connection"]
    provider_id: Provider
    """The provider."""
    model_key: str
    """The provider's own name of the model, sent as it is."""

    @property
    def provider_model(self) -> str:
        return self.model_key

    def open(
        self, info: ModelInfo, path: str, concurrency: int, secrets: Mapping[str, str]
    ) -> HttpClient:
        name = self.provider_id.upper()
        base = os.environ.get(f"{name}_BASE_URL") or PROVIDER_URLS[self.provider_id]
        api_key = reveal(f"${name}_API_KEY", secrets, f"{name}_API_KEY")
        return HttpClient(base.rstrip("/") + path, api_key, {}, concurrency, timeout=info.timeout)

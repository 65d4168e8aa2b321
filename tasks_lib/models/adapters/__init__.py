"""Adapters: a model input becomes a request's body, a reply's body a model output."""

from tasks_lib.models.adapters.base import Adapter
from tasks_lib.models.adapters.generic import Identity, TemplateAdapter
from tasks_lib.models.adapters.openai_chat import OpenAIChat
from tasks_lib.models.adapters.openai_responses import OpenAIResponses

BUILT_IN: dict[str, Adapter] = {
    "latticeflow$identity": Identity(),
    "latticeflow$identity_custom": Identity(),
    "latticeflow$openai_chat_completion": OpenAIChat(),
    "latticeflow$openai_responses": OpenAIResponses(),
}
"""Adapters that need no declaration, by key."""

__all__ = ["BUILT_IN", "Adapter", "TemplateAdapter"]

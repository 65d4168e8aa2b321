"""What a model's tokens cost."""

from typing import Annotated

from pydantic import Field, FiniteFloat

from tasks_lib.base import Definition

PER = 1_000_000
"""Prices are for so many tokens."""

Usd = Annotated[FiniteFloat, Field(ge=0)]


class Price(Definition):
    """USD per million tokens."""

    input: Usd
    """Prompt tokens."""
    output: Usd
    """Completion tokens."""
    cached_input: Usd | None = None
    """Prompt tokens that the provider had in its cache; as `input` when left out."""
    reasoning: Usd | None = None
    """Completion tokens that the model only thought; as `output` when left out."""

    def of(self, sent: int, made: int, cached: int = 0, reasoned: int = 0) -> float:
        """Return what a call costs, in USD.

        Args:
            sent: prompt tokens.
            made: completion tokens.
            cached: of the prompt tokens, those that came from the provider's cache.
            reasoned: of the completion tokens, those that were reasoning.
        """
        cached, reasoned = min(cached, sent), min(reasoned, made)
        of_cached = self.input if self.cached_input is None else self.cached_input
        of_reasoned = self.output if self.reasoning is None else self.reasoning
        prompt = (sent - cached) * self.input + cached * of_cached
        return (prompt + (made - reasoned) * self.output + reasoned * of_reasoned) / PER


class PriceFile(Definition):
    """A table of prices, for models that do not state their own."""

    as_of: str | None = None
    """When the prices were looked up."""
    prices: dict[str, Price]
    """By the key of a model, by `<provider>/<model>`, or by the provider's name of the model."""

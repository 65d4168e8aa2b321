"""What a run pays for its calls, and the budget that ends them."""

from collections.abc import Mapping

from tasks_lib.definitions.price import Price
from tasks_lib.errors import OverBudget
from tasks_lib.jsontext import loads
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.models.usage import usage_counts

_BYTES_PER_TOKEN = 4
_ROUNDING = 1e-9  # a sum of many prices may miss a round budget by so much


class Spending:
    """Counts the price of a run's fresh calls; changed on the model loop only.

    What the ledger answers is paid for already and costs nothing.

    Args:
        prices: by the key of the model; models without one are missing.
        budget: USD after which no call begins; None for no end.

    Attributes:
        usd: what the fresh calls cost as far as it is known, those before a resume included.
            Under a budget, calls whose tokens nobody counted are in it by their size.
        unpriced: fresh calls whose cost is not known.
    """

    def __init__(self, prices: Mapping[str, Price], budget: float | None = None) -> None:
        self.budget = budget
        self.usd = 0.0
        self.unpriced = 0
        self._prices = prices

    @property
    def cost_usd(self) -> float | None:
        """What the fresh calls cost; None when it is not known of all of them."""
        return None if self.unpriced else self.usd

    @property
    def used_up(self) -> bool:
        """Whether no further call may begin."""
        return self.budget is not None and self.usd >= self.budget * (1 - _ROUNDING)

    def check(self) -> None:
        """Let a call begin, or not.

        Raises:
            OverBudget: the budget is used up.
        """
        if self.used_up:
            raise OverBudget

    def cost(self, model_key: str, output: ModelOutput) -> float | None:
        """Return the price of a reply; None when the price or the tokens are not known."""
        price = self._prices.get(model_key)
        if price is None or not (output.counted or _prompt_tells(price, output)):
            return None
        return price.of(
            output.input_tokens, output.output_tokens, output.cached_tokens, output.reasoning_tokens
        )

    def pay(self, model_key: str, output: ModelOutput, request: bytes, reply: bytes) -> None:
        """Count a fresh reply.

        Args:
            model_key: who answered.
            output: the reply.
            request: the body that was sent.
            reply: the body that came.
        """
        cost = self.cost(model_key, output)
        if cost is not None:
            self.usd += cost
            return
        self.unpriced += 1
        price = self._prices.get(model_key)
        if price is not None and self.budget is not None:
            self.usd += price.of(len(request) // _BYTES_PER_TOKEN, len(reply) // _BYTES_PER_TOKEN)

    def pay_in_vain(self, model_key: str, reply: bytes) -> None:
        """Count a reply that could not be used, when it says what it took.

        Args:
            model_key: who answered.
            reply: the body that came.
        """
        price = self._prices.get(model_key)
        try:
            tokens = usage_counts(loads(reply))
        except ValueError:
            return
        if price is not None and tokens.counted:
            self.usd += price.of(tokens.sent, tokens.made, tokens.cached, tokens.reasoned)


def _prompt_tells(price: Price, output: ModelOutput) -> bool:
    """Whether the prompt's tokens, if any are paid for, are all that matters: embeddings."""
    return price.output == 0 and (price.input == 0 or output.input_tokens > 0)

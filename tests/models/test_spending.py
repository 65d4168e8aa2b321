import json
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.definitions.price import Price
from tasks_lib.errors import OverBudget, Stopped
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.models.spending import Spending

PRICE = Price(input=1, output=4)
PRICES = {"lab": PRICE, "free": Price(input=0, output=0), "vectors": Price(input=1, output=0)}


def reply(sent: int, made: int, counted: bool = True) -> ModelOutput:
    return ModelOutput({}, "stop", sent, made, counted=counted)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=40))
def test_what_is_paid_is_the_sum_of_what_replies_cost(tokens: list[tuple[int, int]]):
    spending = Spending(PRICES)
    outputs = [reply(*each) for each in tokens]
    for output in outputs:
        spending.pay("lab", output, b"", b"")
    costs = [spending.cost("lab", output) for output in outputs]
    assert spending.cost_usd == pytest.approx(fsum(cost for cost in costs if cost is not None))
    assert None not in costs


@given(st.integers(1, 300), st.integers(1, 1_000))
def test_a_budget_allows_just_the_calls_it_pays_for(calls: int, sent: int):
    spending = Spending(PRICES, budget=calls * sent / 1_000_000)
    made = 0
    while not spending.used_up:
        spending.check()
        spending.pay("lab", reply(sent, 0), b"", b"")
        made += 1
    assert made == calls
    with pytest.raises(OverBudget):
        spending.check()


def test_whoever_lets_the_end_of_a_run_pass_lets_the_end_of_the_budget_pass():
    assert issubclass(OverBudget, Stopped)


def test_no_budget_has_no_end_and_a_budget_of_nothing_allows_nothing():
    spending = Spending(PRICES)
    spending.usd = 1e9
    spending.check()
    with pytest.raises(OverBudget):
        Spending(PRICES, budget=0).check()


@pytest.mark.parametrize(
    ("model", "output", "cost"),
    [
        pytest.param("lab", reply(1_000_000, 1_000_000), 5.0, id="priced and counted"),
        pytest.param("unknown", reply(3, 3), None, id="no price"),
        pytest.param("lab", reply(0, 0, counted=False), None, id="tokens not counted"),
        pytest.param("free", reply(0, 0, counted=False), 0.0, id="free, whatever it took"),
        pytest.param("vectors", reply(1_000_000, 0, counted=False), 1.0, id="prompt alone paid"),
        pytest.param("vectors", reply(0, 0, counted=False), None, id="prompt alone, not counted"),
    ],
)
def test_the_cost_of_a_reply_is_known_or_null_and_never_nothing(
    model: str, output: ModelOutput, cost: float | None
):
    assert Spending(PRICES).cost(model, output) == cost


def test_one_call_of_unknown_cost_makes_the_sum_unknown():
    spending = Spending(PRICES)
    assert spending.cost_usd == 0.0
    spending.pay("lab", reply(1_000_000, 0), b"", b"")
    spending.pay("unknown", reply(3, 3), b"", b"")
    assert (spending.cost_usd, spending.usd, spending.unpriced) == (None, 1.0, 1)


def test_a_budget_counts_by_size_what_nobody_counted():
    spending = Spending(PRICES, budget=1)
    spending.pay("lab", reply(0, 0, counted=False), b"x" * 4_000, b"x" * 400)
    assert spending.usd == pytest.approx((1_000 + 4 * 100) / 1_000_000)
    assert spending.cost_usd is None


@pytest.mark.parametrize(
    ("body", "usd"),
    [
        pytest.param({"usage": {"prompt_tokens": 10, "completion_tokens": 5}}, 30e-6, id="counted"),
        pytest.param({"choices": []}, 0.0, id="not counted"),
        pytest.param([1], 0.0, id="no object"),
        pytest.param(None, 0.0, id="no JSON"),
    ],
)
def test_a_reply_in_vain_is_paid_for_when_it_says_so(body: object, usd: float):
    spending = Spending(PRICES)
    text = b"<html>" if body is None else json.dumps(body).encode()
    spending.pay_in_vain("lab", text)
    spending.pay_in_vain("unknown", text)
    assert spending.usd == pytest.approx(usd)

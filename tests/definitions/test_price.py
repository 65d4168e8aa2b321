import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks_lib.definitions.price import Price

PLAIN = Price(input=2, output=8)
FINE = Price(input=2, output=8, cached_input=0.5, reasoning=4)
TOKENS = st.integers(0, 10**7)
USD = st.floats(0, 1_000, allow_nan=False)


@pytest.mark.parametrize(
    ("price", "tokens", "usd"),
    [
        pytest.param(PLAIN, (1_000_000, 1_000_000), 10.0, id="a million of each"),
        pytest.param(PLAIN, (0, 0), 0.0, id="nothing"),
        pytest.param(PLAIN, (1_000, 10, 900, 9), 0.00208, id="no own price for cached, reasoned"),
        pytest.param(FINE, (1_000, 10, 900, 0), 0.00073, id="cached tokens have a price"),
        pytest.param(FINE, (0, 10, 0, 8), 0.000048, id="reasoning has a price"),
        pytest.param(FINE, (10, 0, 99, 99), 0.000005, id="no more is cached than was sent"),
    ],
)
def test_a_call_costs_its_tokens(price: Price, tokens: tuple[int, ...], usd: float):
    assert price.of(*tokens) == pytest.approx(usd, rel=1e-12)


@given(USD, USD, TOKENS, TOKENS, TOKENS, TOKENS)
def test_what_is_cheaper_in_part_is_never_dearer_as_a_whole(
    input_usd: float, output_usd: float, sent: int, made: int, cached: int, reasoned: int
):
    plain = Price(input=input_usd, output=output_usd)
    less = Price(
        input=input_usd, output=output_usd, cached_input=input_usd / 4, reasoning=output_usd / 2
    )
    dearest = plain.of(sent, made, cached, reasoned)
    assert 0 <= less.of(sent, made, cached, reasoned) <= dearest * (1 + 1e-12)
    assert dearest == pytest.approx(plain.of(sent, made))


@pytest.mark.parametrize("usd", [-1, float("nan"), float("inf")])
def test_a_price_is_an_amount(usd: float):
    with pytest.raises(ValidationError):
        Price(input=usd, output=1)

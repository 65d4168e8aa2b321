from pathlib import Path
from typing import Any

import pytest

from tasks_lib.definitions.model import Model
from tasks_lib.definitions.price import Price
from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.plan.prices import SHIPPED, PriceTable, check_priced, find_prices, usd
from tasks_lib.resolve.library import provider_model

NANO = Price(input=0.1, cached_input=0.025, output=0.4)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALMILL_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def model(key: str = "lab", price: Any = None, **config: Any) -> Model:
    fields = {"key": key, "display_name": key, "price": price, "config": config}
    return Model.model_validate(fields)


def at(url: str, name: str = "gpt-4.1-nano") -> Model:
    return model(connection_type="custom_connection", url=url, model_key=name)


def table(path: Path, *lines: str) -> Path:
    path.write_text("prices:\n" + "".join(f"  {line}\n" for line in lines))
    return path


def price_of(found: Model, file: Path | None = None) -> Price | None:
    known = find_prices({"it": found}, file).get("it")
    return known.price if known else None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("gpt-4.1-nano", id="by its name"),
        pytest.param("gpt-4.1-nano-2025-04-14", id="by a dated name"),
        pytest.param("gpt-4.1-nano-latest", id="by the name of the latest"),
    ],
)
def test_a_well_known_model_has_its_list_price(name: str):
    assert price_of(provider_model(f"openai/{name}")) == NANO


def test_a_version_may_have_a_price_of_its_own():
    dear = price_of(provider_model("openai/gpt-4o-2024-05-13"))
    later = price_of(provider_model("openai/gpt-4o-2024-11-20"))
    assert dear is not None
    assert later is not None
    assert dear.input > later.input


@pytest.mark.parametrize(
    ("url", "known"),
    [
        pytest.param("https://api.openai.com/v1", True, id="the provider itself"),
        pytest.param("https://gateway.example.com/v1", False, id="somebody else"),
        pytest.param("http://127.0.0.1:8000/v1", False, id="this machine"),
        pytest.param("$ENDPOINT", False, id="not known yet"),
    ],
)
def test_list_prices_are_those_of_the_providers_own_endpoints(url: str, known: bool):
    assert (price_of(at(url)) == NANO) == known


@pytest.mark.parametrize(
    "config",
    [
        {"connection_type": "mock", "default": "x"},
        {"connection_type": "replay", "file_path": "/replies.jsonl"},
        {"connection_type": "local"},
    ],
    ids=lambda config: config["connection_type"],
)
def test_what_runs_here_costs_nothing(config: dict[str, Any]):
    assert price_of(model(**config)) == Price(input=0, output=0)


def test_the_nearest_price_wins(tmp_path: Path, home: Path):
    nano = provider_model("openai/gpt-4.1-nano")
    named = table(tmp_path / "named.yaml", "openai/gpt-4.1-nano: {input: 7, output: 7}")
    table(
        home / "prices.yaml",
        "openai/gpt-4.1-nano: {input: 5, output: 5}",
        "openai/gpt-4.1-mini: {input: 6, output: 6}",
    )
    own = nano.model_copy(update={"price": Price(input=9, output=9)})
    assert price_of(own, named) == Price(input=9, output=9)
    assert price_of(nano, named) == Price(input=7, output=7)
    assert price_of(nano) == Price(input=5, output=5)
    assert price_of(provider_model("openai/gpt-4.1-mini"), named) == Price(input=6, output=6)
    assert price_of(provider_model("openai/gpt-4.1"), named) == Price(
        input=2, output=8, cached_input=0.5
    )


@pytest.mark.parametrize("name", ["lab", "qwen-7b"])
def test_a_table_of_ones_own_may_use_any_name(tmp_path: Path, name: str):
    file = table(tmp_path / "prices.yaml", f"{name}: {{input: 1, output: 2}}")
    found = find_prices({"lab": at("http://127.0.0.1/v1", "qwen-7b")}, file)
    assert found["lab"].price == Price(input=1, output=2)
    assert found["lab"].source == str(file)


def test_a_model_without_a_price_is_missing():
    assert find_prices({"lab": at("http://127.0.0.1/v1")}) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("prices:\n  lab: {input: -1, output: 1}\n", "prices.yaml:2", id="negative"),
        pytest.param("prices:\n  lab: {input: 1}\n", "output", id="half a price"),
        pytest.param("lab: {input: 1, output: 1}\n", "prices", id="no table"),
    ],
)
@pytest.mark.parametrize("price", [None, {"input": 1, "output": 1}], ids=["needed", "not needed"])
def test_a_wrong_table_is_refused_where_it_is_wrong(
    tmp_path: Path, text: str, words: str, price: dict[str, int] | None
):
    (tmp_path / "prices.yaml").write_text(text)
    lab = at("http://127.0.0.1/v1").model_copy(update={"price": price and Price(**price)})
    with pytest.raises(DefinitionErrors, match=words):
        find_prices({"lab": lab}, tmp_path / "prices.yaml")


def test_a_named_table_must_be_there(tmp_path: Path):
    with pytest.raises(DefinitionError, match=r"none\.yaml"):
        find_prices({"lab": at("http://127.0.0.1/v1")}, tmp_path / "none.yaml")


def test_the_shipped_table_is_dated_and_sane():
    content = PriceTable(SHIPPED).content
    assert content.as_of
    for name, price in content.prices.items():
        assert "/" in name
        assert price.cached_input is None or price.cached_input < price.input
        assert price.input <= price.output or price.output == 0


def test_a_budget_needs_every_price():
    prices = find_prices({"lab": model(connection_type="mock", default="x")})
    check_priced(["lab"], prices)
    with pytest.raises(DefinitionError) as caught:
        check_priced(["lab", "judge", "user"], prices)
    assert "model 'judge', model 'user'" in str(caught.value)
    assert "price: {input: …, output: …}" in caught.value.fix


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0.00"),
        (1234.5, "$1,234.50"),
        (0.5, "$0.500"),
        (0.0123456, "$0.0123"),
        (0.00000123, "$0.00000123"),
        (0.9999, "$1.000"),
    ],
)
def test_small_amounts_keep_three_digits(amount: float, text: str):
    assert usd(amount) == text

"""Finding the prices of the models that a run calls."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import floor, log10
from pathlib import Path
from urllib.parse import urlsplit

from tasks_lib.definitions.model import Model
from tasks_lib.definitions.price import Price, PriceFile
from tasks_lib.errors import DefinitionError
from tasks_lib.home import evalmill_home
from tasks_lib.loading import load, validate
from tasks_lib.models.connections.custom import CustomConnection
from tasks_lib.models.connections.local import LocalConnection
from tasks_lib.models.connections.mock import MockConnection
from tasks_lib.models.connections.provider import PROVIDER_URLS, ProviderConnection
from tasks_lib.models.connections.replay import ReplayConnection

SHIPPED = Path(__file__).with_name("prices.yaml")
"""The list prices that come with evalmill."""

_NOTHING = Price(input=0, output=0)
_HOSTS = {urlsplit(url).hostname: provider for provider, url in PROVIDER_URLS.items()}
_VERSION = re.compile(r"-(\d{4}-\d\d-\d\d|\d{8}|latest)$")
"""What a provider appends to a model's name without changing its price."""


@dataclass(frozen=True)
class KnownPrice:
    """A price, and where it was found."""

    price: Price
    source: str


@dataclass(frozen=True)
class PriceTable:
    """A file of prices, read when it is first looked into.

    Args:
        path: the file.
        own: whether it is the user's, who may name models by any of their names; the shipped
            table knows the providers' own endpoints alone.
    """

    path: Path
    own: bool = True

    @cached_property
    def content(self) -> PriceFile:
        """What the file says.

        Raises:
            DefinitionErrors: it can't be read, or is no file of prices.
        """
        return validate(load(self.path, "prices"), PriceFile)

    def check(self) -> None:
        """Read the file now, whether or not a price of it is needed.

        Raises:
            DefinitionErrors: it is wrong.
        """
        _ = self.content

    def find(self, model: Model) -> KnownPrice | None:
        """Return the price of a model; None when the table has none."""
        for name in _names(model) if self.own else _provider_names(model):
            price = self.content.prices.get(name)
            if price is not None:
                as_of = f" of {self.content.as_of}" if self.content.as_of else ""
                return KnownPrice(price, f"{self.path if self.own else 'list prices'}{as_of}")
        return None


def find_prices(models: Mapping[str, Model], file: Path | None = None) -> dict[str, KnownPrice]:
    """Return the prices that are known, by the key of the model.

    A model's own `price` comes first, then `file`, `prices.yaml` in evalmill's home, and the
    list prices that come with evalmill. Models in this process, and what only replays or
    pretends, cost nothing.

    Args:
        models: by key.
        file: a file of prices that was named.

    Raises:
        DefinitionErrors: a file of prices is wrong.
    """
    at_home = evalmill_home() / "prices.yaml"
    tables = [PriceTable(path) for path in (file, at_home if at_home.is_file() else None) if path]
    if file is not None:
        tables[0].check()
    tables.append(PriceTable(SHIPPED, own=False))
    found = {key: _find(model, tables) for key, model in models.items()}
    return {key: known for key, known in found.items() if known is not None}


def _find(model: Model, tables: Iterable[PriceTable]) -> KnownPrice | None:
    if model.price is not None:
        return KnownPrice(model.price, "the model")
    if isinstance(model.config, MockConnection | ReplayConnection | LocalConnection):
        return KnownPrice(_NOTHING, "nobody is paid")
    return next((known for table in tables if (known := table.find(model))), None)


def _provider_names(model: Model) -> Iterator[str]:
    """What the shipped table may call a model: `<provider>/<model>`, its version apart."""
    connection = model.config
    if isinstance(connection, ProviderConnection):
        provider: str | None = connection.provider_id
    elif isinstance(connection, CustomConnection):
        provider = _HOSTS.get(urlsplit(connection.url).hostname)
    else:
        provider = None
    if provider is not None:
        for name in _with_and_without_version(connection.provider_model):
            yield f"{provider}/{name}"


def _names(model: Model) -> Iterator[str]:
    yield model.key
    yield from _provider_names(model)
    yield from _with_and_without_version(model.config.provider_model)


def _with_and_without_version(name: str) -> Iterator[str]:
    if name:
        yield name
        yield _VERSION.sub("", name)


def usd(amount: float) -> str:
    """Return an amount as people read it: cents, or three digits of what is less."""
    if 0 < amount < 1:
        return f"${amount:.{2 - floor(log10(amount))}f}"
    return f"${amount:,.2f}"


def check_priced(models: Iterable[str], prices: Mapping[str, KnownPrice]) -> None:
    """Refuse a budget where it is not known what calls cost.

    Args:
        models: keys of those that may be called.
        prices: what is known.

    Raises:
        DefinitionError: a model has no price.
    """
    unknown = [key for key in models if key not in prices]
    if unknown:
        raise DefinitionError(
            f"the price of {_listed(unknown)} is not known, so a budget can't be kept",
            where="--budget-usd",
            fix=HOW_TO_PRICE,
        )


HOW_TO_PRICE = (
    "add to the model, in USD per million tokens: 'price: {input: …, output: …}', or name a file "
    "of prices with --prices"
)


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(f"model '{key}'" for key in keys)

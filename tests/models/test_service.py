import asyncio
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.definitions.model import Model
from tasks_lib.errors import DefinitionError
from tasks_lib.models.service import DEFAULT_CONCURRENCY, allowed_concurrency
from tests.models.calling import endpoint, service_of

URL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("of_model", "of_run", "allowed"),
    [
        (None, None, DEFAULT_CONCURRENCY),
        (3, None, 3),
        (None, 50, 50),
        (3, 50, 3),
        (100, 50, 50),
    ],
)
def test_the_least_of_what_is_said_bounds_the_calls(
    of_model: int | None, of_run: int | None, allowed: int
):
    assert allowed_concurrency(endpoint(URL, max_concurrent_requests=of_model), of_run) == allowed


def test_a_model_that_serves_one_call_at_a_time_gets_one():
    config: dict[str, Any] = {"connection_type": "local"}
    model = Model.model_validate({"key": "m", "display_name": "m", "config": config})
    assert allowed_concurrency(model, 50) == 1


def test_a_model_is_opened_once_and_unknown_ones_never(tmp_path: Path):
    async def main() -> None:
        async with service_of(tmp_path, endpoint(URL), max_connections=7) as service:
            assert service.model("lab") is service.model("lab")
            assert service.model("lab").limiter.concurrency == 7 == service.concurrency("lab")
            with pytest.raises(DefinitionError, match="model 'x' is not declared; add it under"):
                service.model("x")

    asyncio.run(main())


def test_keys_of_one_endpoint_and_model_share_a_limiter(tmp_path: Path):
    models = [
        endpoint(URL, key="solver", max_concurrent_requests=9),
        endpoint(URL, key="judge", max_concurrent_requests=4, rate_limit=60),
        endpoint(URL, key="other", model_key="m2"),
    ]

    async def main() -> None:
        async with service_of(tmp_path, *models) as service:
            solver, judge, other = (service.model(model.key).limiter for model in models)
            assert solver is judge is not other
            assert solver.concurrency == 4

    asyncio.run(main())


def test_a_models_own_secrets_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OWN", "sk-own-123456")
    model = endpoint(URL, api_key="<< secrets.key >>", secrets={"key": "$OWN"})

    async def main() -> None:
        async with service_of(tmp_path, model, secrets={"key": "$UNSET"}) as service:
            service.model("lab")

    asyncio.run(main())

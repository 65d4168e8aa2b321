import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.models.limiter import WINDOW_SECONDS, Limiter
from tests.models.clock import run_skipping, skipping_loop


def test_no_more_than_allowed_are_inside():
    async def main() -> int:
        limiter, inside, most = Limiter(3), 0, 0

        async def use() -> None:
            nonlocal inside, most
            async with limiter:
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(1)
                inside -= 1

        await asyncio.gather(*(use() for _ in range(20)))
        return most

    assert run_skipping(main()) == 3


@pytest.mark.parametrize("per_minute", [None, 4])
def test_who_came_first_goes_first(per_minute: int | None):
    async def main() -> list[int]:
        limiter, order = Limiter(2, per_minute), []

        async def use(number: int) -> None:
            async with limiter:
                order.append(number)
                await asyncio.sleep(1)

        await asyncio.gather(*(use(i) for i in range(10)))
        return order

    assert run_skipping(main()) == list(range(10))


def test_whoever_comes_again_queues_behind_those_who_wait():
    async def main() -> list[str]:
        limiter, order = Limiter(1), []

        async def use(name: str, times: int) -> None:
            for _ in range(times):
                async with limiter:
                    order.append(name)
                    await asyncio.sleep(1)

        await asyncio.gather(use("a", 3), use("b", 3))
        return order

    assert run_skipping(main()) == ["a", "b", "a", "b", "a", "b"]


def starts(per_minute: int, lengths: list[float]) -> list[float]:
    """When calls of these lengths start, from the first on."""

    async def main() -> list[float]:
        limiter, started = Limiter(5, per_minute), []

        async def use(length: float) -> None:
            async with limiter:
                started.append(skipping_loop().time())
                await asyncio.sleep(length)

        await asyncio.gather(*(use(length) for length in lengths))
        return [moment - started[0] for moment in started]

    return run_skipping(main())


def test_calls_beyond_the_rate_wait_for_the_window_to_move_on():
    moments = starts(3, [0.0] * 7)
    assert [round(moment) for moment in moments] == [0, 0, 0, 60, 60, 60, 120]


@given(
    st.integers(1, 4),
    st.lists(st.floats(0, 100), min_size=1, max_size=15),
)
def test_no_sixty_seconds_see_more_starts_than_the_rate(per_minute: int, lengths: list[float]):
    moments = starts(per_minute, lengths)
    assert len(moments) == len(lengths)
    for i in range(len(moments) - per_minute):
        assert moments[i + per_minute] - moments[i] >= WINDOW_SECONDS - 1e-6


def test_a_waiter_that_gives_up_frees_its_place():
    async def main() -> None:
        limiter = Limiter(1, 1)
        async with limiter:
            pass
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5), limiter:
                pytest.fail("the window is closed")
        before = skipping_loop().time()
        async with limiter:
            assert skipping_loop().time() - before > 50
        with pytest.raises(RuntimeError, match="inside"):
            async with Limiter(1):
                raise RuntimeError("inside")

    run_skipping(main())


def test_what_the_sleep_raises_ends_the_waiting():
    class Over(Exception):
        pass

    async def over(seconds: float) -> None:
        assert 0 < seconds <= WINDOW_SECONDS
        raise Over

    async def main() -> None:
        limiter = Limiter(2, 1, over)
        async with limiter:
            for _ in range(3):  # each frees its place again
                with pytest.raises(Over):
                    await limiter.__aenter__()

    run_skipping(main())

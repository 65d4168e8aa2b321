import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.models.connections.base import CallFailure
from tasks_lib.models.limits.limiter import Limiter
from tasks_lib.models.limits.quota import Quota
from tasks_lib.models.limits.shared import SharedState
from tests.models.clock import run_skipping, skipping_loop
from tests.models.limits.crowd import Crowd, Endpoint

MINUTE = 60.0


def refusal(retry_after: float | None = None, status: int = 429) -> CallFailure:
    return CallFailure("infra", "slow down", retryable=True, retry_after=retry_after, status=status)


async def end_as_refused(limiter: Limiter, seconds: float = 0.0, **how: float) -> None:
    """One call that is refused after so many seconds."""
    with suppress(CallFailure):
        async with limiter.turn():
            await asyncio.sleep(seconds)
            raise refusal(**how)


async def begun_after(limiter: Limiter) -> float:
    """The seconds that one more call waits for its turn."""
    before = skipping_loop().time()
    async with limiter.turn():
        return skipping_loop().time() - before


# the queue


@dataclass
class Users:
    """Who uses limiters, in the order of their turns, and how many did so at a time."""

    order: list[object] = field(default_factory=list)
    inside: int = 0
    most_inside: int = 0

    async def use(self, limiter: Limiter, name: object, again: bool = False) -> None:
        """Make one call that takes a second."""
        async with limiter.turn(again):
            self.order.append(name)
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            await asyncio.sleep(1)
            self.inside -= 1

    async def use_often(self, limiter: Limiter, name: object, times: int) -> None:
        """Make one call after another."""
        for _ in range(times):
            await self.use(limiter, name)


def test_as_many_as_allowed_are_inside_and_no_more():
    async def main() -> tuple[int, float]:
        limiter, users, began = Limiter(3), Users(), skipping_loop().time()
        await asyncio.gather(*(users.use(limiter, i) for i in range(21)))
        return users.most_inside, skipping_loop().time() - began

    assert run_skipping(main()) == (3, pytest.approx(7))


@pytest.mark.parametrize("per_minute", [None, 4])
def test_who_came_first_goes_first(per_minute: int | None):
    async def main() -> list[object]:
        limiter, users = Limiter(2, per_minute), Users()
        await asyncio.gather(*(users.use(limiter, i) for i in range(10)))
        return users.order

    assert run_skipping(main()) == list(range(10))


def test_whoever_comes_anew_queues_behind_those_who_wait():
    async def main() -> list[object]:
        limiter, users = Limiter(1), Users()
        await asyncio.gather(*(users.use_often(limiter, name, 3) for name in "ab"))
        return users.order

    assert run_skipping(main()) == ["a", "b", "a", "b", "a", "b"]


def test_solver_and_judges_share_the_queue_evenly():
    async def main() -> list[object]:
        limiter, users = Limiter(4), Users()
        names = ["solver"] * 8 + ["judge"] * 8
        await asyncio.gather(*(users.use_often(limiter, name, 10) for name in names))
        return users.order

    order = run_skipping(main())
    for some in (order[20:60], order[60:100]):
        assert some.count("judge") == 20


def test_a_call_that_is_tried_again_goes_first_in_the_order_of_its_kind():
    async def main() -> list[object]:
        limiter, users = Limiter(1), Users()
        names = [("a", False), ("b", False), ("c", True), ("d", True), ("e", False)]
        await asyncio.gather(*(users.use(limiter, *name) for name in names))
        return users.order

    assert run_skipping(main()) == ["a", "c", "d", "b", "e"]


Acts = list[tuple[float, float, float | None, bool]]


@given(
    st.integers(1, 4),
    st.none() | st.integers(1, 600),
    st.lists(
        st.tuples(st.floats(0, 3), st.floats(0, 3), st.none() | st.floats(0, 5), st.booleans()),
        max_size=30,
    ),
)
def test_never_more_in_flight_than_allowed_and_every_waiter_has_its_turn(
    bound: int, per_minute: int | None, acts: Acts
):
    """Calls arrive, last, are refused and are given up at any moments."""

    async def main() -> None:
        limiter, inside, turns, given_up = Limiter(bound, per_minute), 0, 0, 0

        async def use(arrives: float, lasts: float, patience: float | None, bad: bool) -> None:
            nonlocal inside, turns, given_up
            await asyncio.sleep(arrives)
            try:
                async with asyncio.timeout(patience), limiter.turn(again=bad):
                    inside += 1
                    assert inside <= bound
                    try:
                        await asyncio.sleep(lasts)
                        turns += 1
                        if bad:
                            raise refusal(retry_after=1.0)
                    finally:
                        inside -= 1
            except TimeoutError:
                given_up += 1
            except CallFailure:
                pass

        async with asyncio.timeout(7200):
            await asyncio.gather(*(use(*act) for act in acts))
        assert turns + given_up == len(acts)
        assert limiter.in_flight == 0
        limiter.close()

    run_skipping(main())


def test_a_waiter_that_gives_up_frees_its_place():
    async def main() -> None:
        limiter = Limiter(1, 1)
        async with limiter.turn():
            pass
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5), limiter.turn():
                pytest.fail("the minute is not over")
        assert 50 < await begun_after(limiter) < 60
        with pytest.raises(RuntimeError, match="inside"):
            async with Limiter(1).turn():
                raise RuntimeError("inside")

    run_skipping(main())


def test_a_waiter_that_is_cancelled_when_its_turn_comes_passes_it_on():
    async def main() -> None:
        limiter, users = Limiter(1), Users()
        async with limiter.turn():
            second, third = (asyncio.ensure_future(users.use(limiter, i)) for i in (2, 3))
            await asyncio.sleep(1)
        second.cancel()  # it has its turn by now, and hasn't run yet
        async with asyncio.timeout(5):
            await third
        assert second.cancelled()
        assert users.order == [3]
        assert limiter.in_flight == 0

    run_skipping(main())


def test_what_the_check_raises_ends_the_waiting_for_time_to_pass():
    class Over(Exception):
        pass

    def over() -> None:
        raise Over

    async def main() -> None:
        limiter = Limiter(2, 1, over)
        async with limiter.turn():
            for _ in range(3):  # each frees its place again
                with pytest.raises(Over):
                    await limiter.turn().__aenter__()
        assert limiter.in_flight == 0

    run_skipping(main())


# the pace


def starts(per_minute: int, lengths: list[float]) -> list[float]:
    """When calls of these lengths start, from the first on."""

    async def main() -> list[float]:
        limiter, started = Limiter(5, per_minute), []

        async def use(length: float) -> None:
            async with limiter.turn():
                started.append(skipping_loop().time())
                await asyncio.sleep(length)

        await asyncio.gather(*(use(length) for length in lengths))
        return [moment - started[0] for moment in started]

    return run_skipping(main())


def test_calls_of_a_minute_are_spread_over_it():
    assert [round(moment) for moment in starts(3, [0.0] * 7)] == [0, 20, 40, 60, 80, 100, 120]


def test_a_high_rate_begins_with_no_more_than_a_tenth_of_a_seconds_calls():
    moments = starts(6000, [0.0] * 300)
    assert sum(moment < 0.05 for moment in moments) <= 16
    assert 2.85 < moments[-1] < 3.1
    for i in range(len(moments) - 110):
        assert moments[i + 110] - moments[i] > 0.999


@given(
    st.integers(1, 4) | st.integers(600, 1300),
    st.lists(st.floats(0, 100), min_size=1, max_size=15),
)
def test_no_sixty_seconds_see_more_starts_than_the_rate(per_minute: int, lengths: list[float]):
    moments = starts(per_minute, lengths)
    assert len(moments) == len(lengths)
    for i in range(len(moments) - per_minute):
        assert moments[i + per_minute] - moments[i] >= MINUTE - 0.2  # each notes it when it runs


# what servers say


def test_a_refused_call_does_not_stop_the_others():
    async def main() -> float:
        limiter = Limiter(2)
        await end_as_refused(limiter, retry_after=30.0)
        return await begun_after(limiter)

    assert run_skipping(main()) < 0.1


@pytest.mark.parametrize(
    ("status", "retry_after", "waited"),
    [
        pytest.param(429, 30.0, 30, id="refused for all"),
        pytest.param(503, 30.0, 30, id="overloaded"),
        pytest.param(529, 30.0, 30, id="overloaded, says Anthropic"),
        pytest.param(500, 30.0, 0, id="broken is not busy"),
        pytest.param(429, None, 0, id="nothing is asked"),
        pytest.param(429, 86400.0, 0, id="who asks for a day is not waited for"),
    ],
)
def test_when_nearly_all_are_refused_the_wait_asked_for_is_everybodys(
    status: int, retry_after: float | None, waited: int
):
    async def main() -> float:
        limiter = Limiter(8)
        ends = [
            end_as_refused(limiter, 1.0, status=status, retry_after=retry_after) for _ in range(5)
        ]
        await asyncio.gather(*ends)
        return await begun_after(limiter)

    assert round(run_skipping(main())) == waited


def test_a_quota_that_runs_low_is_spent_evenly():
    async def main() -> list[float]:
        limiter, began = Limiter(5), []
        limiter.heed(Quota(remaining=300, limit=600, reset=30.0))
        assert await begun_after(limiter) < 0.05
        limiter.heed(Quota(remaining=50, limit=600, reset=55.0))  # ten a second come back
        for _ in range(30):
            await begun_after(limiter)
            began.append(skipping_loop().time())
        return began

    began = run_skipping(main())
    assert 2.7 < began[-1] - began[0] < 3.1


def test_a_quota_that_is_used_up_and_comes_back_at_once_is_waited_for():
    async def main() -> float:
        limiter = Limiter(5)
        limiter.heed(Quota(remaining=0, limit=None, reset=20.0))
        return await begun_after(limiter)

    assert 19 < run_skipping(main()) < 21


# what refusals teach


def crowd(endpoint: Endpoint, calls: int, bound: int, users: int = 1, **how: float) -> Crowd:
    return Crowd(endpoint, calls, bound, users, **how).run()


@pytest.mark.parametrize(
    ("latency", "bound"),
    [
        pytest.param(0.05, 10, id="a fast server"),
        pytest.param(0.05, 100, id="a fast server and far too many connections"),
        pytest.param(1.0, 100, id="a slow server"),
    ],
)
def test_an_unknown_rate_limit_is_found_and_kept_to(latency: float, bound: int):
    end = crowd(Endpoint(per_second=50, latency=latency), 2000, bound)
    assert end.lost == 0
    assert end.answered_a_second(after=5) > 45
    assert end.share_refused(after=5) < 0.02


def test_an_unknown_bound_of_calls_at_a_time_is_found():
    end = crowd(Endpoint(at_a_time=20, latency=1.0), 2000, bound=50)
    assert end.lost == 0
    assert end.answered_a_second(after=5) > 0.85 * 20
    assert end.share_refused(after=5) < 0.03


def test_stray_refusals_hardly_slow_down():
    """A share of them has nothing to do with how much is asked."""
    few = crowd(Endpoint(latency=0.1, faults=0.02), 5000, bound=50)
    assert few.answered_a_second() > 200
    many = crowd(Endpoint(latency=0.1, faults=0.2), 3000, bound=50)
    assert many.answered_a_second() > 30


def test_a_limit_that_is_lifted_is_noticed():
    endpoint = Endpoint(per_second=20, latency=0.1)
    end = crowd(endpoint, 4000, bound=20, lifted_after=20.0)
    assert end.ended - end.began < 20 + 60
    assert max(endpoint.rate(end.ended - 10), endpoint.rate(end.ended - 5)) > 150


def test_a_burst_of_refusals_counts_once():
    async def main() -> tuple[float, float]:
        limiter = Limiter(100)
        loop = skipping_loop()

        async def accepted() -> None:
            async with limiter.turn():
                await asyncio.sleep(2)

        calls: list[Awaitable[None]] = [accepted() for _ in range(40)]
        calls += [end_as_refused(limiter, 0.1 + i / 1000) for i in range(60)]
        await asyncio.gather(*calls)
        now = loop.time()
        return limiter._congestion.rate(now), limiter._congestion.concurrency(now)

    rate, concurrency = run_skipping(main())
    assert 0.9 * 40 <= rate <= 40
    assert 0.75 * 40 <= concurrency <= 40


# several users of one endpoint


def shared(folder: Path) -> SharedState:
    return SharedState(folder, skipping_loop().time())


def test_users_share_what_they_learn(tmp_path: Path):
    end = crowd(Endpoint(per_second=50, latency=0.05), 2000, 10, 4, folder=tmp_path / "x")
    assert end.lost == 0
    assert end.answered_a_second(after=5) > 45
    assert end.share_refused(after=5) < 0.02


def test_a_models_bound_is_that_of_all_its_users(tmp_path: Path):
    async def main() -> tuple[int, list[float]]:
        limiters = [Limiter(8, shared=shared(tmp_path / "x"), of_all=8) for _ in range(3)]
        users, ends, began = Users(), [], skipping_loop().time()

        async def all_of(limiter: Limiter) -> None:
            await asyncio.gather(*(users.use(limiter, i) for i in range(40)))
            ends.append(skipping_loop().time() - began)

        await asyncio.gather(*map(all_of, limiters))
        for limiter in limiters:
            limiter.close()
        return users.most_inside, ends

    most, ends = run_skipping(main())
    assert most == 8
    assert max(ends) < 1.25 * 120 / 8, "the bound is used"
    assert min(ends) > 0.5 * max(ends), "nobody is kept waiting for the others' ends"
    assert not (tmp_path / "x").exists(), "who leaves last clears up"


def test_calls_that_take_long_count_for_all_their_time(tmp_path: Path):
    async def main() -> float:
        one, two = (Limiter(4, shared=shared(tmp_path / "x"), of_all=4) for _ in range(2))

        async def use() -> None:
            async with one.turn():
                await asyncio.sleep(600)

        calls = asyncio.gather(*(use() for _ in range(4)))
        await asyncio.sleep(1)
        waited = await begun_after(two)
        await calls
        one.close()
        two.close()
        return waited

    assert 598 < run_skipping(main()) < 600


def test_a_declared_rate_is_that_of_all_its_users(tmp_path: Path):
    async def main() -> float:
        limiters = [Limiter(8, 60, shared=shared(tmp_path / "x")) for _ in range(3)]
        began = skipping_loop().time()
        await asyncio.gather(*(begun_after(limiter) for limiter in limiters for _ in range(10)))
        for limiter in limiters:
            limiter.close()
        return skipping_loop().time() - began

    assert 28.5 < run_skipping(main()) < 31


def test_keys_of_one_model_keep_to_the_least_that_is_said():
    async def main() -> None:
        limiter = Limiter(50)
        limiter.tighten(3, 60, None)
        limiter.tighten(7, 6000, None)
        assert limiter.concurrency == 3
        await begun_after(limiter)
        assert 0.9 < await begun_after(limiter) < 1.1

    run_skipping(main())

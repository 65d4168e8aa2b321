import asyncio
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from tasks_lib.models.loop import LoopThread, StalledError, worked_off


@pytest.fixture
def loop():
    thread = LoopThread()
    yield thread
    thread.close()


async def where() -> str:
    return threading.current_thread().name


def test_coroutines_of_all_threads_run_in_one_thread(loop: LoopThread):
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: loop.run(where()), range(50)))
    assert names == {"evalmill-models"}


def test_what_a_coroutine_raises_is_raised_to_the_caller(loop: LoopThread):
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        loop.run(fail())


def test_the_loop_refuses_to_wait_for_itself(loop: LoopThread):
    async def wait() -> None:
        loop.run(where())

    with pytest.raises(RuntimeError, match="can't wait for itself"):
        loop.run(wait())


def test_closing_cancels_what_runs_and_wakes_whoever_waits(loop: LoopThread):
    begun = threading.Event()

    async def forever() -> None:
        begun.set()
        await asyncio.sleep(1000)

    future = loop.submit(forever())
    begun.wait()
    loop.close()
    with pytest.raises(CancelledError):
        future.result(timeout=5)


def test_nothing_begins_after_closing(loop: LoopThread):
    loop.close()
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.run(where())


def test_no_caller_waits_forever_for_a_loop_that_closes(loop: LoopThread):
    def ask() -> None:
        try:
            while True:
                loop.run(where())
        except (RuntimeError, CancelledError):
            return

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    loop.close()
    for thread in threads:
        thread.join(timeout=5)
        assert not thread.is_alive()


def test_items_are_worked_off_by_so_many_workers():
    done: list[int] = []
    inside = most = 0

    async def work(item: int) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        done.append(item)

    asyncio.run(worked_off(range(20), work, 3))
    assert sorted(done) == list(range(20))
    assert most == 3
    asyncio.run(worked_off([], work, 3))


def test_the_first_failure_is_raised_when_all_workers_have_ended():
    done: list[int] = []

    async def work(item: int) -> None:
        if item == 1:
            raise ValueError("one")
        await asyncio.sleep(0.001)
        done.append(item)

    with pytest.raises(ValueError, match="one"):
        asyncio.run(worked_off(range(6), work, 2))
    assert done == [0, 2, 3, 4, 5]


def test_work_without_a_sign_of_life_is_given_up():
    done: list[int] = []

    async def work(item: int) -> None:
        await asyncio.sleep(60 if item == 2 else 0)
        done.append(item)

    began = time.monotonic()
    with pytest.raises(StalledError, match=r"nothing of its batch came to an end in 0\.1 s"):
        asyncio.run(worked_off(range(5), work, 2, patience=0.1))
    assert (time.monotonic() - began < 2, done) == (True, [0, 1, 3, 4])


def test_slow_work_that_shows_signs_of_life_goes_on():
    lives = iter(range(100))

    done = []

    async def work(item: int) -> None:
        await asyncio.sleep(0.3)
        done.append(item)

    asyncio.run(worked_off(range(2), work, 2, lambda: next(lives), patience=0.05))
    assert sorted(done) == [0, 1]

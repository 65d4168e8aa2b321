"""Authors' code that is late is given up; nobody waits for it."""

import asyncio
import subprocess
import sys
import threading
import time
from textwrap import dedent

import pytest

from tasks_lib.timelimit import (
    Clock,
    TimedOutError,
    each_within,
    run_coroutine,
    within,
    within_async,
)


def spin():
    while True:
        pass


def sleep():
    time.sleep(3)


def alive(function: str) -> int:
    """How many threads are inside a function of this module."""
    return sum(
        function in {frame.f_code.co_name for frame in frames(thread.ident)}
        for thread in threading.enumerate()
    )


def frames(ident):
    frame = sys._current_frames().get(ident)
    while frame is not None:
        yield frame
        frame = frame.f_back


def soon(condition) -> bool:
    """Whether something comes true within two seconds."""
    end = time.monotonic() + 2
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_a_result_or_an_error_comes_back():
    assert within(5, lambda: 3) == 3
    with pytest.raises(ValueError, match="no"):
        within(5, lambda: int("no"))


@pytest.mark.parametrize("hang", [spin, sleep])
def test_late_calls_are_given_up(hang):
    began = time.monotonic()
    with pytest.raises(TimedOutError):
        within(0.1, hang)
    assert time.monotonic() - began < 1


def test_a_loop_in_python_is_ended():
    with pytest.raises(TimedOutError):
        within(0.1, spin)
    assert soon(lambda: alive("spin") == 0)


def test_a_coroutine_is_cancelled_and_may_clean_up():
    told = []

    async def hang():
        try:
            await asyncio.sleep(60)
        finally:
            told.append("cleaned up")

    with pytest.raises(TimedOutError):
        within(0.1, lambda: run_coroutine(hang()))
    assert told == ["cleaned up"]


def test_a_coroutine_that_blocks_its_loop_is_ended_too():
    async def hang():
        spin()

    with pytest.raises(TimedOutError):
        within(0.1, lambda: run_coroutine(hang()))
    assert soon(lambda: alive("spin") == 0)


def test_what_a_coroutine_leaves_running_ends_with_it():
    async def leave():
        return asyncio.ensure_future(asyncio.sleep(60))

    assert within(5, lambda: run_coroutine(leave())).cancelled()


def test_what_a_task_of_a_coroutine_ends_at_once_is_out_of_the_next_call_s_way():
    async def end():
        raise KeyboardInterrupt

    async def leave():
        await asyncio.gather(end(), asyncio.sleep(60))

    async def wait():
        await asyncio.sleep(0.01)
        return len(asyncio.all_tasks())

    with pytest.raises(KeyboardInterrupt):
        within(5, lambda: run_coroutine(leave()))
    assert within(5, lambda: run_coroutine(wait())) == 1


def test_threads_are_used_again_but_never_by_an_exception_meant_for_another():
    for _ in range(50):
        with pytest.raises(TimedOutError):
            within(0.001, lambda: time.sleep(0.0015) or spin())
        assert within(5, threading.get_ident) == within(5, threading.get_ident)


def test_the_loop_goes_on_meanwhile():
    async def both():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        with pytest.raises(TimedOutError):
            await within_async(Clock(0.3), lambda: time.sleep(3))
        ticking.cancel()
        return ticks

    assert asyncio.run(both()) > 5


def test_a_caller_that_is_cancelled_gives_up():
    async def cancelled():
        task = asyncio.create_task(within_async(Clock(60), spin))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert soon(lambda: alive("spin") == 0)


def test_a_clock_stands_still_while_it_is_held():
    clock = Clock(1)
    with clock.hold(), clock.hold():
        left = clock.left()
        time.sleep(0.05)
        assert clock.left() == left
    time.sleep(0.01)
    assert clock.left() < left


def test_each_item_has_its_own_time():
    def work(seconds):
        time.sleep(seconds)
        return "done"

    found = each_within(0.3, [0.2, 0.2, 2, 0.2, 2], work, lambda error: type(error).__name__)
    assert found == ["done", "done", "TimedOutError", "done", "TimedOutError"]


@pytest.mark.parametrize("count", [0, 1, 500])
def test_each_keeps_the_order(count):
    assert each_within(5, range(count), lambda n: n * n, str) == [n * n for n in range(count)]


def test_one_thread_makes_all_calls():
    assert len(set(each_within(5, range(100), lambda _: threading.get_ident(), str))) == 1


def test_what_a_call_raises_ends_all():
    with pytest.raises(ZeroDivisionError):
        each_within(5, [1, 0], lambda n: 1 / n, str)


@pytest.mark.parametrize(
    ("limit", "hang"),
    [
        pytest.param("within(0.1, lambda: time.sleep(60))", "", id="a thread given up"),
        pytest.param(
            "within(0.1, lambda: each(60))", "each = time.sleep", id="whatever it is waiting in"
        ),
    ],
)
def test_no_thread_keeps_the_process_alive(limit, hang):
    script = f"""
        import time
        from tasks_lib.timelimit import TimedOutError, within
        {hang}
        try:
            {limit}
        except TimedOutError:
            print("given up")
        """
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, text=True, timeout=20
    )
    assert (done.stdout, done.stderr, done.returncode) == ("given up\n", "", 0)


def test_too_many_that_never_end_are_the_last(monkeypatch):
    monkeypatch.setattr("tasks_lib.timelimit.threads.MOST_STUCK", 2)
    monkeypatch.setattr("tasks_lib.timelimit.threads._idle._stuck", [])
    monkeypatch.setattr("tasks_lib.timelimit.threads._idle._waiting", [])
    found = each_within(0.05, range(4), lambda _: time.sleep(1), lambda e: type(e).__name__)
    assert found == ["TimedOutError", "TimedOutError", "StuckError", "StuckError"]

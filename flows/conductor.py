"""Conducting a run that has begun: the flow takes over when Prefect is ready, if it is.

This module imports Prefect in a thread, while batches are already being worked on.
"""

import threading
import time
from collections.abc import Callable
from importlib import import_module

from flows.local import LocalDriver
from flows.server import ServerHome, configured_api_url
from tasks_lib.errors import EvalmillError, Stopped
from tasks_lib.runs.run import Run, StepResult

HEAD_START_SECONDS = 1.0
"""How long Prefect's import lets the first batches go ahead: it takes the interpreter for longer
than everything up to the first request."""

FINISH_SECONDS = 15.0
"""How long a finished run waits until Prefect has noted that it is finished."""

DELIVERY_SECONDS = 10.0
"""How long after that it waits until the last events are delivered."""

STOP_SECONDS = 3.0
"""How long an interrupted run waits until Prefect has noted it."""


def conduct(
    run: Run,
    driver: LocalDriver,
    on_warning: Callable[[str], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> StepResult:
    """Bring a run, whose driver has been started, to its end under a Prefect flow.

    The driver goes on until the flow begins, then the flow does what is left. When no server
    can be had or Prefect fails, the driver does it. Exit is never held up by a server that
    is gone.

    Args:
        run: the open run.
        driver: works on it already.
        on_warning: told when the run is not, or not wholly, recorded in Prefect; by default
            it becomes one of the run's warnings.
        on_notice: told where the run can be watched.

    Returns:
        What `steps.reduce` returned.

    Raises:
        Stopped: the run was interrupted.
        StoreError: the store failed.
    """
    warn = on_warning or run.warn
    attempt = FlowAttempt(run, driver.pause, on_notice or _ignore)
    try:
        driver.wait_until_under_way(HEAD_START_SECONDS)
        attempt.start()
        driver.wait()
        attempt.wait_until_decided()
        if not attempt.begun:
            warn(f"not recorded in Prefect: {attempt.trouble}")
            return driver.finish()
        result = attempt.wait_for_result()
        if result is None:
            warn(f"Prefect failed, the run went on without it: {attempt.trouble}")
            driver.resume()
            return driver.finish()
    except BaseException:
        run.stop()
        attempt.leave(STOP_SECONDS)
        raise
    if not attempt.leave(FINISH_SECONDS):
        warn(f"not wholly recorded in Prefect: {attempt.trouble}")
    return result


class FlowAttempt(threading.Thread):
    """A thread that imports Prefect, finds a server and runs the flow of a run.

    Args:
        run: the open run.
        take_over: called when the flow begins.
        notice: told where the run can be watched.
    """

    def __init__(
        self, run: Run, take_over: Callable[[], None], notice: Callable[[str], None]
    ) -> None:
        super().__init__(name="prefect-flow", daemon=True)
        self._run = run
        self._take_over = take_over
        self._notice = notice
        self._lock = threading.Lock()
        self._decided = threading.Event()
        self._stages_ended = threading.Event()
        self._ended = threading.Event()
        self._given_up = False
        self._own_server = configured_api_url() is None
        self._result: StepResult | None = None
        self._failure: BaseException | None = None
        self.begun = False
        self.trouble = "Prefect took too long"

    def run(self) -> None:
        """Run the flow; says nothing, fails silently: who waits is told."""
        try:
            self._run.loop.run(_import_httpx())
            from prefect import Flow

            from flows.client import connected, find_api, hush_console
            from flows.compile import flow_of

            hush_console()
            with connected(find_api(self._notice)):
                flow_of(Flow, self._run.plan, self._body)(return_state=True)
        except BaseException as error:
            self.trouble = str(error) or repr(error)
            self._failure = self._failure or error
        finally:
            for event in (self._decided, self._stages_ended, self._ended):
                event.set()

    def _body(self) -> object:
        """What the flow does: take over from the driver, run the stages."""
        from prefect.states import Cancelled, Failed

        from flows.compile import run_in_flow, verdict_of, watch_url

        with self._lock:
            if self._given_up:
                return Cancelled(message="the run went on without Prefect")
            self.begun = True
        self._take_over()
        self._decided.set()
        self._notice(f"watch it at {watch_url()}")
        try:
            self._result = run_in_flow(self._run)
        except Stopped as error:
            self._failure = error
            if (cause := self._run.models.cause) is not None:
                return Failed(name="Stopped", message=str(cause))
            return Cancelled(message="interrupted; evalmill run --resume continues it")
        except BaseException as error:
            self._failure = error
            self.trouble = str(error) or repr(error)
            raise
        finally:
            self._stages_ended.set()
        return verdict_of(self._run, self._result)

    def wait_until_decided(self) -> None:
        """Wait until the flow has begun or can't begin, or the run is interrupted."""
        while not self._decided.wait(0.2):
            if self._run.stopping:
                break
        with self._lock:
            self._given_up = not self.begun

    def wait_for_result(self) -> StepResult | None:
        """Wait until the stages have ended; return None when it was Prefect that failed.

        Raises:
            Stopped: the run was interrupted.
            EvalmillError: the run can't go on.
        """
        self._stages_ended.wait()
        if isinstance(self._failure, Stopped | EvalmillError) and self._result is None:
            raise self._failure
        return self._result

    def leave(self, seconds: float) -> bool:
        """Wait at most so long for Prefect to note the end, then let go of it.

        Returns:
            Whether everything was recorded.
        """
        with self._lock:
            self._given_up = True
        if not self.begun:
            return False
        from flows.client import deliver

        noted = self._has_ended(seconds)
        delivered = deliver(DELIVERY_SECONDS if noted and self._failure is None else 0.0)
        return noted and delivered and self._failure is None

    def _has_ended(self, seconds: float) -> bool:
        """Wait at most so long for the flow's end, not at all once our own server is dead."""
        deadline = time.monotonic() + seconds
        while not self._ended.wait(0.1):
            dead = self._own_server and not ServerHome.default().is_held()
            if dead or time.monotonic() > deadline:
                self.trouble = "its server is gone" if dead else self.trouble
                return False
        return True


async def _import_httpx() -> None:
    """Import httpx on the model loop, where no reply is being read meanwhile.

    The models' client looks whether httpx is imported. One that Prefect is still importing in
    another thread made it fail with replies that were paid for.
    """
    import_module("httpx")


def _ignore(text: str) -> None:
    """Tell nobody."""

"""How well processes that know nothing of a server's rate limit keep to it together."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import Config, RunningServer, serve_in_process

PER_SECOND, PROCESSES, CONNECTIONS, LATENCY_MS = 50, 4, 10, 50
SETTLING_S, SECONDS = 5.0, 30
_LOOK_S = 0.1


def measure(bench: Workbench) -> Iterator[Result]:
    """Run four processes at once against a server that takes 50 requests a second."""
    config = Config(latency_ms=LATENCY_MS, max_per_second=PER_SECOND)
    with serve_in_process(config) as server:
        samples = PER_SECOND * SECONDS // PROCESSES
        file = write_run_file(bench.new_folder("task"), samples, server.base_url)
        counts = _Counts(server)
        with ThreadPoolExecutor(PROCESSES) as pool:
            ends = [pool.submit(_run, bench, file) for _ in range(PROCESSES)]
            for end in ends:
                end.result()
        counts.stop()
        whole = server.stats()
    what = f"{PROCESSES} processes, a server that takes {PER_SECOND} requests/s"
    seconds = whole["last_reply_at"] - whole["first_request_at"]
    floor = "the limit"
    yield Result(
        f"{what}: answered, whole run", whole["statuses"]["200"] / seconds, "/s", "",
        PER_SECOND, floor,
    )  # fmt: skip
    answered, refused, seconds = counts.settled(PROCESSES * samples)
    yield Result(
        f"{what}: answered after {SETTLING_S:.0f} s", answered / seconds, "/s",
        ">= 0.90 x limit", PER_SECOND, floor,
    )  # fmt: skip
    share = 100 * refused / (answered + refused)
    yield Result(f"{what}: refused after {SETTLING_S:.0f} s", share, "%", "< 2 %")


def _run(bench: Workbench, file: Path) -> None:
    store = bench.new_folder("store")
    bench.evalmill("run", file, "-j", str(CONNECTIONS), "-o", store, "--no-prefect")


class _Counts:
    """Looks at a server's counters again and again, until it is stopped."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self._seen: list[tuple[float, dict[str, Any]]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._stop.wait(_LOOK_S):
            self._seen.append((time.time(), self._server.stats()))

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def settled(self, calls: int) -> tuple[int, int, float]:
        """Requests answered and refused, and the seconds, of the time between start and end.

        It begins when the server has been asked for `SETTLING_S`, and ends when a tenth of the
        calls is left: the processes don't end at the same moment.
        """
        begun = next(stats["first_request_at"] for _, stats in self._seen if stats["requests"])
        middle = [
            (at, stats["statuses"])
            for at, stats in self._seen
            if at >= begun + SETTLING_S and stats["statuses"].get("200", 0) <= 0.9 * calls
        ]
        (since, first), (until, last) = middle[0], middle[-1]
        answered = last["200"] - first["200"]
        return answered, last.get("429", 0) - first.get("429", 0), until - since

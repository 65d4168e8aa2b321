"""Running whole processes and measuring them."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from flows.server import ServerHome, ensure_server, stop_server
from tests.environment import own_environment

REPOSITORY = Path(__file__).parents[2]
METER = Path(__file__).with_name("meter.py")
TIMEOUT_S = 1800.0


class BenchmarkError(Exception):
    """A measured process failed, so that its figures say nothing."""


@dataclass(frozen=True)
class Measured:
    """What a finished process used, its own children included."""

    wall_s: float
    cpu_s: float
    """User and system time."""
    peak_mb: float
    """Largest resident set of any one process."""
    started_at: float
    """Unix time, just before it was started."""
    ended_at: float


@dataclass(frozen=True)
class Result:
    """One line of the table."""

    name: str
    measured: float
    unit: str
    target: str
    beside: float | None = None
    """The floor measured in the same run, in the same unit."""
    floor: str = ""
    """What the floor is."""

    @property
    def ratio(self) -> float | None:
        """Measured over floor."""
        return self.measured / self.beside if self.beside else None


@dataclass(frozen=True)
class Workbench:
    """A folder for runs, a home with a Prefect server, and how much to measure.

    Attributes:
        folder: emptied at the end.
        samples: of a large run.
        connections: requests in flight of a large run.
        repeats: of each measurement; medians are reported.
    """

    folder: Path
    samples: int
    connections: int
    repeats: int
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def home(self) -> Path:
        """EVALMILL_HOME of all processes that are not given another one."""
        return self.folder / "home"

    def new_folder(self, purpose: str) -> Path:
        """A path that nothing has been written to."""
        return self.folder / f"{purpose}-{next(self._numbers)}"

    def start_server(self) -> None:
        """Have the Prefect server of `home` up, so that no run pays for its start."""
        ensure_server(timeout=180, home=ServerHome(self.home))

    def evalmill(self, *arguments: str | Path, home: Path | None = None) -> Measured:
        """Run the command line to its end."""
        return self.python("-m", "flows.cli", *arguments, home=home)

    def python(self, *arguments: str | Path, home: Path | None = None) -> Measured:
        """Run a Python process to its end.

        Raises:
            BenchmarkError: it failed, or took longer than `TIMEOUT_S`.
        """
        command = " ".join(map(str, arguments))
        output, report = self.new_folder("output"), self.new_folder("report")
        meter = [sys.executable, "-I", "-S", str(METER), str(report)]
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*meter, sys.executable, *map(str, arguments)],
                cwd=self.folder,
                env=self.environment(home),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                exit_code = process.wait(TIMEOUT_S)
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise BenchmarkError(f"{command}: took over {TIMEOUT_S:.0f} s") from None
                raise
        if exit_code != 0:
            last_words = output.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise BenchmarkError(f"{command}: exit code {exit_code}\n{last_words}")
        return Measured(**json.loads(report.read_text(encoding="utf-8")))

    def environment(self, home: Path | None = None) -> dict[str, str]:
        """The environment of measured processes, with `home` or the shared one."""
        return {
            **own_environment(),
            "EVALMILL_HOME": str(home or self.home),
            "PREFECT_HOME": str(self.folder / "prefect"),
            "PYTHONPATH": str(REPOSITORY),
            "BENCHMARK_API_KEY": "none-needed",
        }

    def median(self, measure: Callable[[], float], repeats: int | None = None) -> float:
        """The median of some measurements."""
        return statistics.median(measure() for _ in range(repeats or self.repeats))


@contextlib.contextmanager
def workbench(samples: int, connections: int, repeats: int) -> Iterator[Workbench]:
    """Set up a folder; at the end stop the Prefect server in it and remove it."""
    with TemporaryDirectory(prefix="evalmill-benchmarks-") as folder:
        bench = Workbench(Path(folder), samples, connections, repeats)
        try:
            yield bench
        finally:
            stop_server(ServerHome(bench.home))

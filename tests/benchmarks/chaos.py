"""Runs against a server that fails in every way there is, held against what had to come of it.

The server's faults are drawn from a seed, the request and the number of the attempt, so what
has to become of each sample is known beforehand: the same score as without faults wherever
one of five attempts was answered, and else one error row.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tasks_lib.models.ledger import entries
from tasks_lib.models.retries import MAX_ATTEMPTS
from tasks_lib.results import load_run
from tasks_lib.results.load import StoredRun
from tests.benchmarks.workbench import BenchmarkError, Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import Config, serve_in_process
from tests.fake_openai.config import EXTRA_KINDS, FAULT_KINDS, body_digest, drawn_fault

SAMPLES, RATE, CONNECTIONS = 5_000, 0.2, 50
TIMEOUT_S = 5.0  # for one attempt, of which some hang
LONGEST_S = 600.0

PASSES: Final = frozenset({"plain", "bom", "nousage"})
"""Odd replies that are as good as any."""
TELLING: Final = frozenset({"empty", "length", "cut", "filter", "refusal", "thoughts"})
"""Replies that are scored, but say something else."""
FINAL: Final = frozenset({"400", "401", "402", "403", "404", "quota", "calls"})
"""What no further attempt helps with; a tool call is no text to compare."""
ALL_KINDS: Final = ",".join(FAULT_KINDS + EXTRA_KINDS)

Fate = Literal["same", "other", "error"]


@dataclass(frozen=True)
class Forecast:
    """What has to become of the samples of a run.

    Attributes:
        fates: by sample id.
        requests: how many the server gets.
        faults: how many of these fail.
    """

    fates: Mapping[str, Fate]
    requests: int
    faults: int

    def count(self, fate: Fate) -> int:
        """How many samples end so."""
        return Counter(self.fates.values())[fate]

    @property
    def exit_code(self) -> int:
        """What the run has to end with."""
        return 3 if self.count("error") else 0


def chaos(seed: int, rate: float = RATE) -> Config:
    """A server that fails at this rate, in every way it knows."""
    return Config(fault_rate=rate, faults=ALL_KINDS, seed=seed, retry_after_s=0.1)


def foretell(config: Config, bodies: Mapping[str, bytes]) -> Forecast:
    """Return what has to become of samples, by the requests that they send."""
    table = config.fault_table()
    fates: dict[str, Fate] = {}
    requests = faults = 0
    for sample_id, body in bodies.items():
        fates[sample_id] = "error"
        digest = body_digest(body)
        for attempt in range(MAX_ATTEMPTS):
            kind = drawn_fault(config, table, digest, attempt)
            requests += 1
            faults += kind is not None
            if kind is None or kind in PASSES:
                fates[sample_id] = "same"
            elif kind in TELLING:
                fates[sample_id] = "other"
            elif kind not in FINAL:
                continue
            break
    return Forecast(fates, requests, faults)


def bodies_of(run: StoredRun) -> dict[str, bytes]:
    """The request of each sample of a run."""
    folder = run.folder
    return {entry.call.sample_id: entry.request for entry in entries(folder.store, folder.run_id)}


def differences(run: StoredRun, faultless: StoredRun, forecast: Forecast) -> list[str]:
    """Return what is not as it has to be, in words; nothing when all is well."""
    (spec,) = run.record["specs"]
    states = spec["n_scored"] + spec["n_error"] + spec["n_excluded"]
    scores = run.scores().set_index("sample_id")
    expected = faultless.scores().set_index("sample_id")
    found = []
    if not len(forecast.fates) == states == spec["n_rows"] == len(scores):
        found.append(f"{states} states and {len(scores)} scores of {spec['n_rows']} rows")
    if not scores.index.is_unique:
        found.append("a sample has several rows")
    ended = dict(zip(scores.index, scores["status"], strict=True))
    for sample_id, fate in forecast.fates.items():
        if ended.get(sample_id) != ("error" if fate == "error" else "ok"):
            found.append(f"sample {sample_id}: {ended.get(sample_id)}, not {fate}")
    same = [sample_id for sample_id, fate in forecast.fates.items() if fate == "same"]
    for column in ("is_correct", "excluded"):
        if list(scores.loc[same, column]) != list(expected.loc[same, column]):
            found.append(f"'{column}' of a sample that was answered is not as without faults")
    return found


def measure(bench: Workbench) -> Iterator[Result]:
    """Run once without faults, then with those of as many seeds as there are repeats."""
    samples = min(bench.samples, SAMPLES)
    with serve_in_process() as server:
        file = _impatient(write_run_file(bench.new_folder("task"), samples, server.base_url))
        faultless, _, code = _run(bench, file)
        if code != 0:
            raise BenchmarkError(f"without faults: exit code {code}")
        bodies = bodies_of(faultless)
        for seed in range(1, bench.repeats + 1):
            config = chaos(seed)
            forecast = foretell(config, bodies)
            server.reset(
                fault_rate=RATE, faults=ALL_KINDS, seed=seed, retry_after_s=config.retry_after_s
            )
            run, seconds, code = _run(bench, file)
            wrong = differences(run, faultless, forecast)
            if code != forecast.exit_code:
                wrong.append(f"exit code {code}, not {forecast.exit_code}")
            for words in wrong[:5]:
                print(f"chaos, seed {seed}: {words}", file=sys.stderr)
            yield from _results(seed, samples, forecast, len(wrong), seconds)
            requests = server.stats()["requests"]
            yield Result("  requests", requests, "", "= floor", forecast.requests, "foretold")


def _results(
    seed: int, samples: int, forecast: Forecast, wrong: int, seconds: float
) -> Iterator[Result]:
    what = f"Chaos, {samples:,} samples, {forecast.faults:,} faults, seed {seed}"
    yield Result(f"{what}: wall", seconds, "s", f"< {LONGEST_S:.0f} s")
    yield Result("  not as they have to be", wrong, "", "= 0")
    yield Result("  scored as without faults", forecast.count("same"), "", "")
    yield Result("  scored as what was said instead", forecast.count("other"), "", "")
    yield Result("  error rows", forecast.count("error"), "", "")


def _impatient(file: Path) -> Path:
    """Let the model of a run file have `TIMEOUT_S` for each attempt."""
    definitions = json.loads(file.read_text(encoding="utf-8"))
    definitions["models"][0]["timeout"] = TIMEOUT_S
    file.write_text(json.dumps(definitions), encoding="utf-8")
    return file


def _run(bench: Workbench, file: Path) -> tuple[StoredRun, float, int]:
    """Run to the end in a store of its own; return the run, its seconds and its exit code."""
    store = bench.new_folder("store")
    command = [sys.executable, "-m", "flows.cli", "run", str(file), "-j", str(CONNECTIONS)]
    began = time.monotonic()
    try:
        finished = subprocess.run(
            [*command, "-o", str(store), "--no-prefect", "--run-id", "chaos"],
            cwd=bench.folder,
            env=bench.environment(),
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"a run took over {LONGEST_S:.0f} s") from None
    seconds = time.monotonic() - began
    if not (store / "runs/chaos/complete").exists():
        raise BenchmarkError(f"a run did not complete: {finished.stderr[-2000:]}")
    return load_run("chaos", store), seconds, finished.returncode

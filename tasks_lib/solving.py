"""Solving a batch: every sample becomes a record, whatever happens to it."""

import asyncio
import time
from collections.abc import Sequence

from tasks_lib.errors import EvalmillError, SampleError, Stopped, StoreError, bounded
from tasks_lib.jsontext import dumps
from tasks_lib.models.calls import Calls
from tasks_lib.models.loop import worked_off
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.runtime import Run
from tasks_lib.samples import Sample
from tasks_lib.secrets import redact
from tasks_lib.solvers.base import BaseSolver, SolverContext
from tasks_lib.trace import SolverTrace

_NO_TRACE = '{"FORMAT":"open_responses","items":[]}'


def solve_samples(run: Run, spec_key: str, samples: Sequence[Sample]) -> list[SampleRecord]:
    """Solve samples and return one record each, in order; blocks until all are done.

    Raises:
        Stopped: the run was interrupted before all were solved.
        StoreError: a reply could not be recorded.
    """
    solver = run.spec(spec_key).task.definition.solver
    if solver is None:
        return [_record(run, spec_key, sample, None) for sample in samples]
    if not solver.calls_models:
        return [_replayed(run, spec_key, solver, sample) for sample in samples]
    return run.loop.run(_solve_all(run, spec_key, solver, samples))


async def _solve_all(
    run: Run, spec_key: str, solver: BaseSolver, samples: Sequence[Sample]
) -> list[SampleRecord]:
    """Solve with as many workers as calls are allowed, each taking the next sample."""
    records: dict[int, SampleRecord] = {}

    async def solve(numbered: tuple[int, Sample]) -> None:
        if run.stopping:
            raise Stopped
        i, sample = numbered
        records[i] = await _solve(run, spec_key, solver, sample)

    workers = min(run.plan.spec(spec_key).concurrency, len(samples))
    await worked_off(enumerate(samples), solve, workers)
    return [records[i] for i in range(len(samples))]


async def _solve(run: Run, spec_key: str, solver: BaseSolver, sample: Sample) -> SampleRecord:
    calls = Calls(run.models, spec_key, "solver", sample.id, 0)
    context = SolverContext(run.spec(spec_key).model_key or "", calls)
    started, clock = time.time(), time.perf_counter()
    output: SolverTrace | None = None
    failure: SampleError | None = None
    try:
        output = await solver.solve(sample, context)
    except SampleError as error:
        failure = error
    except (Stopped, StoreError, asyncio.CancelledError):
        raise
    except Exception as error:
        failure = _unexpected(error)
    return _record(
        run, spec_key, sample, output, failure, calls, started, time.perf_counter() - clock
    )


def _replayed(run: Run, spec_key: str, solver: BaseSolver, sample: Sample) -> SampleRecord:
    started, clock = time.time(), time.perf_counter()
    output: SolverTrace | None = None
    failure: SampleError | None = None
    try:
        output = solver.replay(sample)
    except SampleError as error:
        failure = error
    except Exception as error:
        failure = _unexpected(error)
    return _record(
        run, spec_key, sample, output, failure, None, started, time.perf_counter() - clock
    )


def _unexpected(error: Exception) -> SampleError:
    """What an error none of our code foresaw becomes: this sample's error row."""
    words = error.problem if isinstance(error, EvalmillError) else str(error)
    return SampleError("code", f"{type(error).__name__}: {words}")


def _record(
    run: Run,
    spec_key: str,
    sample: Sample,
    output: SolverTrace | None,
    failure: SampleError | None = None,
    calls: Calls | None = None,
    started: float | None = None,
    duration: float = 0.0,
) -> SampleRecord:
    run.progress.solved(failure is not None)
    return SampleRecord(
        spec_key=spec_key,
        sample_id=storable(sample.id),
        sample_index=sample.index,
        trial=0,
        row=0,
        sample=dumps(sample.data),
        trace=storable(output.trace.to_json()) if output else _NO_TRACE,
        raw_outputs=dumps(output.raw_outputs_json) if output else "[]",
        output_text=_text(output),
        finish_reason=calls.finish_reason if calls else None,
        status="ok" if failure is None else "error",
        error_stage=None if failure is None else "solver",
        error_class=None if failure is None else failure.error_class,
        error_message=None if failure is None else error_text(failure),
        calls=calls.calls if calls else 0,
        ledger_hits=calls.ledger_hits if calls else 0,
        input_tokens=calls.input_tokens if calls else 0,
        output_tokens=calls.output_tokens if calls else 0,
        cost_usd=None,
        started_at=int((time.time() if started is None else started) * 1e6),
        duration_s=duration,
    )


def _text(output: SolverTrace | None) -> str | None:
    text = output.trace.get_last_assistant_text() if output else None
    return None if text is None else storable(text)


def storable(text: str) -> str:
    """Return `text` as UTF-8 can hold it: lone surrogates become U+FFFD, all else stays."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def error_text(error: SampleError) -> str:
    """What an error row says: bounded, storable, and without any secret."""
    return storable(redact(bounded(str(error), 1000)))

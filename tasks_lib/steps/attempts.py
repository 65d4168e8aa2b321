"""Solving a batch: every sample becomes a record, whatever happens to it."""

import time
from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from tasks_lib.errors import (
    OverBudget,
    SampleError,
    Stopped,
    StoreError,
)
from tasks_lib.jsontext import dumps, storable
from tasks_lib.models.calls import Calls
from tasks_lib.models.loop import StalledError, worked_off
from tasks_lib.results.error_text import error_text, unexpected
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.runs.run import Run
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BaseSolver, BrokenOffError, SolverContext
from tasks_lib.solvers.postprocessing import Derived
from tasks_lib.trace import SolverTrace

NO_TRACE = '{"FORMAT":"open_responses","items":[]}'


def solve_samples(
    run: Run,
    spec_key: str,
    samples: Sequence[Sample],
    wanted: Collection[tuple[int, int]] | None = None,
) -> list[SampleRecord]:
    """Solve samples, each as often as there are trials; blocks until all are done.

    Args:
        run: the open run.
        spec_key: the specification they belong to.
        samples: what to solve.
        wanted: index and trial of what is solved of them; None is all.

    Returns:
        The records of every sample and trial, in that order; one each, or as many as a
        postprocessor makes.

    Raises:
        Stopped: the run was interrupted before all were solved.
        StoreError: a reply could not be recorded.
    """
    spec = run.spec(spec_key)
    solver = spec.task.definition.solver
    attempts = [
        Attempt(run, spec_key, own, trial)
        for sample in samples
        for trial, own in enumerate(_copies(sample, spec.repeats))
        if wanted is None or (sample.index, trial) in wanted
    ]
    if solver is None:
        solved = [attempt.unsolved() for attempt in attempts]
    elif not solver.calls_models:
        solved = [attempt.replay(solver) for attempt in attempts]
    else:
        allowed = min(run.plan.spec(spec_key).concurrency, len(attempts))
        with run.leased(allowed) as workers:
            solved = run.loop.run(_solve_all(run, solver, attempts, workers))
    return [record for records in solved for record in records]


def _copies(sample: Sample, number: int) -> list[Sample]:
    """A sample for each trial, so that none sees what an author's code did to another's."""
    return [sample] + [replace(sample, data=deepcopy(sample.data)) for _ in range(1, number)]


async def _solve_all(
    run: Run, solver: BaseSolver, attempts: Sequence["Attempt"], workers: int
) -> list[list[SampleRecord]]:
    """Solve with as many workers as calls are allowed, each taking the next attempt."""
    solved: dict[int, list[SampleRecord]] = {}

    async def solve(numbered: tuple[int, Attempt]) -> None:
        run.models.check_going_on()
        i, attempt = numbered
        solved[i] = await attempt.solve(solver)

    patience = run.patience(*solver.own_limits())
    try:
        await worked_off(enumerate(attempts), solve, workers, run.models.signs_of_life, patience)
    except StalledError as error:
        stalled = SampleError("infra", str(error))
        solved |= {
            i: attempt.failed(stalled) for i, attempt in enumerate(attempts) if i not in solved
        }
    return [solved[i] for i in range(len(attempts))]


@dataclass(slots=True)
class Attempt:
    """One sample in one trial, from the start of solving to its records."""

    run: Run
    spec_key: str
    sample: Sample
    trial: int
    started: float = field(default_factory=time.time)
    _clock: float = field(default_factory=time.perf_counter)

    def unsolved(self) -> list[SampleRecord]:
        """Return the record of a sample that is scored as it is."""
        return self._ended([Derived(self.sample.data, None)])

    def replay(self, solver: BaseSolver) -> list[SampleRecord]:
        """Solve without any I/O, in this thread."""
        self._begin()
        try:
            output = solver.replay(self.sample)
            if solver.postprocessor is None:
                return self._ended([Derived(self.sample.data, output)])
            shown = solver.shown(output)
            return self._ended(solver.postprocessor.derive_now(self.sample.data, output, shown))
        except SampleError as error:
            return self.failed(error)
        except (Stopped, StoreError):
            raise
        except Exception as error:
            return self.failed(unexpected(error))

    async def solve(self, solver: BaseSolver) -> list[SampleRecord]:
        """Solve on the model loop."""
        self._begin()
        run = self.run
        calls = Calls(run.models, self.spec_key, "solver", self.sample.id, self.trial)
        context = SolverContext(run.spec(self.spec_key).model_key or "", calls)
        try:
            output = await solver.solve(self.sample, context)
            if solver.postprocessor is None:
                return self._ended([Derived(self.sample.data, output)], calls)
            shown = solver.shown(output)
            derived = await solver.postprocessor.derive(self.sample.data, output, shown)
            return self._ended(derived, calls)
        except SampleError as error:
            return self.failed(error, calls)
        except OverBudget:
            return self._skipped(calls)
        except (Stopped, StoreError):
            raise
        except Exception as error:
            return self.failed(unexpected(error), calls)

    def _begin(self) -> None:
        self.started, self._clock = time.time(), time.perf_counter()

    def _ended(self, rows: Sequence[Derived], calls: Calls | None = None) -> list[SampleRecord]:
        """Return a record per row; what the calls cost is told by the first."""
        one = len(rows) == 1
        records = [
            self._record(
                calls,
                derived.output,
                sample_id=self.sample.id if one else f"{self.sample.id}#{row}",
                sample=derived.sample,
                row=row,
            )
            for row, derived in enumerate(rows)
        ]
        self.run.progress.solved(failed=False)
        return records

    def failed(self, error: SampleError, calls: Calls | None = None) -> list[SampleRecord]:
        """Return the record of a sample that failed."""
        self.run.progress.solved(failed=True)
        return [self._record(calls, _said_before(error), failure=error)]

    def _skipped(self, calls: Calls) -> list[SampleRecord]:
        """Return the record of a sample that needs a call which may not begin."""
        self.run.progress.add(skipped=1)
        return [replace(self._record(calls), status="skipped")]

    def _record(
        self,
        calls: Calls | None,
        output: SolverTrace | None = None,
        *,
        sample_id: str = "",
        sample: dict[str, Any] | None = None,
        row: int = 0,
        failure: SampleError | None = None,
    ) -> SampleRecord:
        paid = calls if row == 0 else None
        return SampleRecord(
            spec_key=self.spec_key,
            sample_id=storable(sample_id or self.sample.id),
            sample_index=self.sample.index,
            trial=self.trial,
            row=row,
            sample=dumps(self.sample.data if sample is None else sample),
            trace=output.trace.to_json() if output else NO_TRACE,
            raw_outputs=dumps(output.raw_outputs_json) if output else "[]",
            output_text=_text(output) if failure is None else None,
            finish_reason=calls.finish_reason if calls else None,
            status="ok" if failure is None else "error",
            error_stage=None if failure is None else "solver",
            error_class=None if failure is None else failure.error_class,
            error_message=None if failure is None else error_text(failure),
            calls=paid.calls if paid else 0,
            ledger_hits=paid.ledger_hits if paid else 0,
            input_tokens=paid.input_tokens if paid else 0,
            output_tokens=paid.output_tokens if paid else 0,
            cost_usd=paid.cost_usd if paid else 0.0,
            started_at=int(self.started * 1e6),
            duration_s=time.perf_counter() - self._clock,
        )


def _said_before(error: SampleError) -> SolverTrace | None:
    """What is stored of a failed sample's conversation; an author's may be none that can be."""
    if not isinstance(error, BrokenOffError):
        return None
    try:
        error.output.trace.to_json()
        dumps(error.output.raw_outputs_json)
    except (TypeError, ValueError):
        return None
    return error.output


def _text(output: SolverTrace | None) -> str | None:
    text = output.trace.get_last_assistant_text() if output else None
    return None if text is None else storable(text)

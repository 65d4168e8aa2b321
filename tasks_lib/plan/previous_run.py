"""What an earlier run had settled, which a continued one keeps."""

from collections.abc import Mapping
from dataclasses import replace

from tasks_lib.errors import DefinitionError
from tasks_lib.plan.settings import RescoreSource, RunSettings
from tasks_lib.resolve import ResolvedEvaluation, fingerprint
from tasks_lib.results.folder import RunFolder
from tasks_lib.results.load import StoredRun
from tasks_lib.results.schemas import SCHEMA_VERSION
from tasks_lib.sources import Rows


class PreviousRun(StoredRun):
    """What an earlier run had settled; a resumed one keeps it."""

    @property
    def batches(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """How the samples were cut, by specification."""
        stored = self.record["plan"]["batches"]
        return {key: tuple((a, b) for a, b in cuts) for key, cuts in stored.items()}

    def settings(self, given: RunSettings) -> RunSettings:
        """Return the settings of a resumed run: as given, else as before."""
        before = self.record["plan"]
        return replace(
            given,
            max_connections=given.max_connections or before["max_connections"],
            max_error_rate=given.max_error_rate or before["max_error_rate"],
            fail_under=given.fail_under or before["fail_under"],
            budget_usd=before.get("budget_usd") if given.budget_usd is None else given.budget_usd,
            rescore=self._rescore_source(),
        )

    def _rescore_source(self) -> RescoreSource | None:
        """What is scored again; a run of the same store moves with it."""
        written = self.record["plan"]["rescore"]
        if written is None:
            return None
        return RescoreSource(**{**written, "path": str(self.folder.store / written["path"])})

    def check_same(self, evaluation: ResolvedEvaluation, rows: Mapping[str, Rows]) -> None:
        """Refuse to continue when definitions or data are others than before.

        Raises:
            DefinitionError: they are.
        """
        now = fingerprints(evaluation, rows)
        before: dict[str, str] = self.record["plan"]["fingerprints"]
        changed = [key for key in {**before, **now} if now.get(key) != before.get(key)]
        if changed:
            names = ", ".join(f"'{key}'" for key in changed)
            raise DefinitionError(
                f"definitions or data of {names} have changed since run '{self.folder.run_id}'",
                where="--resume",
                fix="start a new run; what it shares with the old one comes from the ledger",
            )


def previous_run(folder: RunFolder) -> PreviousRun:
    """Return what an earlier run had settled.

    Raises:
        DefinitionError: there is no such run, or an evalmill of another kind made it.
        StoreError: what is stored of it can't be read.
    """
    if not folder.run_json.exists():
        raise DefinitionError(
            f"there is no run '{folder.run_id}' in '{folder.store}'",
            fix="list the runs with: evalmill ls",
        )
    run = PreviousRun(folder)
    version = run.record.get("schema_version")
    if version != SCHEMA_VERSION:
        raise DefinitionError(
            f"it has schema version {version!r}, not {SCHEMA_VERSION!r}, and can't be continued",
            where=str(folder.run_json),
            fix="start a new run; what it shares with the old one comes from the ledger",
        )
    return run


def fingerprints(evaluation: ResolvedEvaluation, rows: Mapping[str, Rows]) -> dict[str, str]:
    """Return a hash per specification of what decides its results: definitions and data."""
    return {
        spec.key: f"{fingerprint(spec, evaluation.models)} {rows[spec.key].fingerprint()}"
        for spec in evaluation.specs
    }

"""`replay`: answers from recorded replies; calls nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from tasks_lib.models.call_id import CallId
from tasks_lib.models.connections.base import BaseConnection, CallFailure, ModelInfo
from tasks_lib.models.ledger.recording import Recording


class ReplayConnection(BaseConnection):
    """A model that was asked before: its recorded replies are given again.

    A reply is found by sample, trial and request, else by the request alone; the model's
    name does not matter, its parameters (temperature, …) do.
    """

    connection_type: Literal["replay"]
    file_path: str
    """JSONL file of recorded calls, relative to this YAML file; `evalmill ledger export`
    writes one from a run."""

    def open(
        self, info: ModelInfo, path: str, concurrency: int, secrets: Mapping[str, str]
    ) -> "ReplayClient":
        return ReplayClient(Recording(Path(self.file_path)), info.key)


class ReplayClient:
    """Looks replies up in an open recording."""

    def __init__(self, recording: Recording, key: str) -> None:
        self.endpoint = f"replay:{recording.digest}"
        self._recording = recording
        self._key = key

    async def send(self, body: bytes, call: CallId) -> bytes:
        found = self._recording.reply(body, call.sample_id, call.trial, call.ordinal)
        if found is None:
            raise CallFailure(
                "data",
                f"{self._recording.why_missing(body, call.trial)} (model '{self._key}'); "
                "record it: run with a live model, then `evalmill ledger export RUN FILE`",
            )
        return found

    async def close(self) -> None:
        self._recording.close()

"""The real `evalmill` command, run as a process."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one JSON document that `--json` prints."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class CommandLine:
    """Runs `evalmill`; called with arguments it waits for the end.

    Attributes:
        folder: where commands run.
        store: where runs are kept, as EVALMILL_STORE.
    """

    folder: Path
    store: Path

    def __call__(
        self,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 120,
    ) -> Finished:
        """Run a command to its end.

        Args:
            arguments: verb, file and flags.
            env: added to the environment.
            cwd: working folder; `folder` when None.
            timeout: seconds until it is killed.

        Raises:
            subprocess.TimeoutExpired: it took longer.
        """
        process = self.start(*arguments, env=env, cwd=cwd)
        with process:
            try:
                stdout, stderr = process.communicate(timeout=timeout)
            except BaseException:
                process.kill()
                raise
        return Finished(process.returncode, stdout, stderr)

    def start(
        self,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.Popen[str]:
        """Start a command, to be interrupted or killed; use it as a context manager."""
        return subprocess.Popen(
            [sys.executable, "-m", "flows.cli", *map(str, arguments)],
            cwd=cwd or self.folder,
            env={
                **os.environ,
                "EVALMILL_STORE": str(self.store),
                "PYTHONPATH": str(REPOSITORY),
                **(env or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

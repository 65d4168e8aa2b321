import subprocess
import sys
from pathlib import Path

import pytest

from tasks_lib.errors import DefinitionError
from tasks_lib.results.folder import RunFolder
from tasks_lib.results.lock import RunLock, is_worked_on, lock_path
from tests.command_line import REPOSITORY

HOLD = """
import sys, time
from pathlib import Path
from tasks_lib.results.folder import RunFolder
from tasks_lib.results.lock import RunLock
RunLock(RunFolder(Path(sys.argv[1]))).take()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def test_one_at_a_time_and_then_the_next(folder: RunFolder):
    lock = RunLock(folder).take()
    assert is_worked_on(folder)
    with pytest.raises(DefinitionError, match=r"is being worked on by this process, \d+; wait"):
        RunLock(folder).take()
    assert is_worked_on(folder), "asking does not give the lock back"
    lock.release()
    lock.release()
    assert not is_worked_on(folder)
    assert not lock_path(folder).exists()
    RunLock(folder).take().release()


def test_another_process_is_kept_out_until_the_holder_is_killed(folder: RunFolder):
    command = [sys.executable, "-c", HOLD, str(folder.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert is_worked_on(folder)
        with pytest.raises(DefinitionError, match=f"worked on by process {holder.pid} on "):
            RunLock(folder).take()
        holder.kill()
    assert lock_path(folder).exists(), "a killed process cleans nothing up"
    assert not is_worked_on(folder)
    RunLock(folder).take().release()


def test_a_folder_that_is_not_there_is_worked_on_by_nobody(tmp_path: Path):
    assert not is_worked_on(RunFolder(tmp_path / "none"))

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tasks_lib.models.limits.lock import STOPPED_SECONDS, WAIT_SECONDS
from tasks_lib.models.limits.shared import (
    FORGOTTEN_AFTER,
    MAX_ROWS,
    SUSPENDED_AFTER,
    SharedState,
    endpoint_folder,
)

JOIN_AND_DIE = """
import os, signal, sys
from pathlib import Path
from tasks_lib.models.limits.shared import SharedState
shared = SharedState(Path(sys.argv[1]), 1.0)
shared.tell(in_flight=5, waiting=2, now=1.0)
print("in", flush=True)
if sys.argv[2] == "holding the lock":
    shared.__enter__()
    print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "limits" / "x"


def python(script: str, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def join_elsewhere(folder: Path, manner: str = "") -> "subprocess.Popen[str]":
    """A process that joined, has five calls in flight, and waits."""
    process = python(JOIN_AND_DIE, folder, manner)
    assert process.stdout is not None
    assert process.stdout.readline() == "in\n"
    if manner:
        assert process.stdout.readline() == "locked\n"
    return process


def test_users_see_each_others_calls_and_numbers(folder: Path):
    one, two = SharedState(folder, 1.0), SharedState(folder, 1.0)
    assert not one.alone
    assert one.others(1.0) == two.others(1.0) == []
    one.tell(3, 4, 1.0)
    one.numbers.pace.closed_until = 7.5
    assert two.others(1.0) == [(3, 4)]
    assert two.numbers.pace.closed_until == 7.5
    one.close()
    assert two.others(1.0) == []
    two.close()
    assert not folder.exists()


def test_who_is_alone_is_told_so(folder: Path):
    shared = SharedState(folder, 1.0)
    assert shared.alone
    shared.close()


@pytest.mark.parametrize("manner", ["", "holding the lock"])
def test_a_killed_users_calls_count_no_more(folder: Path, manner: str):
    shared = SharedState(folder, 1.0)
    process = join_elsewhere(folder, manner)
    with process:
        if not manner:
            with shared:
                assert shared.others(1.0) == [(5, 2)]
                assert shared.others(10.0) == [(5, 2)], "long silent, but alive"
                assert shared.others(2 + SUSPENDED_AFTER) == [], "silent for too long"
        process.kill()
    with shared:
        assert shared.others(20.0) == []
    shared.close()
    assert not folder.exists()


def test_a_stopped_user_that_holds_the_lock_stops_nobody_for_good(folder: Path):
    shared = SharedState(folder, 1.0)
    with join_elsewhere(folder, "holding the lock") as process:
        began, unsettled = time.monotonic(), []
        while time.monotonic() - began < WAIT_SECONDS + STOPPED_SECONDS + 0.5:
            with shared:
                unsettled.append(shared.unsettled)
                assert shared.others(1.0) == [(5, 2)]
            time.sleep(0.01)
        process.kill()
    assert unsettled[0] is True, "it may go on in a moment"
    assert unsettled[-1] is False
    assert len(unsettled) > 20, "only the first waits for the lock"
    with shared:
        assert not shared.unsettled
    shared.close()


COME_AND_GO = """
import os, sys, time
from pathlib import Path
from tasks_lib.models.limits.shared import SharedState
folder, marks, end = Path(sys.argv[1]), Path(sys.argv[2]), time.monotonic() + 3
joined = 0
while time.monotonic() < end:
    shared = SharedState(folder, time.monotonic())
    joined += 1
    file = os.fstat(shared._file)
    mark = marks / f"{file.st_ino}-{shared._row}"
    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    time.sleep(joined % 3 / 1000)
    assert os.path.samestat(file, os.stat(folder / "numbers")), "removed by another"
    mark.unlink()
    shared.close()
print(joined)
"""


def stop_at_any_moment(processes: Sequence["subprocess.Popen[str]"]) -> None:
    """Stop each again and again, for longer than a busy machine does, until all have ended."""
    chance = random.Random(7)
    while alive := [process for process in processes if process.poll() is None]:
        stopped = chance.sample(alive, chance.randint(1, len(alive)))
        for process in stopped:
            process.send_signal(signal.SIGSTOP)
        time.sleep(chance.uniform(0.001, 0.03))
        for process in stopped:
            process.send_signal(signal.SIGCONT)
        time.sleep(chance.uniform(0, 0.002))


def test_users_that_come_and_go_at_any_moment_have_rows_of_their_own_in_one_file(
    folder: Path, tmp_path: Path
):
    processes = [python(COME_AND_GO, folder, tmp_path) for _ in range(3)]
    stop_at_any_moment(processes)
    for process in processes:
        with process:
            assert process.returncode == 0
            assert process.stdout is not None
            assert int(process.stdout.read()) > 20
    assert not folder.exists()


@pytest.mark.parametrize(
    ("idle", "kept"),
    [
        pytest.param(10.0, True, id="the next run a moment later"),
        pytest.param(FORGOTTEN_AFTER + 1, False, id="much later"),
        pytest.param(-500.0, False, id="after a reboot, when the clock began anew"),
    ],
)
def test_what_was_learnt_is_there_for_the_next_user_for_a_while(
    folder: Path, idle: float, kept: bool
):
    first = SharedState(folder, 1000.0)
    first.numbers.pace.closed_until = 7.5
    first.close(keep=True)
    second = SharedState(folder, 1000.0 + idle)
    assert second.numbers.pace.closed_until == (7.5 if kept else 0.0)
    assert second.alone
    second.close()


def test_numbers_in_use_are_never_forgotten(folder: Path):
    first = SharedState(folder, 1000.0)
    first.numbers.pace.closed_until = 7.5
    second = SharedState(folder, 1000.0 + 2 * FORGOTTEN_AFTER)
    assert second.numbers.pace.closed_until == 7.5
    first.close()
    second.close()


def test_who_comes_while_the_last_one_clears_up_begins_anew(folder: Path):
    first = SharedState(folder, 1.0)
    old = os.open(folder / "numbers", os.O_RDWR)
    first.close()
    second = SharedState(folder, 1.0)
    assert not os.path.samestat(os.fstat(old), os.stat(folder / "numbers"))
    os.close(old)
    second.close()


def test_a_folder_that_cannot_be_used_is_done_without(tmp_path: Path):
    (tmp_path / "file").write_text("no folder")
    shared = SharedState(tmp_path / "file" / "x", 1.0)
    with shared:
        shared.tell(1, 1, 1.0)
    assert shared.alone
    assert shared.others(1.0) == []
    shared.close()


def test_who_finds_no_row_left_goes_alone(folder: Path):
    with ExitStack() as stack:
        folder.mkdir(parents=True)
        for row in range(MAX_ROWS):
            lease = stack.enter_context((folder / f"lease-{row}").open("w"))
            fcntl.flock(lease, fcntl.LOCK_EX)
        shared = SharedState(folder, 1.0)
        assert shared.alone
        shared.close()
    assert folder.exists(), "the others' files are left to them"


def test_a_torn_file_is_mended(folder: Path):
    folder.mkdir(parents=True)
    (folder / "numbers").write_bytes(b"\x7f" * 100)
    shared = SharedState(folder, 1.0)
    assert shared.others(1.0) == []
    assert shared.numbers.pace.closed_until == 0.0
    shared.close()


def test_each_endpoint_and_model_has_its_own_folder(tmp_path: Path):
    folders = {endpoint_folder(tmp_path, f"http://h/v1 {model}") for model in ("a", "b", "a\ud800")}
    assert len(folders) == 3
    assert endpoint_folder(tmp_path, "http://h/v1 a") in folders

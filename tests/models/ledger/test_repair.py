import asyncio
import random
import shutil
from pathlib import Path

import pytest

from tasks_lib.errors import StoreError
from tasks_lib.models.call_id import CallId
from tasks_lib.models.ledger import Entry, Ledger
from tasks_lib.models.ledger.file import ledger_path
from tasks_lib.models.ledger.repair import repair

COUNT = 600
PAGE = 4096


def key(number: int) -> bytes:
    return number.to_bytes(16)


def body(number: int) -> bytes:
    """A reply; some fill several pages."""
    return b'{"said":"%d%s"}' % (number, b"x" * (9000 if number % 50 == 0 else 200))


def entry(number: int) -> Entry:
    call = CallId("exam", "solver", str(number), 0, 0)
    return Entry(key(number), call, "lab", float(number), 0.5, b"{}", body(number))


def opened(store: Path) -> Ledger:
    return Ledger(store, "night", "reuse")


async def filled(store: Path, start: int, stop: int) -> Ledger:
    ledger = opened(store)
    await asyncio.gather(*(ledger.put(entry(number)) for number in range(start, stop)))
    return ledger


def fill(store: Path) -> bytearray:
    asyncio.run(filled(store, 0, COUNT)).close()
    return bytearray(ledger_path(store).read_bytes())


def saved(store: Path) -> int:
    """How many replies a store still has, each as it was."""
    ledger = opened(store)
    bodies = [ledger.get(key(number)) for number in range(COUNT)]
    ledger.close()
    assert all(found in (None, body(number)) for number, found in enumerate(bodies))
    return COUNT - bodies.count(None)


def overwritten(data: bytearray, *pages: int) -> bytearray:
    noise = random.Random(0)
    for page in pages:
        data[page * PAGE : (page + 1) * PAGE] = noise.randbytes(PAGE)
    return data


@pytest.mark.parametrize(
    ("damage", "least"),
    [
        pytest.param(lambda data: data, COUNT, id="nothing is wrong"),
        pytest.param(lambda data: data[: len(data) // 2], COUNT // 4, id="cut off in the middle"),
        pytest.param(lambda data: b"\0" * 100 + data[100:], COUNT, id="no header"),
        pytest.param(lambda data: overwritten(data, 1), COUNT, id="no root"),
        pytest.param(lambda data: overwritten(data, 20, 21, 40), COUNT - 60, id="torn inside"),
        pytest.param(lambda data: b"", 0, id="empty"),
        pytest.param(lambda data: b"no ledger" * 1000, 0, id="no ledger"),
    ],
)
def test_what_can_be_read_is_saved(tmp_path: Path, damage, least: int):
    ledger_path(tmp_path).write_bytes(damage(fill(tmp_path)))
    repaired = repair(tmp_path)
    assert repaired.aside.exists()
    assert COUNT >= repaired.kept >= least
    assert saved(tmp_path) == repaired.kept
    assert repair(tmp_path).kept == repaired.kept


def test_what_only_the_journal_holds_is_saved_too(tmp_path: Path):
    used, torn = tmp_path / "used", tmp_path / "torn"
    for store in (used, torn):
        store.mkdir()
    asyncio.run(filled(used, 0, 300)).close()
    open_still = asyncio.run(filled(used, 300, COUNT))
    for path in used.iterdir():  # as a killed process leaves them
        shutil.copy(path, torn)
    open_still.close()
    data = bytearray(ledger_path(torn).read_bytes())
    ledger_path(torn).write_bytes(b"\0" * 100 + data[100:])
    assert repair(torn).kept == COUNT
    assert saved(torn) == COUNT
    asides = [path.name for path in torn.iterdir() if path.name.startswith("ledger.damaged-")]
    assert len(asides) == 3


def test_a_torn_ledger_says_what_to_do(tmp_path: Path):
    ledger_path(tmp_path).write_bytes(overwritten(fill(tmp_path), *range(2, 30)))
    with pytest.raises(StoreError, match="save the replies that can still be read with: evalmill"):
        saved(tmp_path)


def test_there_must_be_a_ledger(tmp_path: Path):
    with pytest.raises(StoreError, match="has no ledger"):
        repair(tmp_path)

"""A million rows open in seconds and stay on disk."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

COUNT = 1_000_000
QUESTION = "What is the sum, given that the weather is fine?"
OPEN_AND_READ = r"""
import re, sys, time
from pathlib import Path
from tasks_lib.sources import LocalSource, select

file = Path(sys.argv[1])
started = time.process_time()
rows = LocalSource(file_path=file.name).open(file)
seconds = time.process_time() - started
assert len(rows) == 1_000_000
assert rows.read(999_999, 1_000_000)[0].data["n"] == 999_999
assert len(select(rows, 100, "random").read(0, 100)) == 100
peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
print(seconds, int(peak[1]) / 1024)
"""


def write(file: Path) -> None:
    numbers = range(COUNT)
    match file.suffix:
        case ".csv":
            lines = (f'id-{n},{n},{n / 7},{n % 2 == 0},"{QUESTION}"\n' for n in numbers)
            with file.open("w") as stream:
                stream.write("sample_id,n,score,even,question\n")
                stream.writelines(lines)
        case ".jsonl":
            with file.open("w") as stream:
                stream.writelines(
                    f'{{"sample_id": "id-{n}", "n": {n}, "score": {n / 7}, "q": "{QUESTION}"}}\n'
                    for n in numbers
                )
        case ".parquet":
            ids = [f"id-{n}" for n in numbers]
            table = pa.table({"sample_id": ids, "n": numbers, "q": [QUESTION] * COUNT})
            pq.write_table(table, file, row_group_size=COUNT)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize(
    ("form", "megabytes"),
    [("csv", 100), ("jsonl", 100), ("parquet", 250)],  # pyarrow alone takes 75
)
def test_a_million_rows(tmp_path: Path, form: str, megabytes: int):
    file = tmp_path / f"data.{form}"
    write(file)
    command = [sys.executable, "-c", OPEN_AND_READ, str(file)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    seconds, peak = map(float, done.stdout.split())
    assert seconds < 15  # about 3 to 5 on an idle machine
    assert peak < megabytes

"""Writing tables must not bring pandas in; using it afterwards must work."""

import subprocess
import sys

SCRIPT = """
import sys
from tasks_lib.results.arrow import lighten

lighten()
import pyarrow as pa

table = pa.table({"a": [1, None], "b": ["x", "y"]})
assert "pandas" not in sys.modules, "pandas was imported"
assert pa.default_memory_pool().backend_name == "system"
assert table.to_pandas()["b"].tolist() == ["x", "y"]
"""


def test_pandas_stays_out_until_it_is_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

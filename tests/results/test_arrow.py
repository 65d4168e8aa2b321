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
import io

import pandas as pd

written = io.BytesIO()
pd.DataFrame({"c": [1, 2]}).to_parquet(written)
assert pd.read_parquet(written)["c"].tolist() == [1, 2]
assert table.to_pandas()["b"].tolist() == ["x", "y"]
assert pa.array(pd.Series([1, None])).to_pylist() == [1, None]
"""


def test_pandas_stays_out_until_it_is_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

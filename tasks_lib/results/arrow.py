"""Making pyarrow light in processes that only write and read tables."""

import sys
from functools import cache


@cache
def lighten() -> None:
    """Take pyarrow's default memory pool and pandas out of this process; done once.

    The default pool holds on to 16 MB more than malloc does in a run of 2,000 samples. And
    the first array made of Python values has pyarrow import pandas, to see whether they are
    a series: a quarter of a second and 40 MB in every run. It looks once, now, while there is
    none to find; a later `to_pandas` still imports it. A process that uses pandas already is
    left alone.
    """
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    if "pandas" in sys.modules:
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        pa.array([0])
    finally:
        del sys.modules["pandas"]

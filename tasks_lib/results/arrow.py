"""Making pyarrow light in processes that only write and read tables."""

import os
import sys
import threading
from functools import cache
from importlib.abc import MetaPathFinder

_LOCK = threading.Lock()

# Read when pyarrow is imported. Its own choice, mimalloc, holds on to 24 MB more than malloc does
# in a run of 2,000 samples.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


class _NoPandas(MetaPathFinder):
    """Hides pandas from the thread that made it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Refuse pandas in this thread; say nothing of other modules and threads.

        Raises:
            ImportError: pandas is asked for.
        """
        if fullname == "pandas" and threading.get_ident() == self._thread:
            raise ImportError("pandas is hidden")


@cache
def lighten() -> None:
    """Keep pyarrow from importing pandas; done once.

    The first array made of Python values has pyarrow import pandas, to see whether they are
    a series: a quarter of a second and 40 MB in every run. It looks once by itself, now,
    while there is none to find; what needs pandas later imports it. A process that uses
    pandas already is left alone.
    """
    import pyarrow as pa

    with _LOCK:
        if "pandas" in sys.modules:
            return
        # The list is replaced, never changed: another thread that is importing goes through
        # it, and would miss a finder when one before it is removed.
        hidden = _NoPandas()
        sys.meta_path = [hidden, *sys.meta_path]
        try:
            pa.array([0])
        finally:
            sys.meta_path = [finder for finder in sys.meta_path if finder is not hidden]

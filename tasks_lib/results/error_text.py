"""What an error row says."""

from tasks_lib.errors import EvalmillError, SampleError, bounded
from tasks_lib.jsontext import storable
from tasks_lib.secrets import redact


def unexpected(error: Exception) -> SampleError:
    """Return what an error none of our code foresaw becomes: an error of this sample alone."""
    words = error.problem if isinstance(error, EvalmillError) else str(error)
    return SampleError("code", f"{type(error).__name__}: {words}")


def error_text(error: SampleError) -> str:
    """What an error row says: bounded, storable, and without any secret."""
    return storable(bounded(redact(str(error)), 1000))  # a secret cut in two would show

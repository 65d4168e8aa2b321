"""The dataset: a named source of samples."""

from tasks_lib.base import Definition
from tasks_lib.definitions.keys import DisplayName
from tasks_lib.keys import UserKey
from tasks_lib.sources import Source


class Dataset(Definition):
    """Samples, by where they are read from."""

    key: UserKey
    """Name that tasks and evaluations use for the dataset."""
    display_name: DisplayName
    """Name shown to people."""
    description: str | None = None
    """What the samples are, in a sentence."""
    long_description: str | None = None
    """What the samples are, in Markdown."""
    source: Source
    """Where the samples are read from."""
    tags: tuple[str, ...] = ()
    """Words to find the dataset by."""

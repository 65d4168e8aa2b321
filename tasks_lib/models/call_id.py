"""Which call it is, among all of a run."""

from typing import NamedTuple


class CallId(NamedTuple):
    """Whose call it is, and which of theirs.

    Attributes:
        spec_key: the task specification.
        caller: `solver`, or `scorer:<key>`.
        sample_id: the sample.
        trial: zero-based trial.
        ordinal: how many equal calls of the same sample, trial and caller came before.
    """

    spec_key: str
    caller: str
    sample_id: str
    trial: int
    ordinal: int

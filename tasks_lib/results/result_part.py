"""All that is stored of some samples: their rows, and what each scorer says of these."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tasks_lib.results.folder import RunFolder, part_name
from tasks_lib.results.samples import read_samples
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.score_records import ScoreRecord, read_score_records


@dataclass(frozen=True, slots=True)
class ResultPart:
    """Everything recorded of some samples that follow each other.

    Attributes:
        records: their rows, samples and in them trials together.
        scores: what each scorer says of these rows, by its key; aggregates over trials last.
    """

    records: Sequence[SampleRecord]
    scores: Mapping[str, Sequence[ScoreRecord]]


def read_part(
    folder: RunFolder, spec_key: str, scorers: Iterable[str], start: int, stop: int
) -> ResultPart:
    """Return what a run holds of the samples of one part.

    Raises:
        StoreError: a part is missing or damaged.
    """
    name = part_name(start, stop)
    return ResultPart(
        read_samples(folder.samples(spec_key) / name),
        {key: read_score_records(folder.scores(spec_key, key) / name) for key in scorers},
    )

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks_lib.errors import StoreError
from tasks_lib.jsontext import dumps, loads
from tasks_lib.results.folder import part_name, parts
from tasks_lib.results.samples import read_samples, statuses, write_samples
from tasks_lib.results.schemas import (
    SAMPLE_COLUMNS,
    SCHEMA_VERSION,
    metric_schema,
    sample_schema,
)
from tasks_lib.results.scores import (
    unify_scores,
)
from tests.results.rows import RECORD


def test_samples_come_back_as_they_were_written(tmp_path: Path):
    failed = replace(
        RECORD,
        sample_index=1,
        output_text=None,
        finish_reason=None,
        status="error",
        error_stage="solver",
        error_class="infra",
        error_message="HTTP 500",
        cost_usd=0.5,
    )
    write_samples(tmp_path / part_name(0, 2), [RECORD, failed])
    assert read_samples(tmp_path / part_name(0, 2)) == [RECORD, failed]
    assert statuses(tmp_path / part_name(0, 2)) == {"ok": 1, "error": 1}


def test_odd_texts_survive(tmp_path: Path):
    """BR-030."""
    odd = "yes\0no \x1b[2J\x1b[31mred line\r\nline \u2028"
    record = replace(RECORD, output_text=odd, sample=dumps({"n": 10**30, "t": odd + "\ud800"}))
    write_samples(tmp_path / part_name(0, 1), [record])
    (back,) = read_samples(tmp_path / part_name(0, 1))
    assert back == record
    assert loads(back.sample) == {"n": 10**30, "t": odd + "\ud800"}


def test_every_part_of_samples_has_the_same_schema_also_when_nothing_failed(tmp_path: Path):
    """BR-082."""
    write_samples(tmp_path / part_name(0, 1), [replace(RECORD, output_text=None)])
    write_samples(tmp_path / part_name(1, 2), [replace(RECORD, error_message="timeout")])
    write_samples(tmp_path / part_name(2, 3), [])
    for part in parts(tmp_path):
        assert pq.read_schema(part).equals(sample_schema(), check_metadata=True)
    frame = pd.read_parquet(tmp_path)
    assert list(frame["error_message"].dropna()) == ["timeout"]


def test_a_schema_names_its_columns_and_version():
    assert tuple(sample_schema().names) == SAMPLE_COLUMNS
    assert metric_schema().metadata == {
        b"evalmill.table": b"metrics",
        b"evalmill.schema_version": SCHEMA_VERSION.encode(),
    }


def test_a_part_that_is_missing_or_damaged_is_a_store_error(tmp_path: Path):
    with pytest.raises(StoreError, match=r"part-0.*: can't read the part: .*; resume the run"):
        read_samples(tmp_path / part_name(0, 1))
    write_samples(tmp_path / part_name(0, 1), [RECORD])
    file = tmp_path / part_name(0, 1)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(StoreError, match="resume the run"):
        statuses(file)
    with pytest.raises(StoreError, match="resume the run"):
        unify_scores(tmp_path)


def test_what_can_not_be_made_a_table_leaves_no_file(tmp_path: Path):
    with pytest.raises(pa.ArrowInvalid):
        write_samples(tmp_path / part_name(0, 1), [replace(RECORD, calls="many")])  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []

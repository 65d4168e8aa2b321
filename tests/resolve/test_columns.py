"""Columns that specifications name."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.resolve import check_dataset_columns, resolve
from tests.resolve.project import FILES, UNIQUENESS


def test_columns_are_checked_when_they_are_known(write_files):
    uniqueness = UNIQUENESS.replace("type: string", "type: dataset_column")
    folder = write_files({**FILES, "tasks/uniqueness.yaml": uniqueness})
    _, unique = resolve(folder / "run.yaml").specs
    check_dataset_columns(unique, ["question", "target"])
    with pytest.raises(DefinitionErrors, match="no column 'target'; did you mean 'targets'"):
        check_dataset_columns(unique, ["question", "targets"])

"""What the tests of resolve share."""

import pytest

from tests.resolve.project import FILES


@pytest.fixture
def project(write_files):
    """The folder of the small project."""
    return write_files(FILES)

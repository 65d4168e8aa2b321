"""What the tests of loading share: files in a project, loaded, and what is said of them."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.loading import Document, Kind, load


@pytest.fixture
def project(write_files, monkeypatch):
    """Write files into a folder that is a project and the working directory; load one."""

    def read(files, name="task.yaml", kind=None) -> Document:
        folder = write_files({"pyproject.toml": "", **files})
        monkeypatch.chdir(folder)
        return load(folder / name, kind)

    return read


@pytest.fixture
def read(project):
    """Write `task.yaml` beside other files and load it."""

    def write_and_load(text: str, files=None, kind: Kind | None = None) -> Document:
        return project({"task.yaml": text, **(files or {})}, kind=kind)

    return write_and_load


@pytest.fixture
def wrong(read):
    """Return the lines of complaint about `task.yaml`."""

    def complaints(text: str, files=None, kind: Kind | None = None) -> list[str]:
        with pytest.raises(DefinitionErrors) as caught:
            read(text, files, kind)
        return str(caught.value).splitlines()

    return complaints

"""The Prefect API that the surroundings name is found the way Prefect finds it."""

from pathlib import Path

import pytest

from flows.server import configured_api_url


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))


def test_nobody_names_one() -> None:
    assert configured_api_url() is None


@pytest.mark.parametrize(
    ("file", "text"),
    [
        pytest.param(".env", "PREFECT_API_URL=http://named/api\n", id="a .env file"),
        pytest.param("prefect.toml", '[api]\nurl = "http://named/api"\n', id="prefect.toml"),
        pytest.param(
            "pyproject.toml", '[tool.prefect.api]\nurl = "http://named/api"\n', id="pyproject.toml"
        ),
        pytest.param(
            "prefect/profiles.toml",
            'active = "team"\n[profiles.team]\nPREFECT_API_URL = "http://named/api"\n'
            '[profiles.other]\nPREFECT_API_URL = "http://other/api"\n',
            id="the active profile",
        ),
    ],
)
def test_a_file_names_it_and_the_environment_wins(
    file: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    assert configured_api_url() == "http://named/api"
    monkeypatch.setenv("PREFECT_API_URL", "http://environment/api")
    assert configured_api_url() == "http://environment/api"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('active = "ephemeral"\n[profiles.ephemeral]\n', id="no URL in it"),
        pytest.param('active = "gone"\n[profiles.team]\n', id="it is not there"),
        pytest.param("active = [", id="the file is not TOML"),
        pytest.param('[profiles.team]\nPREFECT_API_URL = "http://named/api"\n', id="inactive"),
    ],
)
def test_a_profile_without_a_url_names_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "prefect").mkdir()
    (tmp_path / "prefect" / "profiles.toml").write_text(text, encoding="utf-8")
    assert configured_api_url() is None


def test_a_profile_chosen_by_name_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prefect").mkdir()
    text = 'active = "a"\n[profiles.a]\n[profiles.b]\nPREFECT_API_URL = "http://b/api"\n'
    (tmp_path / "prefect" / "profiles.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PREFECT_PROFILE", "b")
    assert configured_api_url() == "http://b/api"

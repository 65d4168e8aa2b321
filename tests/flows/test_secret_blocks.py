"""Secrets that no file declares come from Prefect Secret blocks, and stay out of the store."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from flows.secret_blocks import from_blocks
from flows.server import ServerInfo
from tasks_lib.errors import DefinitionError
from tests.command_line import CommandLine
from tests.fake_openai import RunningServer


def test_no_names_ask_nobody() -> None:
    assert from_blocks(()) == {}


@pytest.mark.prefect
def test_a_block_is_found_by_the_name_that_definitions_use(
    prefect_server: ServerInfo,
    evalmill: CommandLine,
    fake_server: RunningServer,
    write_files: Callable[[Mapping[str, str | bytes]], Path],
) -> None:
    from prefect.blocks.system import Secret

    from flows.client import connected

    with connected(prefect_server.url):
        Secret(value="CANARY-of-a-block").save("lab-key", overwrite=True, _sync=True)
    assert from_blocks(["LAB_KEY"]) == {"LAB_KEY": "CANARY-of-a-block"}
    folder = write_files(
        {
            "run.yaml": f"""
                models:
                  - key: m
                    display_name: M
                    config:
                      url: {fake_server.base_url}
                      adapter: {{key: latticeflow$openai_chat_completion}}
                      api_key: << secrets.LAB_KEY >>
                datasets:
                  - {{key: d, display_name: D, source: {{file_path: d.csv}}}}
                tasks:
                  - key: t
                    display_name: T
                    description: t
                    definition:
                      dataset: {{key: d}}
                      solver:
                        type: single_turn_solver
                        input_builder:
                          type: chat_completion
                          input_messages: [{{role: user, content: "{{{{ sample.q }}}}"}}]
                evaluation:
                  key: e
                  display_name: E
                  task_specifications: [{{task_key: t, model_key: m}}]
                """,
            "d.csv": "q\nhello\n",
        }
    )
    done = evalmill("run", folder / "run.yaml")
    assert done.exit_code == 0, done.stderr
    written = [path for path in evalmill.store.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if b"CANARY" in path.read_bytes()]
    without = evalmill("run", folder / "run.yaml", "--no-prefect")
    assert without.exit_code == 2
    assert "secret 'LAB_KEY' is not declared" in without.stderr


@pytest.mark.prefect
def test_a_missing_block_is_said_with_the_fix(prefect_server: ServerInfo) -> None:
    with pytest.raises(DefinitionError, match="nor a Prefect Secret block 'no-such-key'"):
        from_blocks(["NO_SUCH_KEY"])

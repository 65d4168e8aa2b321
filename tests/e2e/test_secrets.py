"""Secrets stay out of everything a run writes and prints (BR-099)."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.e2e.lab import ALONE, questions

MODEL = """\
key: NAME
display_name: Lab
secrets: {ORG_KEY: $ORG_VALUE}
config:
  connection_type: custom_connection
  url: http://user:CANARY-2-pass@HOST/v1/chat/completions?token=CANARY-3-token&api-version=2024
  model_key: lab-1
  adapter: {key: latticeflow$openai_chat_completion}
  custom_headers:
    Authorization: Bearer CANARY-5-header
    X-Api-Key: sk-CANARY-4-literal
    X-Org: lab
    X-Key: << secrets.ORG_KEY >>
    X-Environment: $LAB_ENV_KEY
"""

RUN = """\
models: [{$ref: model.yaml}, {$ref: echo.yaml}]
tasks: [{$ref: task.yaml}]
datasets: [{$ref: qa.yaml}]
evaluation:
  key: nightly
  display_name: Nightly
  task_specifications:
    - {key: answered, task_key: exam, model_key: lab}
    - {key: refused, task_key: exam, model_key: echo}
"""

ENVIRONMENT = {"LAB_ENV_KEY": "CANARY-6-environment", "ORG_VALUE": "CANARY-7-named"}


class Echo(BaseHTTPRequestHandler):
    """Refuses every key, and tells everybody which one it was."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        words = f"{self.path} with {dict(self.headers)} is not allowed"
        body = json.dumps({"error": {"message": words}}).encode()
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def guarded(lab):
    """The project with secrets wherever a model takes one, and a second model that is refused."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    addresses = {"lab": f"{lab.server.host}:{lab.server.port}"}
    addresses["echo"] = f"127.0.0.1:{server.server_port}"
    for name, file in (("lab", "model.yaml"), ("echo", "echo.yaml")):
        text = MODEL.replace("HOST", addresses[name]).replace("NAME", name)
        lab.write_files({file: text})
    lab.write(run_yaml=RUN, qa_jsonl=questions(3))
    try:
        yield lab
    finally:
        server.shutdown()
        server.server_close()


def files_with(word: bytes, *folders: Path) -> list[Path]:
    """Files under the folders that hold the word."""
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    return [file for file in files if word in file.read_bytes()]


@pytest.mark.parametrize(
    "conductor",
    [
        pytest.param(ALONE, id="alone"),
        pytest.param((), id="under Prefect", marks=pytest.mark.prefect),
    ],
)
def test_a_run_writes_and_prints_no_secret(guarded, conductor, request):
    lab = guarded
    homes = []
    if not conductor:
        request.getfixturevalue("prefect_server")
        homes = [Path(os.environ["EVALMILL_HOME"]), Path(os.environ["PREFECT_HOME"])]
    ran = lab.run("-v", "--run-id", "night", conductor=conductor, env=ENVIRONMENT)
    assert ran.exit_code == 3, ran.stderr
    assert "HTTP 401" in ran.stderr
    told = [ran.finished, lab.evalmill("show", "last"), lab.evalmill("show", "last", "0")]
    for each in told:
        assert "CANARY" not in each.stdout + each.stderr
    store = lab.evalmill.store
    assert files_with(b"CANARY", store, *homes) == []
    resolved = (store / "runs" / "night" / "resolved.yaml").read_text()
    assert all(word in resolved for word in ("X-Org", "lab-1", "api-version=2024", "$LAB_ENV_KEY"))
    assert bool(ran.run.record["prefect_flow_run_id"]) is not bool(conductor)

    values = dict.fromkeys(("LAB_X_API_KEY", "ECHO_X_API_KEY"), "CANARY-8")
    values |= {"LAB_AUTHORIZATION": "CANARY-8", "ECHO_AUTHORIZATION": "CANARY-8"}
    again = lab.run("--resume", "night", file=None, env={**ENVIRONMENT, **values})
    assert again.exit_code == 3, again.stderr
    assert again.metrics["is_correct_mean"]["n_total"] == 3
    assert lab.asked == 3
    assert files_with(b"CANARY", store) == []

"""Secrets planted wherever one can stand, and looked for in everything a run writes (BR-099)."""

import base64
import json
import os
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.e2e.lab import ALONE, questions

WORD = "CANARY"
AWKWARD = 'CANARY-k1-"quoted"-&<tag>-\'s'
"""A secret that is written otherwise in JSON, in HTML and in a URL."""

ENVIRONMENT = {
    "LAB_KEY": "CANARY-e1-of-the-api-key",
    "LAB_NAMED": "CANARY-e2-named-in-secrets",
    "LAB_HEADER": "CANARY-e3-of-a-header",
    "LAB_AWKWARD": AWKWARD,
    "OTHER_API_KEY": "CANARY-e5-of-somebody-else",
    "OTHER_PASSWORD": "CANARY-e6-of-somebody-else",
}

CONNECTION = """\
  connection_type: custom_connection
  model_key: lab-1
  adapter: {key: latticeflow$openai_chat_completion}
"""

MODELS = {
    "literal_key": "  url: http://HOST/v1\n  api_key: sk-CANARY-l1-literal-key-00\n",
    "variable_key": "  url: http://HOST/v1\n  api_key: $LAB_KEY\n",
    "awkward_key": "  url: http://HOST/v1\n  custom_headers: {X-Key: $LAB_AWKWARD}\n",
    "named_key": "  url: http://HOST/v1\n  api_key: << secrets.NAMED >>\n",
    "literal_secret": "  url: http://HOST/v1\n  api_key: << secrets.LITERAL >>\n",
    "headers": (
        "  url: http://HOST/v1\n  custom_headers:\n"
        "    Authorization: Bearer CANARY-l3-in-a-header\n"
        "    X-Api-Key: sk-CANARY-l4-in-a-header-000\n"
        "    Cookie: session=CANARY-l5-in-a-cookie\n"
        "    X-Environment: $LAB_HEADER\n    X-Org: lab\n"
    ),
    "address": "  url: http://user:CANARY-l6-pass@HOST/v1?token=CANARY-l7-query&api-version=2024\n",
    "dead": "  url: http://user:CANARY-l8-pass@127.0.0.1:1/v1?key=CANARY-l9-query\n",
}

SNIPPET = """\
import logging, os, sys, warnings
def compute_scores(sample):
    key = os.environ["OTHER_API_KEY"]
    print("printed", key, dict(os.environ))
    sys.stderr.write(f"written {key}")
    logging.getLogger("author").warning("logged %s", key)
    warnings.warn(f"warned {key}")
    raise ValueError("x" * 250 + f"the key is {os.environ['OTHER_API_KEY']} " * 4)
"""

TASK = """\
key: exam
display_name: Exam
description: Asks, and fails in every way that has words.
definition:
  dataset: {key: qa}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages:
        - {role: user, content: "{{ sample.question }}"}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.target }}"}
    - {type: python, key: thread, metrics: [], compute_scores_snippet: !include leak.py}
    - type: python
      key: process
      metrics: []
      isolation: process
      compute_scores_snippet: !include leak.py
"""

SYSTEM = """\
key: inspect
display_name: Inspect
description: Fails with a secret in its words.
definition:
  type: system_task
  compute_evidence_snippet: |
    import os
    def compute_evidence(): raise RuntimeError(os.environ["OTHER_PASSWORD"])
"""


class Echo(BaseHTTPRequestHandler):
    """Refuses with what it was sent, in one of the ways that servers have."""

    protocol_version = "HTTP/1.1"
    count = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        words = f"{self.path} with {dict(self.headers)} and {body} is not allowed"
        Echo.count += 1
        forms = (
            ("application/json", json.dumps({"error": {"message": words, "code": words[:900]}})),
            ("text/html", f"<html><body>{self.escaped(words)}</body></html>"),
            ("text/plain", words),
        )
        kind, text = forms[Echo.count % 3]
        self.send_response(401)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    @staticmethod
    def escaped(text):
        return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def planted(lab):
    """A project with a model for every place a secret can be in; each is answered with an echo."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    files = {"leak.py": SNIPPET, "task.yaml": TASK, "system.yaml": SYSTEM}
    for key, config in MODELS.items():
        text = f"key: {key}\ndisplay_name: {key}\nconfig:\n{CONNECTION}{config}"
        files[f"{key}.yaml"] = text.replace("HOST", host)
    # one model that answers, so that snippets are called
    files["good.yaml"] = (
        "key: good\ndisplay_name: Good\nsecrets: {OWN: CANARY-l10-literal-of-a-model}\n"
        f"config:\n{CONNECTION}  url: http://{lab.server.host}:{lab.server.port}/v1\n"
        "  custom_headers: {X-Own: << secrets.OWN >>}\n"
    )
    keys = [*MODELS, "good"]
    specs = [{"key": key, "task_key": "exam", "model_key": key} for key in keys]
    run = {
        "secrets": {"NAMED": "$LAB_NAMED", "LITERAL": "CANARY-l2-literal-of-a-run"},
        "models": [{"$ref": f"{key}.yaml"} for key in keys],
        "tasks": [{"$ref": "task.yaml"}, {"$ref": "system.yaml"}],
        "datasets": [{"$ref": "qa.yaml"}],
        "evaluation": {
            "key": "nightly",
            "display_name": "Nightly",
            "task_specifications": [*specs, {"key": "inspect", "task_key": "inspect"}],
        },
    }
    lab.write_files(
        {**files, "run.yaml": json.dumps(run), ".env": "DOTENV_TOKEN=CANARY-e7-dotenv-x"}
    )
    lab.write(qa_jsonl=questions(1))
    try:
        yield lab
    finally:
        server.shutdown()
        server.server_close()


def encoded(word: str) -> list[bytes]:
    """A word as it is and in base64, at each of its three places in a group."""
    forms = [word.encode()]
    for skipped in range(3):
        text = base64.b64encode(b"\0" * skipped + word.encode()).rstrip(b"=")
        forms.append(text[4 if skipped else 0 : -2])
    return forms


def leaks(*folders: Path) -> list[str]:
    """Files under the folders that hold the word in any form."""
    forms = encoded(WORD)
    return [
        f"{file}: {content[max(0, at - 60) : at + 60]!r}"
        for folder in folders
        for file in folder.rglob("*")
        if file.is_file()
        for content in [file.read_bytes()]
        for form in forms
        if (at := content.find(form)) >= 0
    ]


def tables(folder: Path) -> list[str]:
    """Rows of SQLite databases that hold the word; their files may have them in pieces."""
    found = []
    for file in folder.rglob("*.db"):
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
            names = [
                name
                for (name,) in connection.execute(
                    "select name from sqlite_master where type='table'"
                )
            ]
            for name in names:
                rows = connection.execute(f'select * from "{name}"').fetchall()
                found += [f"{file} {name}" for row in rows if WORD in repr(row)]
        connection.close()
    return found


@pytest.mark.parametrize(
    "conductor",
    [
        pytest.param(ALONE, id="alone"),
        pytest.param((), id="under Prefect", marks=pytest.mark.prefect),
    ],
)
def test_no_secret_is_written_or_printed(planted, conductor, request):
    lab = planted
    homes = []
    if not conductor:
        request.getfixturevalue("prefect_server")
        homes = [Path(os.environ["EVALMILL_HOME"]), Path(os.environ["PREFECT_HOME"])]
    ran = lab.run("-v", "--run-id", "night", "--no-preflight", conductor=conductor, env=ENVIRONMENT)
    assert ran.exit_code == 3, ran.stderr
    samples = ran.run.samples()
    for word in ("printed", "written", "logged", "warned"):
        assert f"{word} ***" in ran.stderr
    told = " ".join(samples["error_message"].dropna())
    assert "HTTP 401" in told
    assert "***" in told
    assert set(samples[samples["spec_key"] == "good"]["status"]) == {"ok"}
    for key in ("thread", "process"):
        scores = ran.run.scores(key)
        assert any("ValueError: xxx" in text for text in scores["error_message"])
    commands = [
        ("show", "last"),
        ("show", "last", "0", "--json"),
        ("ls", "--json"),
        ("plan", lab.folder / "run.yaml", "--json", "--show", "1"),
        ("check", lab.folder / "run.yaml"),
        ("ledger", "stats"),
    ]
    said = [ran.finished, *(lab.evalmill(*each, env=ENVIRONMENT) for each in commands)]
    for each in said:
        assert WORD not in each.stdout + each.stderr
    store = lab.evalmill.store
    assert leaks(store, *homes) == []
    assert [table for home in (store, *homes) for table in tables(home)] == []
    resolved = (store / "runs" / "night" / "resolved.yaml").read_text()
    assert all(word in resolved for word in ("X-Org: lab", "lab-1", "api-version=2024", "$LAB_KEY"))


@pytest.mark.parametrize(
    "config",
    [
        pytest.param("url: 'http://user:CANARY-pass@[::1/v1'", id="an address that is none"),
        pytest.param("url: 'ftp://user:CANARY-pass@host/v1'", id="a scheme that is none"),
        pytest.param(
            "url: http://127.0.0.1:1/v1\n  api_key: [CANARY-key]", id="a key of another type"
        ),
        pytest.param(
            "url: http://127.0.0.1:1/v1\n  apikey: CANARY-key", id="a key that is misspelt"
        ),
        pytest.param(
            "url: http://127.0.0.1:1/v1\n  api_key: CANARY-key-é", id="a key no header can hold"
        ),
        pytest.param(
            'url: http://127.0.0.1:1/v1\n  custom_headers: {X-Token: "CANARY\\nkey"}',
            id="a line break",
        ),
        pytest.param(
            "url: http://127.0.0.1:1/v1\n  custom_headers: {X-Token: [CANARY]}", id="a list"
        ),
        pytest.param(
            "url: http://127.0.0.1:1/v1\n  api_key: 'CANARY-key", id="a quote that is not closed"
        ),
        pytest.param("url: http://127.0.0.1:1/v1\n  api_key: CANARY: key", id="a colon too many"),
        pytest.param(
            "url: https://127.0.0.1:1/v1\n"
            "  tls_context: {validation_context: {trusted_ca: Q0FOQVJZ!}}",
            id="an authority that is none",
        ),
        pytest.param(
            "url: https://127.0.0.1:1/v1\n  api_key: << secrets.CANARY", id="half a reference"
        ),
    ],
)
def test_no_complaint_shows_a_secret(lab, config):
    text = f"key: lab\ndisplay_name: Lab\nconfig:\n{CONNECTION}  {config}\n"
    lab.write_files({"model.yaml": text})
    checked = lab.evalmill("check", lab.folder / "run.yaml")
    ran = lab.evalmill("run", lab.folder / "run.yaml", "--no-prefect", "-n", "1")
    assert ran.exit_code != 0
    for done in (checked, ran):
        assert WORD not in done.stdout + done.stderr
        assert "Q0FOQVJZ" not in done.stdout + done.stderr
    assert leaks(lab.evalmill.store) == []


def test_a_proxy_s_password_is_not_shown(lab):
    proxy = "http://user:CANARY-of-the-proxy@127.0.0.1:1"
    environment = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "ALL_PROXY": proxy, "NO_PROXY": ""}
    lab.write_files(
        {
            "model.yaml": f"key: lab\ndisplay_name: L\nconfig:\n{CONNECTION}  url: http://192.0.2.1/v1\n"
        }
    )
    ran = lab.run("-n", "1", "-v", "--no-preflight", env=environment, conductor=ALONE)
    assert WORD not in ran.finished.stdout + ran.stderr
    assert leaks(lab.evalmill.store) == []

"""`!include`, `$ref`, `$NAME`, anchors: how several files become one tree."""

import os

import pytest

from tasks_lib.definitions.evaluation import RunConfig
from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.loading import Document, load, load_environment, validate
from tasks_lib.loading.files import project_of

MODEL = """
    key: m
    display_name: M
    config: {connection_type: placeholder}
    """


@pytest.fixture
def project(write_files, monkeypatch):
    """Write files into a folder that is a project and the working directory; load one."""

    def read(files, name="task.yaml", kind=None) -> Document:
        folder = write_files({"pyproject.toml": "", **files})
        monkeypatch.chdir(folder)
        return load(folder / name, kind)

    return read


def problems(caught) -> list[str]:
    return str(caught.value).splitlines()


def test_included_text_is_stripped_and_never_parsed_or_expanded(project, monkeypatch):
    monkeypatch.setenv("HOME_TOWN", "Bern")
    document = project(
        {
            "run.yaml": "config: {a: !include a.json, b: !include b.txt, c: !include empty}",
            "a.json": ' {"x": 1}\n',
            "b.txt": b"\n\n  $HOME_TOWN\n",
            "empty": "",
        },
        "run.yaml",
    )
    assert document.tree["config"] == {"a": '{"x": 1}', "b": "$HOME_TOWN", "c": ""}
    place = document.place(("config", "b"))
    assert (place.line, place.text_file.name, place.text_line) == (1, "b.txt", 3)


def test_include_and_ref_start_from_the_file_they_stand_in(project):
    document = project(
        {
            "run.yaml": "models: [{$ref: parts/model.yaml}]",
            "parts/model.yaml": MODEL + "description: !include ../texts/about.md",
            "texts/about.md": "# About",
        },
        "run.yaml",
    )
    assert document.tree["models"][0]["description"] == "# About"
    assert document.place(("models", 0, "config")).file.name == "model.yaml"
    assert document.place(("models", 0, "config")).line == 3


def test_an_absolute_path_is_fine_inside_the_project(write_files):
    folder = write_files({"pyproject.toml": "", "about.md": "hello"})
    (folder / "run.yaml").write_text(f"config: {{a: !include '{folder}/about.md'}}")
    assert load(folder / "run.yaml").tree["config"] == {"a": "hello"}


def test_a_ref_replaces_the_whole_mapping_and_says_so(project, monkeypatch):
    monkeypatch.setenv("WHICH", "real")
    document = project(
        {
            "run.yaml": "models:\n  - $ref: $WHICH/m.json\n    key: ignored\n",
            "real/m.json": '{"$ref": "n.yaml"}',
            "real/n.yaml": MODEL,
        },
        "run.yaml",
    )
    assert document.tree["models"][0]["key"] == "m"
    assert document.warnings == ("run.yaml:2: 'key' beside '$ref' is ignored; remove it",)


def test_a_list_file_replaces_a_list_and_a_text_file_is_a_scalar(project):
    document = project(
        {
            "run.yaml": "models: {$ref: models.yaml}\nconfig: {n: {$ref: five.txt}}",
            "models.yaml": "- key: m\n  display_name: M\n  config: {connection_type: placeholder}",
            "five.txt": "5\n",
        },
        "run.yaml",
    )
    assert document.tree["models"][0]["key"] == "m"
    assert document.tree["config"] == {"n": 5}


def test_the_project_is_the_folder_of_the_file_when_nothing_marks_one(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (inner / "run.yaml").write_text("config: {a: !include ../secret.txt}")
    with pytest.raises(DefinitionErrors, match=r"config.a: '../secret.txt' leaves the project"):
        load(inner / "run.yaml")


def test_a_store_marks_a_project_but_not_the_home_folder(tmp_path, monkeypatch):
    home = tmp_path / "home"
    for folder in (home / ".evalmill", home / "work/.evalmill", home / "work/tasks", home / "x"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert project_of(home / "work/tasks/t.yaml") == home / "work"
    assert project_of(home / "x/t.yaml") == home / "x"


def test_links_do_not_lead_out_of_the_project(tmp_path, write_files):
    folder = write_files({"project/.evalmill/x": "", "outside.txt": "secret"})
    (folder / "project/link.txt").symlink_to(folder / "outside.txt")
    (folder / "project/run.yaml").write_text("config: {a: !include link.txt}")
    with pytest.raises(DefinitionErrors, match="leaves the project"):
        load(folder / "project/run.yaml")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param(
            "config: {a: !include abuot.md}",
            "run.yaml:1: config.a: 'abuot.md' does not exist; did you mean 'about.md'?",
            id="missing include",
        ),
        pytest.param(
            "config:\n  a: !include [about.md]",
            "run.yaml:2: config.a: '!include' needs the path of a file; write it as text",
            id="include of a list",
        ),
        pytest.param(
            "config: {a: !include latin.txt}",
            "run.yaml:1: config.a: 'latin.txt' is not UTF-8 (byte 3); save it as UTF-8",
            id="include of other bytes",
        ),
        pytest.param(
            "config: {a: !include .}",
            "run.yaml:1: config.a: '.' is no file; paths start from '{folder}'",
            id="include of a folder",
        ),
        pytest.param(
            "config: {a: !env HOME}",
            "run.yaml:1: config.a: unknown tag '!env'; only '!include' is known",
            id="another tag",
        ),
        pytest.param(
            "config: {a: !!python/object/apply:os.system [ls]}",
            "run.yaml:1: config.a: unknown tag '!!python/object/apply:os.system'; "
            "only '!include' is known",
            id="a tag that would run code",
        ),
        pytest.param(
            "models:\n- $ref: circle.yaml",
            "circle.yaml:1: '$ref' goes in a circle: run.yaml → circle.yaml → circle.yaml; "
            "remove one of them",
            id="a circle",
        ),
        pytest.param(
            "models:\n- $ref: [a]",
            "run.yaml:2: models.0: '$ref' needs the path of a file; write it as text",
            id="ref of a list",
        ),
        pytest.param(
            "models:\n- $ref: broken.yaml",
            "broken.yaml:2: mapping values are not allowed in this context; "
            "put text that holds ': ' in quotes, or mend the indentation",
            id="bad syntax in another file",
        ),
        pytest.param(
            "config:\n  a: 1\n  b: 2\n  a: 3",
            "run.yaml:4: config.a: key 'a' is on line 2 already; remove one of the two",
            id="a key twice",
        ),
        pytest.param(
            "config:\n  a: {{ sample.x }}",
            "run.yaml:2: config.a: a key must be text; put '{{ … }}' in quotes",
            id="a template without quotes",
        ),
        pytest.param(
            "config: &a\n  b: [*a]",
            "run.yaml:2: config.b.0: an alias stands inside its own anchor; write it out",
            id="an alias inside its anchor",
        ),
    ],
)
def test_what_can_not_be_read_is_said_once(project, text, complaint, tmp_path):
    files = {
        "run.yaml": text,
        "about.md": "",
        "latin.txt": b"caf\xe9",
        "circle.yaml": "$ref: circle.yaml",
        "broken.yaml": "key: m\nname: a: b",
    }
    with pytest.raises(DefinitionErrors) as caught:
        project(files, "run.yaml", "run")
    assert problems(caught) == [complaint.replace("{folder}", str(tmp_path / "files"))]


def test_anchors_and_merged_mappings(project):
    document = project(
        {
            "run.yaml": """
                config:
                  base: &base {a: 1, b: 1}
                  other: &other {b: 2, c: 2}
                  merged:
                    <<: [*base, *other]
                    a: 0
                  copy: *base
                """
        },
        "run.yaml",
    )
    assert document.tree["config"]["merged"] == {"a": 0, "b": 1, "c": 2}
    assert document.tree["config"]["copy"] == {"a": 1, "b": 1}


def test_aliases_do_not_blow_up(project):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    text = "config:\n" + "\n".join(f"  {line}" for line in lines)
    with pytest.raises(DefinitionErrors, match="more than 100,000 values") as caught:
        project({"run.yaml": text}, "run.yaml")
    assert len(problems(caught)) == 1


def test_nesting_has_an_end(project):
    with pytest.raises(DefinitionErrors, match="nested more than 60 deep") as caught:
        project({"run.yaml": "config: " + "{a: " * 500 + "1" + "}" * 500}, "run.yaml")
    assert len(problems(caught)) == 1


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("$A", "1"),
        ('"${A}"', "1"),
        ("$A$B", "12"),
        ("$A.x", "1.x"),
        ("pre $A post", "pre $A post"),
        (r"'\$A'", r"\$A"),
        ("$UNSET", "$UNSET"),
        ("${UNSET}", "${UNSET}"),
        ("${A:-d}", "${A:-d}"),
        ("$5 a month", "$5 a month"),
    ],
)
def test_variables_are_expanded_in_text_that_starts_with_one(project, monkeypatch, written, read):
    monkeypatch.setenv("A", "1")
    monkeypatch.setenv("B", "2")
    monkeypatch.delenv("UNSET", raising=False)
    document = project({"run.yaml": f"config:\n  a: {written}\n"}, "run.yaml")
    assert document.tree["config"] == {"a": read}


def test_secrets_stay_references(project, monkeypatch):
    monkeypatch.setenv("KEY", "sk-very-secret")
    monkeypatch.setenv("URL", "https://models.example/v1")
    document = project(
        {
            "run.yaml": """
                secrets: {key: $KEY}
                models:
                  - key: m
                    display_name: M
                    secrets: {own: $KEY}
                    config:
                      url: $URL
                      api_key: $KEY
                      custom_headers: {X-Key: $KEY}
                      tls_context: {validation_context: {trusted_ca: $KEY}}
                """
        },
        "run.yaml",
    )
    assert "sk-very-secret" not in str(document.tree)
    assert document.tree["models"][0]["config"]["url"] == "https://models.example/v1"


def test_a_variable_becomes_the_type_that_is_wanted(project, monkeypatch):
    monkeypatch.setenv("NUM", "42")
    document = project({"run.yaml": "run_config: {num_samples: $NUM}"}, "run.yaml")
    assert validate(document, RunConfig, ("run_config",)).num_samples == 42


def test_an_unset_variable_is_named_where_its_value_is_needed(project, monkeypatch):
    monkeypatch.delenv("NUM", raising=False)
    with pytest.raises(DefinitionErrors) as caught:
        project({"run.yaml": "run_config: {num_samples: $NUM}"}, "run.yaml")
    assert problems(caught) == [
        "run.yaml:1: run_config.num_samples: '$NUM' is not a whole number; "
        "set the environment variable 'NUM'"
    ]


def test_environment_files(write_files, monkeypatch):
    for name in ("FROM_SHELL", "FROM_DOTENV", "FROM_BOTH", "FROM_EXTRA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FROM_SHELL", "shell")
    folder = write_files(
        {
            ".env": "FROM_SHELL=dotenv\nFROM_DOTENV=dotenv\nFROM_BOTH=dotenv\n",
            "extra.env": "FROM_BOTH=extra\nFROM_EXTRA=extra\n",
        }
    )
    monkeypatch.chdir(folder)
    load_environment(folder / "extra.env")
    names = ("FROM_SHELL", "FROM_DOTENV", "FROM_BOTH", "FROM_EXTRA")
    assert [os.environ[name] for name in names] == ["shell", "dotenv", "extra", "extra"]
    for name in names[1:]:
        monkeypatch.delenv(name)


def test_an_environment_file_that_is_named_must_exist(tmp_path):
    with pytest.raises(DefinitionError, match="does not exist"):
        load_environment(tmp_path / "none.env")


def test_a_file_that_does_not_exist_is_one_problem(tmp_path):
    with pytest.raises(DefinitionErrors, match=r"none.yaml.*can't be read: No such file"):
        load(tmp_path / "none.yaml")


def test_merges_of_merges_are_refused_before_they_double(project):
    lines = ["a0: &a0 {k: x}"]
    for n in range(1, 30):
        lines.append(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}")
    with pytest.raises(DefinitionErrors, match="more than 100,000 values"):
        project({"run.yaml": "\n".join(lines)}, "run.yaml")


def test_a_long_text_named_often_is_refused(project):
    text = f"config:\n  a: &a {'x' * 1_000_000}\n  b: [{', '.join(['*a'] * 200)}]"
    with pytest.raises(DefinitionErrors, match="or 100,000,000 characters"):
        project({"run.yaml": text}, "run.yaml")


@pytest.mark.parametrize("text", ["a: " + "[" * 50_000, "{a: " * 50_000])
def test_endless_nesting_is_refused(project, text):
    with pytest.raises(DefinitionErrors, match="nest"):
        project({"run.yaml": text}, "run.yaml")


@pytest.mark.parametrize(
    ("text", "name"),
    [("config: {a: !include big}", "big"), ("models: [{$ref: big.yaml}]", "big.yaml")],
)
def test_no_file_may_be_huge(project, text, name):
    big = "x: " + "y" * 10_000_000
    with pytest.raises(DefinitionErrors, match=f"'{name}' has more than 10,000,000 bytes"):
        project({"run.yaml": text, name: big}, "run.yaml")

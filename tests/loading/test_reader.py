"""`!include`, `$ref`, anchors: how several files become one tree."""

import pytest

from tasks_lib.errors import DefinitionErrors

MODEL = """
    key: m
    display_name: M
    config: {connection_type: placeholder}
    """


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

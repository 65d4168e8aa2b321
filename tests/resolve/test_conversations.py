"""What conversations name is found, wherever in them it stands."""

from dataclasses import replace

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.loading import load
from tasks_lib.resolve import Overrides, fingerprint, resolve, undefined_names

RUN = """\
models:
  - {key: tested, display_name: T, config: {connection_type: mock, default: a}}
  - {key: user, display_name: U, config: {connection_type: mock, default: a}}
tasks: [{$ref: task.yaml}]
datasets:
  - {key: qa, display_name: Q, source: {type: local, file_path: qa.jsonl}}
evaluation:
  key: e
  display_name: E
  task_specifications:
    - {key: s, task_key: t, model_key: tested, task_config: {helper: HELPER}}
"""

TASK = """\
key: t
display_name: T
description: A conversation.
config_spec:
  - {type: model, key: helper, display_name: Helper, nullable: true}
  - {type: int, key: most, display_name: Most, default_value: 3}
  - {type: string, key: role, display_name: Role, default_value: user}
  - {type: string, key: column, display_name: Column, default_value: trace}
  - {type: string, key: ending, display_name: Ending, default_value: "<done>"}
  - {type: boolean, key: keep, display_name: Keep, default_value: false}
  - {type: string, key: on_most, display_name: On most, default_value: continue}
definition:
  dataset: {key: qa}
  solver:
    type: multi_turn_solver
    message_builders:
      - {type: load_trace, trace_column: << config.column >>}
      - type: loop
        max_iterations: << config.most >>
        on_max_iterations: << config.on_most >>
        message_builders:
          - type: loop
            message_builders:
              - type: generate_message
                model_key: MODEL
                output_role: << config.role >>
                include_conversation: << config.keep >>
                extra_input_messages:
                  - {type: chat_message, role: << config.role >>, content: "<< config.ending >>"}
                terminate_if: {includes: << config.ending >>, keep_iteration: << config.keep >>}
      - {type: generate}
"""
LAST = "      - {type: generate}\n"


@pytest.fixture
def project(write_files):
    def write(helper="user", model="<< config.helper >>", task=TASK):
        return write_files(
            {
                "pyproject.toml": "",
                "run.yaml": RUN.replace("HELPER", helper),
                "task.yaml": task.replace("MODEL", model),
                "qa.jsonl": '{"trace": []}\n',
            }
        )

    return write


def solver_of(resolved):
    return resolved.specs[0].task.definition.solver


@pytest.mark.parametrize(
    ("helper", "model", "key"),
    [
        pytest.param("user", "<< config.helper >>", "user", id="a parameter"),
        pytest.param("user", "user", "user", id="a literal key"),
        pytest.param(
            "openai/gpt-4.1-nano", "<< config.helper >>", "openai$gpt-4-1-nano",
            id="a parameter that names a provider's",
        ),
        pytest.param("user", "openai/gpt-5", "openai$gpt-5", id="a provider's model"),
        pytest.param("user", "openai$gpt-5", "openai$gpt-5", id="a provider's by key"),
        pytest.param("user", "tested", "tested", id="the evaluated model too"),
    ],
)  # fmt: skip
def test_the_models_that_builders_name_are_found(project, helper, model, key):
    resolved = resolve(project(helper, model) / "run.yaml")
    builder = solver_of(resolved).message_builders[1].message_builders[0].message_builders[0]
    assert builder.model_key == key
    assert {"tested", key} <= resolved.models.keys()


def test_every_field_may_come_from_config(project):
    builders = solver_of(resolve(project() / "run.yaml")).message_builders
    assert builders[0].trace_column == "trace"
    assert (builders[1].max_iterations, builders[1].on_max_iterations) == (3, "continue")
    speaking = builders[1].message_builders[0].message_builders[0]
    assert (speaking.output_role, speaking.include_conversation) == ("user", False)
    assert (speaking.terminate_if.includes, speaking.terminate_if.keep_iteration) == (
        "<done>", False,
    )  # fmt: skip
    said = speaking.extra_input_messages[0]
    assert (said.role, said.content) == ("user", "<done>")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param(
            "default_value: 3", "default_value: -1",
            r"task.yaml:19: definition.solver.message_builders.1.max_iterations: -1",
            id="a number below zero",
        ),
        pytest.param("default_value: user", "default_value: robot", "'user'", id="no role"),
        pytest.param("default_value: continue", "default_value: stop", "'error'", id="no end"),
        pytest.param("model_key: MODEL", "model_key: usr", "did you mean 'user'", id="no model"),
        pytest.param(
            "model_key: MODEL", "model_key: << config.helpr >>", "did you mean 'helper'",
            id="no parameter",
        ),
        pytest.param("type: generate}", "type: gnerate}", "did you mean 'generate'", id="no kind"),
        pytest.param(
            "          - type: loop\n            message_builders:",
            "          - {type: load_trace, trace_column: t}\n"
            "          - type: loop\n            message_builders:",
            "load_trace", id="load_trace in a loop",
        ),
        pytest.param("content: \"<< config", "content: \"{{ << config", "template", id="template"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(project, old, new, problem):
    assert old in TASK
    file = project(task=TASK.replace(old, new)) / "run.yaml"
    with pytest.raises(DefinitionErrors, match=problem) as error:
        resolve(file)
    assert "task.yaml:" in str(error.value)


def test_a_task_alone_tells_of_parameters_that_are_not_declared(project):
    file = project(model="<< config.helpr >>") / "task.yaml"
    (problem,) = undefined_names(load(file))
    assert "'helpr' is not defined" in str(problem)


def test_what_is_resolved_resolves_again(project, write_files):
    resolved = resolve(project("openai/gpt-4.1-nano") / "run.yaml")
    folder = write_files({"again/pyproject.toml": "", "again/run.yaml": resolved.to_yaml()})
    again = resolve(folder / "again/run.yaml", Overrides(allow_outside=True))
    assert replace(again, warnings=resolved.warnings) == resolved


def test_a_helpers_settings_are_part_of_what_is_run(project):
    before, after = (
        resolve(project(model=model) / "run.yaml") for model in ("openai/gpt-5", "openai/gpt-4.1")
    )
    assert fingerprint(before.specs[0], before.models) != fingerprint(after.specs[0], after.models)


def test_a_conversation_without_generate_needs_no_evaluated_model(project):
    folder = project(task=TASK.replace(LAST, ""))
    run = folder / "run.yaml"
    run.write_text(run.read_text().replace("model_key: tested, ", ""))
    assert resolve(run).specs[0].model_key is None
    named = resolve(run, Overrides(model="tested"))
    assert named.specs[0].model_key is None
    assert {"user"} <= named.models.keys()


def test_a_conversation_with_generate_does(project):
    run = project() / "run.yaml"
    run.write_text(run.read_text().replace("model_key: tested, ", ""))
    with pytest.raises(DefinitionErrors, match="evaluates a model, and none is named"):
        resolve(run)
    assert resolve(run, Overrides(model="tested")).specs[0].model_key == "tested"

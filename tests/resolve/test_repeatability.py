"""Specifications that run others again."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.resolve.resolved import NO_OVERRIDES
from tests.resolve.project import RUN, at

AGAIN = """\
    - type: repeatability
      key: again
      repeatability_config: {num_runs: 3}
"""


def with_again(project, more: str) -> str:
    """A run file whose evaluation also runs specifications again."""
    listed = "".join(f"      {line}\n" for line in more.splitlines())
    file = project / "run.yaml"
    file.write_text(RUN.replace("config:\n  model", f"{AGAIN}{listed}config:\n  model"))
    return file


def problems_of(file) -> str:
    with pytest.raises(DefinitionErrors) as caught:
        resolve(file)
    (problem,) = caught.value.problems
    return str(problem)


@pytest.mark.parametrize(("flags", "n_samples"), [(NO_OVERRIDES, 5), (Overrides(num_samples=1), 1)])
def test_one_specification_is_run_again_as_it_is(project, flags, n_samples):
    file = with_again(
        project, "inputs: [{evaluation_key: nightly, task_specification_key: trivia}]"
    )
    trivia, unique, again = resolve(file, flags).specs
    assert [spec.num_runs for spec in (trivia, unique, again)] == [1, 1, 3]
    assert again.key == "again"
    assert (again.task, again.config, again.model_key) == (
        trivia.task, trivia.config, trivia.model_key,
    )  # fmt: skip
    assert (again.num_samples, again.subsampling) == (n_samples, "random")


def test_all_of_an_evaluation_are_run_again_on_samples_of_its_own(project):
    more = "num_samples: << config.amount >>\nsubsampling: head\n"
    file = with_again(project, f"{more}inputs: [{{evaluation_key: nightly}}]")
    again = resolve(file).specs[2:]
    assert [spec.key for spec in again] == ["again_trivia", "again_unique-targets"]
    assert {(spec.num_runs, spec.num_samples, spec.subsampling) for spec in again} == {
        (3, 5, "head")
    }


def test_a_setting_of_a_task_reaches_it_when_it_is_run_again(project):
    file = with_again(project, "inputs: [{evaluation_key: nightly}]")
    specs = resolve(file, Overrides(settings={"shots": "1"})).specs
    assert [spec.config.get("shots") for spec in specs] == [1, None, 1, None]


def test_another_evaluation_of_the_project_has_its_defaults(project):
    (project / "old.yaml").write_text(at("evaluation.yaml"))
    (again,) = resolve(with_again(project, "inputs: [{evaluation_key: old}]")).specs[2:]
    assert (again.key, again.num_runs) == ("again", 3)
    assert again.config == {"field": "target", "dataset_key": "qa"}


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        pytest.param(
            "inputs: [{evaluation_key: nightli}]",
            "inputs.0.evaluation_key: there is no evaluation 'nightli'",
            id="no such evaluation",
        ),
        pytest.param(
            "inputs: [{evaluation_key: nightly, task_specification_key: trivial}]",
            "no task specification 'trivial'; did you mean 'trivia'?",
            id="no such specification",
        ),
        pytest.param("inputs: []", "inputs", id="nothing to run"),
        pytest.param("model_key: lab\ninputs: [{evaluation_key: old}]", "model_key", id="no key"),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(project, more, problem):
    said = problems_of(with_again(project, more))
    assert "run.yaml:2" in said
    assert problem in said


def test_a_misspelt_type_is_guessed(project):
    file = with_again(project, "inputs: [{evaluation_key: nightly}]")
    file.write_text(file.read_text().replace("type: repeatability", "type: repeatable"))
    assert "unknown type 'repeatable'; did you mean 'repeatability'?" in problems_of(file)


def test_trials_and_repeated_runs_do_not_mix_here_either(project):
    file = with_again(project, "inputs: [{evaluation_key: nightly}]")
    file.write_text(
        file.read_text().replace(
            "task_key: trivia", "task_key: trivia\n      trials: {num_trials: 2}"
        )
    )
    assert "repeatability can't be combined with trials" in problems_of(file)

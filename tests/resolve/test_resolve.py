"""Files and flags become what is meant."""

from pathlib import Path

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.resolve.resolved import NO_OVERRIDES
from tests.resolve.project import MODEL, RUN, TASK, at


def problems_of(file: Path, overrides: Overrides = NO_OVERRIDES) -> list[str]:
    with pytest.raises(DefinitionErrors) as caught:
        resolve(file, overrides)
    return [str(problem) for problem in caught.value.problems]


def test_a_run_file_finds_what_it_names_in_the_project(project):
    resolved = resolve(project / "run.yaml")
    assert resolved.key == "nightly"
    assert [spec.key for spec in resolved.specs] == ["trivia", "unique-targets"]
    trivia, unique = resolved.specs
    assert trivia.model_key == "lab"
    assert trivia.num_samples == 5
    assert trivia.subsampling == "random"
    assert trivia.config == {"style": "short", "shots": 2}
    assert trivia.display_name == "Trivia (Lab model)"
    prompt = trivia.task.definition.solver.input_builder.input_messages[0].content
    assert prompt == "Answer briefly, 2 shots. {{ sample.question }}"
    assert trivia.datasets["dataset"].source.file_path == str(project / "datasets/qa.jsonl")
    assert unique.model_key is None
    assert unique.num_samples == 10
    assert unique.config == {"field": "target", "dataset_key": "qa"}
    assert list(unique.datasets) == ["dataset"]
    assert list(resolved.models) == ["lab"]
    assert resolved.cache_policy == "update"
    assert not resolved.warnings


def test_scorers_and_metrics_have_keys(project):
    trivia, unique = resolve(project / "run.yaml").specs
    assert [scorer.key for scorer in trivia.task.definition.scorers] == [
        "string_equals",
        "string_equals_2",
    ]
    assert [metric.key for metric in trivia.task.definition.scorers[0].metrics] == [
        "mean_is_correct"
    ]
    assert [metric.key for metric in unique.task.definition.scorers[0].metrics]


def test_the_command_line_wins(project):
    overrides = Overrides(
        model="openai/gpt-4.1-nano",
        settings={"amount": "3", "shots": "1"},
        num_samples=2,
        subsampling="head",
        cache_policy="no-cache",
    )
    resolved = resolve(project / "run.yaml", overrides)
    trivia, unique = resolved.specs
    assert trivia.model_key == "openai$gpt-4-1-nano"
    assert unique.model_key is None
    assert (trivia.num_samples, trivia.subsampling) == (2, "head")
    assert trivia.config["shots"] == 1
    assert resolved.cache_policy == "no-cache"
    model = resolved.models["openai$gpt-4-1-nano"]
    assert model.config.provider_id == "openai"
    assert model.config.model_key == "gpt-4.1-nano"


@pytest.mark.parametrize(
    ("name", "key", "sent"),
    [
        pytest.param("openai/gpt-4.1", "openai$gpt-4-1", "gpt-4.1", id="provider and model"),
        pytest.param(
            "together/meta-llama/Llama-3", "together$meta-llama-llama-3", "meta-llama/Llama-3",
            id="a model with a slash",
        ),
        pytest.param("openai$gpt-5", "openai$gpt-5", "gpt-5", id="an undeclared provider key"),
        pytest.param(
            "openai$gpt-4-1-nano", "openai$gpt-4-1-nano", "gpt-4.1-nano",
            id="a declared provider key is sent as the provider names it",
        ),
    ],
)  # fmt: skip
def test_provider_models(project, name, key, sent):
    resolved = resolve(project / "run.yaml", Overrides(model=name))
    assert resolved.specs[0].model_key == key
    assert resolved.models[key].config.model_key == sent


def test_a_model_file_may_be_given(project, write_files):
    other = MODEL.replace("key: lab", "key: other")
    write_files({"elsewhere/other.yaml": other})
    path = str(project / "elsewhere/other.yaml")
    assert resolve(project / "run.yaml", Overrides(model=path)).specs[0].model_key == "other"


@pytest.mark.parametrize("dataset", [None, "qa", "datasets/qa.yaml", "datasets/qa.jsonl"])
def test_a_task_file_is_bound_by_the_command_line(project, monkeypatch, dataset):
    monkeypatch.chdir(project)
    overrides = Overrides(model="lab", dataset=dataset, settings={"style": "long"}, num_samples=1)
    resolved = resolve(Path("tasks/trivia.yaml"), overrides)
    (spec,) = resolved.specs
    assert (resolved.key, spec.key, spec.model_key) == ("trivia", "trivia", "lab")
    assert spec.datasets["dataset"].source.file_path == str(project / "datasets/qa.jsonl")
    assert spec.config == {"style": "long", "shots": 2}
    assert spec.num_samples == 1


def test_a_dataset_task_takes_its_dataset_from_the_command_line(project):
    overrides = Overrides(
        dataset=str(project / "datasets/qa.jsonl"), settings={"field": "question"}
    )
    (spec,) = resolve(project / "tasks/uniqueness.yaml", overrides).specs
    assert spec.config == {"field": "question", "dataset_key": "qa"}
    assert spec.model_key is None
    assert 'field_name = "question"' in spec.task.definition.scorers[0].compute_scores_snippet


def test_an_evaluation_file_runs_with_its_defaults(project, write_files):
    write_files({"evaluation.yaml": at("evaluation.yaml")})
    resolved = resolve(project / "evaluation.yaml")
    assert resolved.specs[0].config == {"field": "target", "dataset_key": "qa"}
    assert resolved.specs[0].num_samples == 10
    assert resolved.specs[0].subsampling == "random"
    assert resolved.cache_policy == "no-cache"
    assert len(resolved.warnings) == 4


def test_several_datasets_are_known_by_their_parameters(project, write_files):
    write_files({"tasks/pairs.yaml": at("pairs.yaml"), "tasks/pairs.py": at("pairs.py")})
    (spec,) = resolve(project / "tasks/pairs.yaml", Overrides(settings={"left": "qa"})).specs
    assert {name: dataset.key for name, dataset in spec.datasets.items()} == {
        "left": "qa",
        "qa": "qa",
    }
    scorer = spec.task.definition.scorers[0]
    assert 'sample["left"]' in scorer.compute_scores_snippet
    assert spec.task.definition.dataset.keys == ("qa", "qa")


def test_every_problem_of_every_task_is_told_at_once(project, write_files):
    write_files(
        {
            "run.yaml": RUN.replace("field: target", "feild: target")
            .replace("dataset_key: qa", "dataset_key: qqa")
            .replace("style: << config.style >>", "style: curt")
            .replace("model_key: << config.model >>", "model_key: lib")
        }
    )
    found = problems_of(project / "run.yaml")
    text = "\n".join(found)
    assert "task_config.style: config parameter 'style': 'curt' is not one of" in text
    assert "task_config.feild: unknown config parameter 'feild'; did you mean 'field'?" in text
    assert "there is no dataset 'qqa'; did you mean 'qa'?" in text
    assert "config parameter 'field' has no value" in text
    assert all("run.yaml:" in problem for problem in found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(
            ("task_key: trivia", "task_key: trivea"),
            "task_key: there is no task 'trivea'; did you mean 'trivia'?",
            id="an unknown task",
        ),
        pytest.param(
            ("model_key: << config.model >>", "model_key: lib"),
            "model_key: there is no model 'lib'; did you mean 'lab'?",
            id="an unknown model",
        ),
        pytest.param(
            ("model_key: << config.model >>", "model_key: opnai/x"),
            "unknown provider 'opnai'",
            id="an unknown provider",
        ),
        pytest.param(
            ("model_key: << config.model >>", ""),
            "evaluates a model, and none is named; add 'model_key', or give one with -m",
            id="no model",
        ),
        pytest.param(
            ("<< config.amount >>", "<< config.amuont >>"),
            "config parameter 'amuont' is not defined; did you mean 'amount'?",
            id="an undefined name",
        ),
        pytest.param(("amount: 5", "amount: 0"), "amount", id="out of range"),
        pytest.param(
            ("key: unique-targets", "key: trivia"),
            "two task specifications have the key 'trivia'",
            id="equal keys",
        ),
    ],
)
def test_what_is_wrong_is_placed(project, write_files, change, words):
    assert change[0] in RUN
    write_files({"run.yaml": RUN.replace(*change)})
    found = problems_of(project / "run.yaml")
    assert len(found) == 1
    assert words in found[0]
    assert "run.yaml:" in found[0]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        pytest.param(Overrides(settings={"shtos": "1"}), "--set shtos: there is no", id="typo"),
        pytest.param(
            Overrides(settings={"amount": "many"}),
            "--set amount: config parameter 'amount': 'many' is not a whole number",
            id="a wrong type for the evaluation",
        ),
        pytest.param(
            Overrides(settings={"shots": "9"}),
            "--set shots: config parameter 'shots': 9 is above",
            id="a wrong value for a task",
        ),
        pytest.param(Overrides(model="nope"), "--model: there is no model 'nope'", id="model"),
        pytest.param(Overrides(dataset="qa"), "--dataset: --dataset binds a task", id="dataset"),
        pytest.param(Overrides(num_samples=0), "--limit: 0 is less than 1", id="no samples"),
        pytest.param(Overrides(num_trials=0), "--trials: 0 is less than 1", id="no trials"),
    ],
)
def test_wrong_flags(project, overrides, words):
    found = problems_of(project / "run.yaml", overrides)
    assert len(found) == 1
    assert words in found[0]


def test_a_problem_in_a_task_points_into_the_tasks_file(project, write_files):
    write_files({"tasks/trivia.yaml": TASK.replace("<< config.shots >>", "<< config.shot >>")})
    found = problems_of(project / "run.yaml")
    assert len(found) == 1
    assert "trivia.yaml:" in found[0]
    assert "'shot' is not defined; did you mean 'shots'?" in found[0]


def test_files_that_run_nothing_are_refused(project, write_files):
    assert "defines a dataset, which can't be run" in problems_of(project / "datasets/qa.yaml")[0]
    write_files({"empty.yaml": "config: {a: 1}\n"})
    assert "names no evaluation" in problems_of(project / "empty.yaml")[0]


def test_a_wrong_config_value_hides_no_other_problem(project, write_files):
    write_files({"run.yaml": RUN.replace("amount: 5", "amount: 0").replace("field:", "feild:")})
    found = problems_of(project / "run.yaml", Overrides(settings={"shots": "1"}))
    assert [problem.split(": ", 1)[1] for problem in found] == [
        "config.amount: config parameter 'amount': 0 is below the smallest value allowed, 1",
        "evaluation.task_specifications.1.task_config.feild: unknown config parameter 'feild'; "
        "did you mean 'field'?",
        "evaluation.task_specifications.1.task_config: config parameter 'field' has no value; "
        "set it in the file, or with --set 'field=…'",
    ]


def test_undeclared_secrets_and_adapters_are_told(project, write_files):
    # a name that nothing declared resembles may be a Prefect Secret block: the run looks it up
    model = MODEL.replace("$LAB_API_KEY", "<< secrets.lob >>").replace(
        "latticeflow$openai_chat_completion", "latticeflow$openai_chat_completions"
    )
    model += "secrets: {lab: $LAB_API_KEY}\n"
    write_files({"models/lab.yaml": model})
    found = problems_of(project / "run.yaml")
    assert len(found) == 2
    assert "lab.yaml:7: config.api_key: secret 'lob' is not declared" in found[0]
    assert "did you mean 'latticeflow$openai_chat_completion'?" in found[1]


def test_a_broken_file_of_the_project_is_told_beside_other_problems(project, write_files):
    write_files({"tasks/trivia.yaml": TASK.replace("role: user", "rule: user")})
    write_files({"run.yaml": RUN.replace("field: target", "feild: target")})
    text = "\n".join(problems_of(project / "run.yaml"))
    assert "trivia.yaml:" in text
    assert "unknown key 'rule'" in text
    assert "unknown config parameter 'feild'" in text


ADAPTER = """\
key: mine
display_name: Mine
process_input: {language: jinja, source_code: "{{ input | tojson }}"}
process_output: {language: jinja, source_code: "{{ body }}"}
"""


def test_a_declared_adapter_comes_along(project, write_files):
    write_files(
        {
            "adapters/mine.yaml": ADAPTER,
            "models/lab.yaml": MODEL.replace("latticeflow$openai_chat_completion", "mine"),
        }
    )
    assert list(resolve(project / "run.yaml").adapters) == ["mine"]


def test_a_model_file_on_the_command_line_wins_over_a_declared_model(project, write_files):
    write_files(
        {
            "run.yaml": RUN.replace("models:\n", "models:\n  - $ref: models/lab.yaml\n"),
            "copy/lab.yaml": MODEL.replace("lab-1", "lab-2"),
        }
    )
    for file, sent in (("models/lab.yaml", "lab-1"), ("copy/lab.yaml", "lab-2")):
        resolved = resolve(project / "run.yaml", Overrides(model=str(project / file)))
        assert resolved.models["lab"].config.model_key == sent


def test_equal_keys_in_a_run_file_are_refused(project, write_files):
    twice = "models:\n  - $ref: models/lab.yaml\n  - $ref: models/lab.yaml\n"
    write_files({"run.yaml": RUN.replace("models:\n", twice)})
    assert "two entries of models have the key 'lab'" in problems_of(project / "run.yaml")[0]

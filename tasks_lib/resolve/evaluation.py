"""From a file and the command line to a resolved evaluation."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks_lib.config import (
    did_you_mean,
    effective_values,
    parse_setting,
    placeholder_names,
    substitute,
    substituted_values,
    whole_placeholder,
)
from tasks_lib.definitions.evaluation import Evaluation, RunConfig, TaskSpecification
from tasks_lib.definitions.parameters import ParameterSpec
from tasks_lib.errors import DefinitionError
from tasks_lib.loading import load, load_environment
from tasks_lib.resolve.earlier_results import absolute_results
from tasks_lib.resolve.library import Library
from tasks_lib.resolve.parts import Part, Problems
from tasks_lib.resolve.project import Project
from tasks_lib.resolve.repeatability import with_repeated
from tasks_lib.resolve.resolved import NO_OVERRIDES, Overrides, ResolvedEvaluation
from tasks_lib.resolve.specs import Context, Sampling, resolve_spec, with_settings
from tasks_lib.resolve.task_file import bound_task
from tasks_lib.resolve.tasks import task_header

_DEBUG_SAMPLES = 10  # what the older `mode: debug` of an evaluation meant


def resolve(file: Path, overrides: Overrides = NO_OVERRIDES) -> ResolvedEvaluation:
    """Return what a run file, an evaluation file or a task file means, ready to be planned.

    Keys are looked up in the file, then among the YAML files of its project. Nothing is
    called, and no secret is revealed.

    Raises:
        DefinitionErrors: everything that is wrong with the files and the command line.
    """
    load_environment(overrides.env_file)
    document = load(file, anywhere=overrides.allow_outside)
    root = Part(document.tree, document)
    problems = Problems()
    library = Library(root, Project(document.file), problems, overrides.allow_outside)
    model = _evaluated_model(overrides.model, library, problems)
    context = Context(
        library,
        problems,
        model,
        settings=frozenset(overrides.settings),
        forced=Sampling(overrides.num_samples, overrides.subsampling, overrides.num_trials),
        fallback=Sampling(),
    )
    _check_flags(overrides, problems)
    match document.kind:
        case "run":
            resolved = _run(root, overrides, context)
        case "evaluation":
            resolved = _evaluation(root, root, overrides, context)
        case "task":
            resolved = _task(root, overrides, context)
        case other:
            what = other.replace("-", " ")
            problem = f"the file defines a {what}, which can't be run"
            problems.add(root.error((), problem, "give a run file, an evaluation or a task"))
            resolved = None
    problems.raise_any()
    assert resolved is not None, "what is missing must have been reported"
    warnings = (*document.warnings, *library.warnings)
    return replace(resolved, warnings=tuple(dict.fromkeys(warnings)))


def _evaluated_model(name: str | None, library: Library, problems: Problems) -> str | None:
    if name is None:
        return None
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml", ".json"):
        name = None
        with problems.noted():
            name = library.declare_file("model", path)
    return library.model(name, DefinitionError("", "--model")) if name else None


def _check_flags(overrides: Overrides, problems: Problems) -> None:
    if overrides.num_samples is not None and overrides.num_samples < 1:
        wrong = f"{overrides.num_samples} is less than 1"
        problems.add(DefinitionError(wrong, "--limit", "leave it out to use all samples"))
    if overrides.num_trials is not None and overrides.num_trials < 1:
        wrong = f"{overrides.num_trials} is less than 1"
        problems.add(DefinitionError(wrong, "--trials", "leave it out for the task's own number"))


def _run(root: Part, overrides: Overrides, context: Context) -> ResolvedEvaluation | None:
    if not isinstance(root.tree.get("evaluation"), Mapping):
        fix = "add 'evaluation:', or give the task's own file"
        context.problems.add(root.error((), "the run file names no evaluation to run", fix))
        return None
    return _evaluation(root, root.child("evaluation"), overrides, context)


def _task(task: Part, overrides: Overrides, context: Context) -> ResolvedEvaluation | None:
    header = task_header(task, context.problems)
    if header is None:
        return None
    parameters = {parameter.key: parameter for parameter in header.config_spec}
    for name in overrides.settings.keys() - parameters.keys():
        context.problems.add(_unknown_setting(name, parameters))
    settings = {name: overrides.settings[name] for name in parameters if name in overrides.settings}
    config = _parsed(settings, parameters, context.problems)
    part, spec = bound_task(task, header, overrides.dataset, config, context)
    resolved = resolve_spec(part, spec, context)
    return ResolvedEvaluation(
        key=header.key,
        display_name=header.display_name,
        specs=(resolved,) if resolved is not None else (),
        models=context.library.models,
        adapters=context.library.adapters,
        secrets={},
        cache_policy=overrides.cache_policy or "reuse",
        source_file=task.document.file,
    )


def _evaluation(
    root: Part, part: Part, overrides: Overrides, context: Context
) -> ResolvedEvaluation | None:
    problems = context.problems
    if overrides.dataset is not None:
        fix = "set the config parameter that names it, with --set"
        problems.add(DefinitionError("--dataset binds a task file only", "--dataset", fix))
    head = {key: value for key, value in part.tree.items() if key != "task_specifications"}
    evaluation = part.with_tree(head).typed(Evaluation, problems)
    is_run = root is not part
    run_config = (
        root.child("run_config").typed(RunConfig, problems)
        if is_run and root.tree.get("run_config") is not None
        else RunConfig()
    )
    if evaluation is None or run_config is None:
        return None
    context = replace(
        context,
        fallback=Sampling(
            run_config.num_samples,
            run_config.subsampling,
            run_config.trials_config.num_trials if run_config.trials_config else None,
        ).over(
            Sampling(
                evaluation.num_samples or (_DEBUG_SAMPLES if evaluation.mode == "debug" else None),
                evaluation.subsampling,
            )
        ),
    )
    entries = part.entries("task_specifications")
    if not entries:
        fix = "list tasks under 'task_specifications'"
        problems.add(part.error((), "the evaluation has no task specifications", fix))
    config = root.tree.get("config") if is_run else None
    entries = _configured(entries, evaluation, root, config or {}, overrides, context)
    entries = with_repeated(entries, evaluation, context)
    specs = []
    typed = [(entry, entry.typed(TaskSpecification, problems)) for entry in entries]
    _refuse_equal_keys(typed, problems)
    for entry, spec in typed:
        resolved = resolve_spec(entry, spec, context) if spec is not None else None
        if resolved is not None:
            specs.append(resolved)
    return ResolvedEvaluation(
        key=evaluation.key,
        display_name=evaluation.display_name,
        specs=tuple(specs),
        models=context.library.models,
        adapters=context.library.adapters,
        secrets=(root.tree.get("secrets") if is_run else None) or {},
        cache_policy=overrides.cache_policy
        or run_config.cache_policy
        or evaluation.cache_policy
        or "reuse",
        source_file=root.document.file,
    )


def _configured(
    entries: list[Part],
    evaluation: Evaluation,
    root: Part,
    config: Mapping[str, Any],
    overrides: Overrides,
    context: Context,
) -> list[Part]:
    """Return the specifications with the evaluation's config and the settings put in."""
    problems = context.problems
    by_key = {parameter.key: parameter for parameter in evaluation.config_spec}
    own = {name: text for name, text in overrides.settings.items() if name in by_key}
    rest = {name: text for name, text in overrides.settings.items() if name not in by_key}
    supplied = {**config, **_parsed(own, by_key, problems)}
    if context.model:
        for entry in entries:
            name = whole_placeholder(entry.text("model_key"))
            if name in by_key:
                supplied.setdefault(name, context.model)
    tested = {"model_under_test": context.model} if context.model else None
    report = with_settings(root.reporter(problems, "config"), own, problems)
    values = effective_values(evaluation.config_spec, supplied, report, tested)

    def file(parameter: str, name: str) -> Path:
        if parameter in own:
            return Path(name).expanduser().resolve()
        return root.file(name, root.folder("config", parameter), "config", parameter)

    values = absolute_results(evaluation.config_spec, values, file, problems)
    given = substituted_values(evaluation.config_spec, values)
    readable = {**dict.fromkeys(by_key), **given}  # what is wrong with a value is said above
    filled = []
    for entry in _with_task_settings(entries, rest, by_key, context):
        before = len(problems)
        tree = substitute(entry.tree, readable, entry.reporter(problems))
        if len(problems) == before and placeholder_names(entry.tree) <= given.keys():
            filled.append(entry.with_tree(tree))
    return filled


def _with_task_settings(
    entries: list[Part],
    settings: Mapping[str, str],
    known: Mapping[str, ParameterSpec],
    context: Context,
) -> list[Part]:
    """Give settings that are no parameter of the evaluation to the tasks that have it."""
    if not settings:
        return entries
    names, used, filled = set(known), set[str](), []
    for entry in entries:
        parameters = _task_parameters(entry, context)
        names.update(parameters)
        own = {name: text for name, text in settings.items() if name in parameters}
        used.update(own)
        if own:
            config = dict(entry.tree.get("task_config") or {})
            config.update(_parsed(own, parameters, context.problems))
            entry = entry.with_tree({**entry.tree, "task_config": config})
        filled.append(entry)
    for name in settings.keys() - used:
        context.problems.add(_unknown_setting(name, names))
    return filled


def _unknown_setting(name: str, known: Collection[str]) -> DefinitionError:
    fix = did_you_mean(name, known) or f"known: {', '.join(sorted(known)) or 'none'}"
    return DefinitionError(f"there is no config parameter '{name}'", f"--set {name}", fix)


def _task_parameters(entry: Part, context: Context) -> dict[str, ParameterSpec]:
    key = entry.text("task_key")
    part = context.library.part("task", key, entry.error(("task_key",), "")) if key else None
    header = task_header(part, context.problems) if part is not None else None
    return {parameter.key: parameter for parameter in header.config_spec} if header else {}


def _parsed(
    settings: Mapping[str, str], parameters: Mapping[str, ParameterSpec], problems: Problems
) -> dict[str, Any]:
    values = {}
    for name, text in settings.items():
        try:
            values[name] = parse_setting(parameters[name], text)
        except ValueError as error:
            problems.add(DefinitionError(str(error), f"--set {name}"))
    return values


def _refuse_equal_keys(
    typed: list[tuple[Part, TaskSpecification | None]], problems: Problems
) -> None:
    seen: set[str] = set()
    for entry, spec in typed:
        if spec is not None and spec.spec_key in seen:
            problem = f"two task specifications have the key '{spec.spec_key}'"
            problems.add(entry.error((), problem, "give one a 'key' of its own"))
        elif spec is not None:
            seen.add(spec.spec_key)

"""Specifications that run others again, to see what their results vary."""

from collections.abc import Iterator

from tasks_lib.config import did_you_mean, effective_values, substitute, substituted_values
from tasks_lib.definitions.evaluation import Evaluation, RepeatabilitySpecification
from tasks_lib.resolve.parts import Part
from tasks_lib.resolve.specs import Context

_OWN = ("num_samples", "subsampling")
"""What a specification may say of those it runs again."""


def with_repeated(entries: list[Part], evaluation: Evaluation, context: Context) -> list[Part]:
    """Return specifications; each that runs others again is replaced by those, to be repeated.

    Args:
        entries: the evaluation's specifications, its config put in.
        evaluation: the evaluation.
        context: what surrounds it.
    """
    standard = [entry for entry in entries if not _repeats(entry)]
    expanded: list[Part] = []
    for entry in entries:
        if not _repeats(entry):
            expanded.append(entry)
            continue
        spec = entry.typed(RepeatabilitySpecification, context.problems)
        if spec is not None:
            found = list(_inputs(entry, spec, {evaluation.key: standard}, context))
            expanded += [_again(part, entry, spec, alone=len(found) == 1) for part in found]
    return expanded


def _repeats(entry: Part) -> bool:
    return entry.text("type") == "repeatability"


def _inputs(
    entry: Part,
    spec: RepeatabilitySpecification,
    known: dict[str, list[Part]],
    context: Context,
) -> Iterator[Part]:
    """Yield the specifications that are run again; reports what there is not."""
    for i, wanted in enumerate(spec.inputs):
        if wanted.evaluation_key not in known:
            known[wanted.evaluation_key] = _of_another(entry, i, wanted.evaluation_key, context)
        parts = {_key(part): part for part in known[wanted.evaluation_key]}
        key = wanted.task_specification_key
        if key is None:
            yield from parts.values()
        elif key in parts:
            yield parts[key]
        elif parts:
            problem = f"evaluation '{wanted.evaluation_key}' has no task specification '{key}'"
            fix = did_you_mean(key, parts) or f"it has: {', '.join(parts)}"
            path = ("inputs", i, "task_specification_key")
            context.problems.add(entry.error(path, problem, fix))


def _of_another(entry: Part, i: int, key: str, context: Context) -> list[Part]:
    """Return the specifications of another evaluation, its parameters at their defaults."""
    asking = entry.error(("inputs", i, "evaluation_key"), "")
    part = context.library.part("evaluation", key, asking)
    if part is None:
        return []
    problems = context.problems
    head = {name: value for name, value in part.tree.items() if name != "task_specifications"}
    evaluation = part.with_tree(head).typed(Evaluation, problems)
    if evaluation is None:
        return []
    before = len(problems)
    tested = {"model_under_test": context.model} if context.model else None
    report = part.reporter(problems, "config_spec")
    values = effective_values(evaluation.config_spec, {}, report, tested)
    if len(problems) > before:
        return []
    given = substituted_values(evaluation.config_spec, values)
    return [
        other.with_tree(substitute(other.tree, given, other.reporter(problems)))
        for other in part.entries("task_specifications")
        if not _repeats(other)
    ]


def _key(part: Part) -> str:
    return part.text("key") or part.text("task_key") or ""


def _again(part: Part, entry: Part, spec: RepeatabilitySpecification, *, alone: bool) -> Part:
    """Return a specification as it is run again."""
    own = {name: entry.tree[name] for name in _OWN if entry.tree.get(name) is not None}
    tree = {**part.tree, **own, "repeatability": entry.tree["repeatability_config"]}
    tree["key"] = spec.key if alone else f"{spec.key}_{_key(part)}"
    tree.pop("task_result_log_path", None)
    return part.with_tree(tree)

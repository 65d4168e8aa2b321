"""Placeholders that name no parameter, found before any value is known."""

from collections.abc import Iterator

from tasks_lib.config import substitute
from tasks_lib.errors import DefinitionError
from tasks_lib.loading import Document
from tasks_lib.resolve.parts import Part, Problems
from tasks_lib.resolve.tasks import IMPLICIT_DATASET, takes_dataset_from_config


def undefined_names(document: Document) -> list[DefinitionError]:
    """Return a problem for each `<< config.x >>` whose `x` is not declared where it stands.

    Looks at every task and at the evaluation that the document holds, used or not.
    """
    problems = Problems()
    for part, scope in _scopes(Part(document.tree, document)):
        declared = {entry.text("key"): None for entry in part.entries("config_spec")}
        if takes_dataset_from_config(part.tree.get("definition")):
            declared[IMPLICIT_DATASET] = None
        names = {key: None for key in declared if key is not None}
        substitute(part.tree.get(scope), names, part.reporter(problems, scope))
    return problems.found()


def _scopes(root: Part) -> Iterator[tuple[Part, str]]:
    """Yield each entity with parameters and the key under which it may use them."""
    match root.document.kind:
        case "task":
            yield root, "definition"
        case "evaluation":
            yield root, "task_specifications"
        case "run":
            for task in root.entries("tasks"):
                yield task, "definition"
            if isinstance(root.tree.get("evaluation"), dict):
                yield root.child("evaluation"), "task_specifications"

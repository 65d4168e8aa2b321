"""The entities a run may name by key: found, loaded and typed when first named."""

import re
from pathlib import Path
from typing import Any

from tasks_lib.base import KeyPath
from tasks_lib.config import did_you_mean
from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.definitions.dataset import Dataset
from tasks_lib.definitions.keys import PROVIDERS, provider_key, split_provider_reference
from tasks_lib.definitions.model import Model
from tasks_lib.errors import DefinitionError
from tasks_lib.loading import load
from tasks_lib.loading.kinds import Kind
from tasks_lib.models.adapters import BUILT_IN
from tasks_lib.models.connections.provider import ProviderConnection
from tasks_lib.resolve.parts import Part, Problems
from tasks_lib.resolve.project import Project
from tasks_lib.secrets import secret_names

_LISTS: dict[Kind, str] = {
    "task": "tasks",
    "dataset": "datasets",
    "model": "models",
    "model-adapter": "model_adapters",
}

_DOT_LOST = re.compile(r"(?<=\d)-(?=\d(?:\D|$))")
"""Where a key may have lost a dot of the model's name, as `4-1` has of `4.1`."""


class Library:
    """Looks a key up in the run file, then among the files of the project.

    Args:
        run: the run file; of another file, the lists it lacks are empty.
        project: where to look further.
        problems: told of entities that are wrong.
        anywhere: whether files outside of the project may be named.

    Attributes:
        models: the models named so far, by key.
        adapters: the declared adapters these use, by key.
    """

    def __init__(
        self, run: Part, project: Project, problems: Problems, anywhere: bool = False
    ) -> None:
        self._project, self._problems, self._anywhere = project, problems, anywhere
        self._declared: dict[tuple[Kind, str], Part] = {}
        for kind, name in _LISTS.items():
            for entry in run.entries(name):
                self._declare(kind, entry)
        secrets = run.tree.get("secrets") if isinstance(run.tree, dict) else None
        self._secrets: dict[str, str] = secrets or {}
        self._datasets: dict[str, Dataset | None] = {}
        self._unusable: set[str] = set()
        self.models: dict[str, Model] = {}
        self.adapters: dict[str, ModelAdapter] = {}
        self._tolerated: list[str] = []
        self._guessed: dict[str, str] = {}

    @property
    def warnings(self) -> list[str]:
        """What was tolerated in the files loaded for a key, and which names were guessed."""
        return [*self._tolerated, *map(_guess_words, self._guessed, self._guessed.values())]

    def declare_file(self, kind: Kind, path: Path) -> str | None:
        """Make the entity of a file known, before all others of its key; return the key.

        None, with the reason noted, when the file defines something else.

        Raises:
            DefinitionError: the file can't be read.
        """
        part = self._load(path)
        key = part.text("key")
        if part.document.kind != kind or key is None:
            problem = f"'{path}' defines no {kind}, but a {part.document.kind}"
            self._problems.add(DefinitionError(problem, fix=f"give the file of a {kind}"))
            return None
        self._declared[kind, key] = part
        return key

    def declare_task(self, part: Part, key: str) -> None:
        """Make a task known, before all others of its key."""
        self._declared["task", key] = part

    def declare_dataset(self, dataset: Dataset) -> None:
        """Make a dataset known that no file defines."""
        self._datasets[dataset.key] = dataset

    def part(self, kind: Kind, key: str, asking: DefinitionError) -> Part | None:
        """Return the entity with this key as written; None, with `asking` noted, without one.

        Args:
            kind: of the entity.
            key: of the entity.
            asking: an error at the place that names the key; its problem and fix are made here.
        """
        known = self._declared.get((kind, key))
        if known is not None:
            return known
        path = self._project.find(kind, key)
        if path is None:
            self._problems.add(self._unknown(kind, key, asking))
            return None
        with self._problems.noted():
            part = self._declared[kind, key] = self._load(path)
            return part
        return None

    def dataset(self, key: str, asking: DefinitionError) -> Dataset | None:
        """Return the dataset with this key, its files' paths absolute."""
        if key not in self._datasets:
            part = self.part("dataset", key, asking)
            if part is None:
                return None
            placed = self._placed(part, "source")
            self._datasets[key] = placed.typed(Dataset, self._problems)
        return self._datasets[key]

    def model(self, name: str, asking: DefinitionError) -> str:
        """Return the key under which the model `name` means is now in `models`.

        Args:
            name: a key, `provider/model`, or `provider$key`.
            asking: an error at the place that names the model.
        """
        key = name
        if "/" in name:
            try:
                key = provider_key(name)
            except ValueError as error:
                self._problems.add(DefinitionError(str(error), asking.where))
                return name
        is_known = key in self.models and not ("/" in name and key in self._guessed)
        if not is_known and key not in self._unusable:
            self._guessed.pop(key, None)
            model = self._model(name, key, asking)
            if model is None:
                self._unusable.add(key)
            else:
                self.models[key] = model
                self._add_adapter(model, asking)
        return key

    def _model(self, name: str, key: str, asking: DefinitionError) -> Model | None:
        if ("model", key) in self._declared or self._project.find("model", key):
            part = self.part("model", key, asking)
            if part is None:
                return None
            if "$provider" not in part.tree:
                self._check_secrets(part, part.tree, ())
                return self._placed(part, "config").typed(Model, self._problems)
            name = part.tree["$provider"]
        if "/" not in name:
            provider, found, rest = name.partition("$")
            if not found or provider not in PROVIDERS or not rest:
                self._problems.add(self._unknown("model", name, asking))
                return None
            name = f"{provider}/{rest}"
            if _DOT_LOST.search(rest):
                self._guessed[key] = name
        return provider_model(name, key)

    def _placed(self, part: Part, section: str) -> Part:
        """Return a part whose `…_path` values in `section` are absolute.

        They start from the folder of the file they stand in, which a `$ref` may have brought
        in. Weights of a model may be anywhere: nothing of them is ever sent.
        """
        fields = part.tree.get(section) if isinstance(part.tree, dict) else None
        if not isinstance(fields, dict):
            return part
        absolute = {}
        for name, value in fields.items():
            if not (isinstance(name, str) and name.endswith("_path") and isinstance(value, str)):
                continue
            folder = part.folder(section, name)
            if value and name == "model_path":
                absolute[name] = str((folder / Path(value).expanduser()).resolve())
            elif value:
                with self._problems.noted():
                    absolute[name] = str(part.file(value, folder, section, name))
        return part.with_tree({**part.tree, section: {**fields, **absolute}})

    def _check_secrets(self, model: Part, tree: Any, path: KeyPath) -> None:
        if isinstance(tree, dict | list):
            for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
                self._check_secrets(model, value, (*path, key))
        elif isinstance(tree, str):
            declared = {*self._secrets, *(model.tree.get("secrets") or ())}
            for name in secret_names(tree):
                # what no file declares may be kept where only the run can look it up
                if name not in declared and (fix := did_you_mean(name, declared)):
                    problem = f"secret '{name}' is not declared"
                    self._problems.add(model.error(path, problem, fix))

    def _add_adapter(self, model: Model, asking: DefinitionError) -> None:
        key = model.config.adapter_key
        if key in BUILT_IN or key in self.adapters:
            return
        part = self.part("model-adapter", key, asking)
        adapter = part.typed(ModelAdapter, self._problems) if part is not None else None
        if adapter is not None:
            self.adapters[key] = adapter

    def _declare(self, kind: Kind, part: Part) -> None:
        key = part.text("key")
        provider = part.text("$provider")
        if provider is not None:
            key = provider_key(provider)
        if key is None:
            return
        if (kind, key) in self._declared:
            problem = f"two entries of {_LISTS[kind]} have the key '{key}'"
            self._problems.add(part.error(("key",), problem, "rename one"))
        self._declared.setdefault((kind, key), part)

    def _load(self, path: Path) -> Part:
        document = load(path, anywhere=self._anywhere)
        self._tolerated.extend(document.warnings)
        return Part(document.tree, document)

    def _unknown(self, kind: Kind, key: str, asking: DefinitionError) -> DefinitionError:
        known = {name for known, name in self._declared if known == kind}
        known.update(self._project.keys(kind))
        if kind == "model-adapter":
            known.update(BUILT_IN)
        what = kind.replace("-", " ")
        place = "add its file to the project"
        if kind in _LISTS:
            place = f"list it under '{_LISTS[kind]}' of the run file, or {place}"
        if kind == "model":
            place += ", or name a provider's as 'provider/model'"
        return DefinitionError(
            f"there is no {what} '{key}'", asking.where, did_you_mean(key, known) or place
        )


def _guess_words(key: str, name: str) -> str:
    provider, _, model = name.partition("/")
    dotted = _DOT_LOST.sub(".", model, count=1)
    return (
        f"model '{key}' is not declared, so {provider} is asked for '{model}'; if that is not "
        f"its name, declare it: models: [{{$provider: {provider}/{dotted}}}]"
    )


def provider_model(reference: str, key: str | None = None) -> Model:
    """Return the model that `provider/model` names, under its own key.

    Raises:
        ValueError: `reference` is no `provider/model` of a known provider.
    """
    provider, name = split_provider_reference(reference)
    connection = ProviderConnection.model_validate(
        {"connection_type": "provider_connection", "provider_id": provider, "model_key": name}
    )
    return Model(key=key or provider_key(reference), display_name=reference, config=connection)

"""Definition files, read and checked: everything that is wrong is reported at once.

- `loader`: `load` reads a file with all it refers to and checks it before substitution;
  `validate` makes typed objects of any part of it afterwards, with complaints that still point at
  what was written.
- `reader` makes one tree of files, by way of `yaml_text`, `files` and `environment`; a
  `document` knows where each of its values was written; `kinds` are those of files.
- `complaints` puts what pydantic finds into our words, with the `wording` of each error, the
  `known_keys` of a place, and what is `unsupported`; `deprecated_keys` are warned of.
- `schema`: JSON Schemas for editors.
"""

from tasks_lib.loading.document import Document, Place
from tasks_lib.loading.environment import load_environment
from tasks_lib.loading.kinds import Kind, kind_of
from tasks_lib.loading.loader import load, validate

__all__ = [
    "Document",
    "Kind",
    "Place",
    "kind_of",
    "load",
    "load_environment",
    "validate",
]

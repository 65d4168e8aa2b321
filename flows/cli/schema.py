"""`evalmill schema`: JSON Schemas for editors."""

from typing import Annotated

import typer

from flows.cli import options


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(help="Kind of file; all kinds are listed without it.", show_default=False),
    ] = None,
    json: options.Json = False,
) -> int:
    """Print the JSON Schema of a kind of definition file.

    Example: evalmill schema task > task.schema.json
    """
    from json import dumps

    from tasks_lib.errors import DefinitionError
    from tasks_lib.loading.kinds import MODELS
    from tasks_lib.loading.schema import json_schema

    if kind is None:
        print(dumps([*MODELS]) if json else "\n".join(MODELS))
        return 0
    known = next((name for name in MODELS if name == kind), None)
    if known is None:
        raise DefinitionError(
            f"there is no kind '{kind}'", fix=f"choose one of {', '.join(MODELS)}"
        )
    print(dumps(json_schema(known), indent=2, ensure_ascii=False))
    return 0

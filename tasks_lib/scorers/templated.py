"""What a scorer's templates give for a row; they see `sample` and `solver_output`."""

from typing import Any

from tasks_lib import jsontext
from tasks_lib.scorers.score import Row
from tasks_lib.templates import compile_template, literal


def rendered(template: str, name: str, row: Row) -> str:
    """Return the template's text.

    Args:
        template: its source.
        name: the scorer's field, for messages.
        row: what it is rendered for.

    Raises:
        SampleError: of class `template`.
    """
    return compile_template(template, name).render(
        sample=row.sample, solver_output=row.shown_output
    )


def evaluated(template: str, name: str, row: Row) -> Any:
    """Return the template's value; text that spells one, in JSON or as Python, is read.

    The arguments are those of `rendered`.

    Raises:
        SampleError: of class `template`.
    """
    value = compile_template(template, name).value(
        sample=row.sample, solver_output=row.shown_output
    )
    if not isinstance(value, str):
        return value
    try:
        return jsontext.loads(value)
    except ValueError:
        return literal(value.strip())

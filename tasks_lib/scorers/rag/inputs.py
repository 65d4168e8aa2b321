"""What claims are taken from: the sample's columns, the response, the retrieved texts."""

from typing import Any

from tasks_lib.errors import SampleError, bounded
from tasks_lib.jsontext import dumps
from tasks_lib.scorers.answers import one_conversation
from tasks_lib.scorers.score import Row


def column_value(row: Row, column: str, field: str) -> Any:
    """Return what a column holds.

    Args:
        row: the row.
        column: the column's name.
        field: the scorer's field that names it, for messages.

    Raises:
        SampleError: the sample has no such column, or it is null there.
    """
    value = row.sample.get(column)
    if value is None:
        lack = "is null" if column in row.sample else "is missing"
        known = bounded(", ".join(row.sample), 200)
        raise SampleError(
            "data", f"column '{column}' ({field}) {lack}", fix=f"the sample has: {known}"
        )
    return value


def column_text(row: Row, column: str, field: str) -> str:
    """Return the text a column holds; other values are written as JSON.

    Raises:
        SampleError: there is none, or nothing in it.
    """
    value = column_value(row, column, field)
    text = value if isinstance(value, str) else dumps(value)
    if not text.strip():
        raise SampleError("data", f"column '{column}' ({field}) is empty")
    return text


def response_text(row: Row) -> str:
    """Return the last assistant text; it may be empty.

    Raises:
        SampleError: there is no assistant message.
    """
    text = one_conversation(row.solver_output).trace.get_last_assistant_text()
    if text is None:
        raise SampleError("data", "the solver's output holds no assistant message")
    return text


def retrieved_texts(row: Row) -> list[str]:
    """Return the texts that the last model output refers to, in order.

    Raises:
        SampleError: the output says nothing of them.
    """
    outputs = one_conversation(row.solver_output).raw_outputs_json
    match outputs[-1] if outputs else None:
        case {"choices": [{"references": list() as references}, *_]}:
            return [_content(reference) for reference in references]
    raise SampleError(
        "data",
        "the model's output has no 'references'",
        fix="have the model (or its adapter) give each choice 'references: [{content: …}]', or "
        "leave out the scores that need retrieved texts with 'scores_to_compute'",
    )


def _content(reference: Any) -> str:
    content = reference.get("content") if isinstance(reference, dict) else reference
    if not isinstance(content, str):
        problem = f"the model's output has the reference {bounded(repr(reference), 80)}"
        raise SampleError("data", problem, fix="give each reference a 'content', a string")
    return content

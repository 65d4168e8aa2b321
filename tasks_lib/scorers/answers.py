"""The text that a scorer looks at where its author names none."""

from tasks_lib.errors import SampleError
from tasks_lib.trace import SolverTrace, output_text
from tasks_lib.trace.grouped import is_grouped


def answer_text(solver_output: SolverTrace | None, fix: str = "") -> str:
    """Return the text to score: of the last raw output, else the last assistant text.

    A reply without content, such as a refusal, is the empty text.

    Args:
        solver_output: what the solver left; None without one.
        fix: what to advise where there is no text.

    Raises:
        SampleError: there is no solver, or its output has no text form.
    """
    conversation = one_conversation(solver_output, fix)
    raw_outputs = conversation.raw_outputs_json
    if raw_outputs:
        text = output_text(raw_outputs[-1])
    else:
        text = conversation.trace.get_last_assistant_text()
    if text is None:
        problem = "the solver's output holds no assistant message"
        raise SampleError("data", problem, fix=fix)
    return text


def one_conversation(solver_output: SolverTrace | None, fix: str = "") -> SolverTrace:
    """Return what the solver left if that is one conversation.

    Raises:
        SampleError: there is no solver, or its output is several conversations.
    """
    if solver_output is None:
        problem = "there is no model output to score in a task without a solver"
        raise SampleError("data", problem, fix=fix)
    if is_grouped(solver_output):
        problem = "the solver's output is several conversations, not one"
        raise SampleError("data", problem, fix=fix or "use a 'python' scorer")
    return solver_output

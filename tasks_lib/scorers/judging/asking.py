"""Asking a judge, and asking again when its reply can't be read."""

import re
from typing import Any

from tasks_lib.errors import SampleError, bounded
from tasks_lib.jsontext import dumps
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.models.predictor import Predictor
from tasks_lib.scorers.judging.kinds import Kind, UnreadableError
from tasks_lib.scorers.judging.protocol import Messages
from tasks_lib.scorers.judging.verdicts import Verdict, read_verdict
from tasks_lib.trace import output_text

MOST_ASKS = 3
"""How often a judge is asked for one verdict before its row is an error."""

_CUT = frozenset({"length", "content_filter"})
_REFUSED_FORM = re.compile(r"response_format|json_?schema|structured", re.IGNORECASE)
_BAD_REQUEST = re.compile(r"HTTP (400|422)\b")
_WITHOUT_STRUCTURE = "set 'use_structured_outputs: false', and the form is asked for in words"


class JudgeCalls:
    """Asks one judge about one row and keeps what was said.

    Args:
        calls: the way to models.
        model_key: the judge.

    Attributes:
        made: `{"input": messages, "output": text}` of each call, in order.
    """

    def __init__(self, calls: Predictor, model_key: str) -> None:
        self.made: list[dict[str, Any]] = []
        self._calls = calls
        self._model_key = model_key

    async def verdict(self, chat_input: dict[str, Any], kind: Kind) -> Verdict:
        """Return the judge's verdict; a reply that can't be read is asked for again.

        Args:
            chat_input: what the judge is sent, each time the same.
            kind: what it is asked for.

        Raises:
            SampleError: no call succeeds, or no reply can be read; the calls made so far are
                its metadata.
        """
        try:
            return await self._asked(chat_input, kind)
        except SampleError as error:
            error.metadata = {"judge_calls": self.made}
            raise

    async def _asked(self, chat_input: dict[str, Any], kind: Kind) -> Verdict:
        why = ""
        for _ in range(MOST_ASKS):
            output = await self._predict(chat_input)
            reply, refused = _said(output.raw)
            messages: Messages = chat_input["messages"]
            self.made.append({"input": messages, "output": reply})
            if refused:
                why = "the judge refuses"
                continue
            try:
                return read_verdict(reply, kind, cut=output.finish_reason in _CUT)
            except UnreadableError as error:
                why = str(error)
        raise _unreadable(self._model_key, why, output, reply)

    async def _predict(self, chat_input: dict[str, Any]) -> ModelOutput:
        try:
            return await self._calls.predict(self._model_key, chat_input)
        except SampleError as error:
            if "response_format" not in chat_input or not _BAD_REQUEST.match(error.problem):
                raise
            raise _refused_form(self._model_key, error) from None


def _said(raw: Any) -> tuple[str, bool]:
    """Return what the judge said, and whether that is a refusal."""
    match raw:
        case {"choices": [{"message": {"refusal": str(refusal)}}, *_]} if refusal:
            return refusal, True
    text = output_text(raw)
    return (dumps(raw) if text is None else text), False


def _unreadable(model_key: str, why: str, output: ModelOutput, reply: str) -> SampleError:
    cut = output.finish_reason == "length"
    return SampleError(
        "judge",
        f"no verdict in {MOST_ASKS} replies of judge '{model_key}': {why}; "
        f"the last is {bounded(repr(reply), 200)}",
        fix="let the judge say more ('max_tokens' of its model)" if cut else "",
    )


def _refused_form(model_key: str, error: SampleError) -> SampleError:
    """Say of a bad request that structured outputs are, or may be, what is bad about it."""
    if _REFUSED_FORM.search(error.problem):
        problem = f"judge '{model_key}' refuses structured outputs: {error.problem}"
        return SampleError(error.error_class, problem, fix=_WITHOUT_STRUCTURE)
    fix = f"if the judge has no structured outputs, {_WITHOUT_STRUCTURE}"
    return SampleError(error.error_class, error.problem, fix=fix)

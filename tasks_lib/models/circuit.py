"""A circuit for each model: a run that gets no answer stops soon, and says why.

On probe, which every model is until its first usable reply, `PROBES` of its calls go on at a
time and the others wait. A call is taken for failed when it is given up, and while nothing
has been answered yet also when its second attempt finds no server or no answer in time: a
dead endpoint shows within seconds, not after all back-offs. A reply that was cut off at the
token limit before anything could be seen of an answer is paid for but not usable either.
When `PROBES` calls have failed and none has brought a usable reply, the run stops.

A model that has worked and then fails `SUSPICIOUS` calls in a row, all attempts each, is on
probe again. Any usable reply ends that; when `RELAPSED` of the calls begun since have failed,
the run stops. So an endpoint that dies for good costs the calls in flight, and 20 more.

What is the fault of one sample (a prompt that is too long or filtered) says nothing about
the model and never counts. A bad request whose reason is not known may be the one or the
other: as long as nothing has been answered and all have the same reason, it counts.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tasks_lib.errors import CircuitError, SampleError
from tasks_lib.jsontext import loads
from tasks_lib.models.call_id import CallId
from tasks_lib.models.connections.base import CallFailure
from tasks_lib.models.outputs import ModelOutput, cut_before_answer

PROBES = 5
SUSPICIOUS = 5
RELAPSED = 20
_OF_THE_SAMPLE = frozenset({400, 413, 422})
_OF_ALL_SAMPLES = re.compile(
    r"api.?key|(invalid|unknown|unsupported|no such|not a valid) model"
    r"|model.{0,80}?(not found|not exist|not a valid|not valid|not supported|unknown|invalid)"
    r"|(unsupported|unrecogni[sz]ed|unknown|unexpected).{0,20}(param|argument|field|keyword)",
    re.IGNORECASE | re.DOTALL,
)
"""Words of a bad request that is bad for every sample."""
_OF_ONE_SAMPLE = re.compile(
    r"filter|safety|polic|moderat|content|prompt|input|too (long|large|many|big)|length|tokens"
    r"|context|exceed|image|audio|file",
    re.IGNORECASE,
)
"""Words of one that is bad for what a sample holds."""
_VARYING = re.compile(r"\w*\d\w*")
"""What differs between messages of one reason: numbers, ids of requests."""
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_PATIENT = 2  # attempts that find nobody


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call without a usable reply."""

    call: CallId
    error: SampleError


class HeldBack(Exception):
    """A call that may not begin yet."""


class Circuit:
    """Watches the calls of one model; belongs to the model loop.

    Args:
        model: the model's key.
        break_off: told why, and by which calls, when the run is to stop.
        notice: told what a user should know early.
        active: False lets every call go ahead, whatever happens.
    """

    def __init__(
        self,
        model: str,
        break_off: Callable[[CircuitError, list[FailedCall]], None],
        notice: Callable[[str], None],
        active: bool = True,
    ) -> None:
        self.on_probe = active
        """Whether calls have to `enter` and `leave`."""
        self.watching = active
        """Whether replies have to be shown to `replied`."""
        self._active = active
        self._model = model
        self._break_off = break_off
        self._notice = notice
        self._proved = False
        self._probes: set[CallId] = set()
        self._failed: dict[CallId, SampleError] = {}
        self._refusals: set[str] = set()
        self._in_a_row = 0
        self._replies = 0
        self._cut = 0
        self._changed = asyncio.Event()

    async def enter(self, call: CallId) -> None:
        """Begin a call while the model is on probe; waits until there is room."""
        while self.on_probe and not self._has_room:
            await self._changed.wait()
        if self.on_probe:
            self._probes.add(call)

    def check_entered(self, call: CallId) -> None:
        """Hold a call back whose turn comes when the model is on probe.

        Raises:
            HeldBack: it began to wait for its turn before that, and has to `enter`.
        """
        if call not in self._probes:
            raise HeldBack

    @property
    def _has_room(self) -> bool:
        """Whether another call could tell more than those that have failed or are under way."""
        undecided = len(self._probes - self._failed.keys())
        return len(self._probes) < PROBES and undecided + len(self._failed) < self._enough

    @property
    def _enough(self) -> int:
        """How many calls have to fail."""
        return RELAPSED if self._proved else PROBES

    def leave(self, call: CallId) -> None:
        """End a call that entered, however it went."""
        self._probes.discard(call)
        self._wake()

    def replied(self, call: CallId, output: ModelOutput, body: bytes) -> None:
        """Look at one of the first replies, or at the first one after failures.

        Args:
            call: whose it is.
            output: the reply.
            body: the request.
        """
        self._replies += 1
        self._cut += output.finish_reason == "length"
        if self._proved or not cut_before_answer(output):
            self._failed.clear()
            self._in_a_row = 0
            self._proved = True
            self.on_probe = False
            self._wake()
        else:
            limit = _limit(body)
            self._count(call, SampleError("model", _CUT_OFF.format(limit), fix=_RAISE_IT))
        if self._replies == PROBES == self._cut and self._proved:
            self._notice(
                f"the first {PROBES} replies of model '{self._model}' were all cut off at "
                f"{_limit(body)}; raise it if answers need more"
            )
        self.watching = not self._proved or self._replies < PROBES

    def stumbled(self, call: CallId, failure: CallFailure, attempts: int) -> None:
        """Note a failed attempt of a call that is tried again."""
        if not self._proved and failure.unanswered and attempts >= _PATIENT:
            self._count(call, failure)

    def failed(self, call: CallId, error: SampleError, status: int = 0) -> None:
        """Note that a call is given up.

        Args:
            call: whose it is.
            error: what it ended with.
            status: HTTP status of its last attempt; 0 without any.
        """
        if not self._active or error.error_class == "data":
            return
        if status in _OF_THE_SAMPLE and not _OF_ALL_SAMPLES.search(error.problem):
            if not self._proved and call in self._probes:
                self._refused(call, error)
            return
        if not self.on_probe:
            self.watching = True  # a usable reply is news again
            self._in_a_row += 1
            if self._in_a_row < SUSPICIOUS:
                return
            self.on_probe = True
            self._failed.clear()
        elif call in self._probes:  # not one of those that were under way when trouble began
            self._count(call, error)

    def _refused(self, call: CallId, error: SampleError) -> None:
        """Note a bad request; with a second reason among them, none is every sample's."""
        if _OF_ONE_SAMPLE.search(error.problem):
            return
        self._refusals.add(_VARYING.sub("", error.problem))
        told = SampleError(error.error_class, error.problem, error.where, _LOOK_AT_IT)
        if len(self._refusals) == 1:
            self._count(call, told)
        else:
            self._failed = {c: end for c, end in self._failed.items() if end.fix != _LOOK_AT_IT}

    def _count(self, call: CallId, error: SampleError) -> None:
        self._failed[call] = error
        if self.on_probe and len(self._failed) >= self._enough:
            self.on_probe = self.watching = self._active = False
            self._break_off(self._cause(), [FailedCall(*failed) for failed in self._failed.items()])
            self._wake()

    def _cause(self) -> CircuitError:
        """The commonest reason, in one sentence."""
        ends = list(self._failed.values())
        ((problem, _),) = Counter(end.problem for end in ends).most_common(1)
        error = next(end for end in ends if end.problem == problem)
        if not self._proved and all(end.problem == problem for end in ends) and self._replies:
            words = problem
        else:
            which = "last" if self._proved else "first"
            words = f"no usable reply to the {which} {len(ends)} calls: {problem}"
        fix = error.fix or _ADVICE.get(error.error_class, "")
        resumable = error.fix != _RAISE_IT
        return CircuitError(words, f"model '{self._model}'", fix, self._model, resumable)

    def _wake(self) -> None:
        self._changed.set()
        self._changed.clear()


_CUT_OFF = "every reply was cut off at {} before an answer"
_RAISE_IT = "raise it, or skip this check with --no-preflight"
_LOOK_AT_IT = (
    "look at the model's parameters, and at the prompts with evalmill plan --show 2; "
    "or skip this check with --no-preflight"
)
_ADVICE = {
    "infra": "see why its server fails, then go on",
    "model": "check the model's url and adapter",
}
"""What to do where the error doesn't say, by its class."""


def _limit(body: bytes) -> str:
    """The token limit that a request states, as it states it."""
    try:
        request = loads(body)
    except ValueError:
        request = None
    if isinstance(request, dict):
        for name in _LIMITS:
            if request.get(name) is not None:
                return f"{name}={request[name]}"
    return "the token limit"

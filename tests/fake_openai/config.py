"""How the server behaves, and the stable draws that make it repeatable."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

FAULT_KINDS: Final = ("429", "500", "reset", "truncate", "null", "hang")
EXTRA_KINDS: Final = (
    *("400", "401", "402", "403", "404", "503", "quota"),
    *("html", "error", "nochoices", "half", "gzip", "latin1"),
    *("empty", "nousage", "plain", "bom"),
    *("filter", "length", "cut", "refusal", "thoughts", "calls"),
)
"""Kinds that are drawn only when `faults` names them."""
CREATED: Final = 1_700_000_000
"""The time in every reply; fixed, so that replies are equal byte for byte."""

Json = Any
FaultTable = list[tuple[float, str]]
"""Kinds of faults with their cumulative share."""


@dataclass(slots=True)
class Config:
    """How the server behaves; each field is also a command-line option."""

    latency_ms: float = 0.0
    """Median time between a request's last byte and the reply."""
    jitter: float = 0.0
    """Sigma of a lognormal factor on the latency; 0 keeps it fixed."""
    fault_rate: float = 0.0
    """Share of requests that fail, 0 to 1."""
    faults: str = ",".join(FAULT_KINDS)
    """Kinds of faults, comma-separated, each with an optional `:weight`."""
    fault_attempts: int = 0
    """Only the first so many arrivals of a body may fail; 0 is no limit."""
    retry_after_s: float = 1.0
    """What a 429 tells the client to wait."""
    hang_s: float = 3600.0
    """A hanging connection is closed after so long."""
    max_in_flight: int = 0
    """More requests than this at a time get a 429; 0 is no limit."""
    max_per_second: int = 0
    """More requests than this taken in any second get a 429; 0 is no limit."""
    judge_rate: float = 0.5
    """Share of JUDGE prompts that get `correct`."""
    models: str = "fake-model"
    """Model names that /v1/models lists, comma-separated (any name is served)."""
    seed: int = 0
    """Seed of faults, jitter and judge verdicts."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.fault_rate <= 1.0:
            raise ValueError("fault_rate must be between 0 and 1")
        if self.latency_ms < 0 or self.jitter < 0:
            raise ValueError("latency_ms and jitter must not be negative")
        self.fault_table()

    def fault_table(self) -> FaultTable:
        """Fault kinds with their cumulative share, for one draw in [0, 1)."""
        weights: list[tuple[str, float]] = []
        for item in filter(None, (part.strip() for part in self.faults.split(","))):
            kind, _, weight = item.partition(":")
            if kind not in FAULT_KINDS and kind not in EXTRA_KINDS:
                known = FAULT_KINDS + EXTRA_KINDS
                raise ValueError(f"unknown fault {kind!r}, expected one of {known}")
            weights.append((kind, float(weight or 1)))
        total = sum(share for _, share in weights)
        table: FaultTable = []
        reached = 0.0
        for kind, share in weights:
            reached += share / total
            table.append((reached, kind))
        return table


def draw(seed: int, tag: bytes, key: bytes) -> float:
    """A stable draw in [0, 1) from a seed, a tag and a key."""
    digest = blake2b(b"%d|%b|%b" % (seed, tag, key), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def body_digest(body: bytes) -> bytes:
    """What a request's draws are made from."""
    return blake2b(body, digest_size=8).digest()


def drawn_fault(config: Config, table: FaultTable, digest: bytes, arrival: int) -> str | None:
    """The fault that chance has for this arrival of a body, from 0; None when it has none.

    Args:
        config: of the server.
        table: its `fault_table()`.
        digest: the body's.
        arrival: how often the same body had arrived before.
    """
    if config.fault_attempts and arrival >= config.fault_attempts:
        return None
    if draw(config.seed, b"fault%d" % arrival, digest) >= config.fault_rate:
        return None
    share = draw(config.seed, b"kind%d" % arrival, digest)
    return next(kind for reach, kind in table if share < reach or reach >= 1 - 1e-9)

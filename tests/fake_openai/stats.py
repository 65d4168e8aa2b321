"""What the server counts."""

import resource
from collections import Counter
from dataclasses import dataclass, field, fields

from tests.fake_openai.config import Json


@dataclass(slots=True)
class Stats:
    """Counters since the start or the last reset. Only model calls are counted."""

    requests: int = 0
    in_flight: int = 0
    """Requests received whole and not yet replied to; at latency 0 never over 1."""
    max_in_flight: int = 0
    connections: int = 0
    max_connections: int = 0
    connections_opened: int = 0
    client_aborts: int = 0
    """Connections that the client closed while a request was in flight."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    first_request_at: float | None = None
    """Unix time."""
    last_request_at: float | None = None
    last_reply_at: float | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    arrivals: dict[bytes, int] = field(default_factory=dict)
    """How often each body (by its digest) has arrived."""

    def as_json(self) -> dict[str, Json]:
        """The counters; `arrivals` becomes two numbers."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        counters = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "arrivals"}
        return counters | {
            "distinct_requests": len(self.arrivals),
            "max_arrivals": max(self.arrivals.values(), default=0),
            "server_cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
        }

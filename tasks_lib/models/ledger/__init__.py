"""The durable record of model calls: what was paid for once is never paid for again.

- `ledger`: the record as a run uses it: found again by a key, written before anything else
  happens with a reply.
- `file`: its SQLite file, one a store, shared by processes and runs.
- `repair`, `sqlite_pages`: saving what can be read of a damaged one.
- `recording`: a run's calls as a JSONL file, which `replay` models answer from.
"""

from tasks_lib.models.ledger.ledger import CachePolicy, Entry, Ledger, call_key, entries

__all__ = ["CachePolicy", "Entry", "Ledger", "call_key", "entries"]

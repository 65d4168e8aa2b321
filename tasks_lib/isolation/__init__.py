"""Authors' code in processes of its own: what hangs, bloats or dies there costs its own call.

It is no fence against malice: the code has this user's rights, files and environment.
"""

from tasks_lib.isolation.pool import Asking, call_in_process
from tasks_lib.isolation.process import DiedError

__all__ = ["Asking", "DiedError", "call_in_process"]

"""What lets a call of a model begin: the way of each attempt through `limiter.turn()`.

1. It queues (`limiter`): first come, first served, whoever calls, so that neither a batch nor
   the judges of another starve; one that is tried again goes before those not tried yet.
2. The first in the queue begins when there is a place: fewer calls are in flight here than the
   run allows, and on this machine than the model allows and the endpoint takes at a time.
   What is scarce is shared evenly between the processes that want it.
3. And when it is time (`pace`): a declared rate is spread over the minute; a learnt or told one
   is kept to; none begins while the server asked everybody to wait.
4. It ends, frees its place, and teaches. Refusals (429, 503, 529) say how many calls a second,
   and at a time, are too many (`congestion`, by the counts in `counts`); headers say what is
   left of a quota (`quota`).

All processes of the machine that use an endpoint see the same numbers (`shared`, guarded by
the lock of `lock`). The bounds of several machines are Prefect's: `flows/global_limit.py`.
"""

"""Models: how they are reached, limited, retried and remembered.

What becomes of one call, from a solver or a scorer to the reply:

1. `predictor`: what solvers and scorers see; `calls` is what they get, one a sample, trial and
   caller.
2. `adapters`: the model input becomes the body of a request.
3. `ledger`: was it asked before? Then that is the reply, and nothing is paid.
4. `circuit`: while nobody knows whether the model works, few calls go ahead of the others.
5. `limits`: the attempt waits for its turn, all attempts of this machine together.
6. `connections`: the body is sent. What goes wrong may be tried again (`retries`).
7. `adapters`, `outputs`, `usage`: the reply becomes a model output, or is refused.
8. `spending`: it is paid for. `ledger`: it is written down before anything else happens to it.

All of it runs in one event loop (`loop`), for the models that `service` opens for a run.
"""

"""A run while it is open in this process, from its first file to its verdict.

- `start`: from a plan to a run folder that steps can work in, with what an earlier start of the
  run paid (`prior_spending`).
- `run`: the open run, which steps find by its folder: rows, models, `progress`, and the `leases`
  on calls that somebody outside this machine hands out. `batch`: some samples of it.
- `record`: `run.json`. `verdict`: status and exit code of a run at its end. `abort`: the end of
  one whose model gives no usable reply.
"""

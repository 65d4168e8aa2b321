"""Task result logs, the evidence of LatticeFlow AI GO!: written of our runs, read from any tool.

- Writing: `export` writes the logs of a run, `samples` the evidence of each sample, `metrics`
  that of each metric, and `tally` counts meanwhile.
- Reading: `json_stream` walks through a file, `index` finds samples in it by their places, and
  `logged_samples` takes them over as rows of a run, solved and scored.
"""

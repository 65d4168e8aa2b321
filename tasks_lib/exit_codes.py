"""The exit codes of the command line; "did not run" is never 0."""

DONE = 0
GATE_FAILED = 1
"""A gate failed or a regression was found."""
WRONG_FILES = 2
"""The files, flags or store are wrong; nothing was called."""
TOO_MANY_ERRORS = 3
"""Done, but more samples failed than allowed; or stopped by a model or the store."""
OVER_BUDGET = 5
"""Stopped by the budget."""
INTERRUPTED = 130

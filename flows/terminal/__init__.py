"""Running from the command line: head start, progress, what is told, exit codes.

`execute` prepares and conducts a run; `telling` and `showing` print what came of it.
"""

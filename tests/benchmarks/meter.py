"""Runs one command and writes down what it used; a script, so that it is a small process.

Linux counts the memory of the process that starts another into the other's peak, and a test
run is larger than many a command it measures.
"""

import json
import os
import sys
import time


def main() -> int:
    """Run the command after the report's path; return its exit code."""
    report, *command = sys.argv[1:]
    started_at, began = time.time(), time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    measured = {
        "wall_s": time.perf_counter() - began,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "started_at": started_at,
        "ended_at": time.time(),
    }
    with open(report, "w", encoding="utf-8") as file:
        json.dump(measured, file)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())

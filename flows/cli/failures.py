"""Errors of the command line: words on stderr and the right exit code."""

import sys
import traceback

import typer
from typer.exceptions import TyperException

from tasks_lib import exit_codes
from tasks_lib.errors import EvalmillError
from tasks_lib.secrets import redact


def guarded(app: typer.Typer, arguments: list[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        result = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except typer.Exit as exit_request:
        return exit_request.exit_code
    except TyperException as error:
        message = error.format_message().rstrip(".\n ")
        if message:
            print(f"{message}; see: evalmill {_verb(arguments)}--help", file=sys.stderr)
        return exit_codes.WRONG_FILES
    except EvalmillError as error:  # a run that had begun tells of it by itself
        print(redact(str(error)), file=sys.stderr)
        return exit_codes.WRONG_FILES
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return exit_codes.INTERRUPTED
    except Exception as error:  # not 1: that is a gate's verdict
        print(redact(traceback.format_exc()), file=sys.stderr)
        words = f"evalmill failed: {type(error).__name__}"
        print(f"{words}; what was paid for is kept, a run can be resumed", file=sys.stderr)
        return exit_codes.TOO_MANY_ERRORS
    return result if isinstance(result, int) else 0


def _verb(arguments: list[str]) -> str:
    """The verb whose help tells more, with a blank; nothing when none was named."""
    return f"{arguments[0]} " if arguments and not arguments[0].startswith("-") else ""

"""Evaluations as Prefect flows, the local server, and the command line."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flows.compile import compile_evaluation
    from flows.deployable.evaluate import evaluate
    from flows.deployable.rescore import rescore

__all__ = ["compile_evaluation", "evaluate", "rescore"]


def __getattr__(name: str) -> Any:
    """Import Prefect when one of the public names is first used, not before."""
    match name:
        case "compile_evaluation":
            from flows.compile import compile_evaluation

            return compile_evaluation
        case "evaluate":
            from flows.deployable.evaluate import evaluate

            return evaluate
        case "rescore":
            from flows.deployable.rescore import rescore

            return rescore
    raise AttributeError(f"module 'flows' has no attribute {name!r}")

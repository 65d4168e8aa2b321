"""Evaluations as Prefect flows, the local server, and the command line.

`compile` makes a plan a flow, `tasks` its steps Prefect tasks, `stages` their order;
`conductor` joins a flow to what `local`, the driver that needs no server, has begun.
`artifacts`, `leases`, `global_limit` and `secret_blocks` are what Prefect's server is used
for beside that. `cli` has a module for each verb, `terminal` what they do and tell,
`deployable` the flows of deployments, `server` evalmill's own Prefect server.
"""

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

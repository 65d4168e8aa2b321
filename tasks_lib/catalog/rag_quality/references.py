"""Notes beside each answer which texts it was made of, where the dataset holds them.

The scorer reads them from the model's output, where a system that retrieves by itself has
already put them.
"""

from __future__ import annotations

import json
from typing import Any

from latticeflow.core.dtypes import SolverTrace

_TEXTS_COLUMN = "<< config.texts_column >>"


def postprocess(sample: dict[str, Any], solver_output: Any) -> list[tuple[dict[str, Any], Any]]:
    """Return the row with the texts of its column as references of the answer."""
    if _TEXTS_COLUMN not in sample:
        return [(sample, solver_output)]
    texts = sample[_TEXTS_COLUMN]
    texts = json.loads(texts) if isinstance(texts, str) else texts
    answer = {
        "message": {
            "role": "assistant",
            "content": solver_output.trace.get_last_assistant_text() or "",
        },
        "references": [{"content": text} for text in texts],
    }
    output = SolverTrace(
        trace=solver_output.trace,
        raw_outputs=[{"choices": [answer]}],
        direct_ios=solver_output.direct_ios,
    )
    return [(sample, output)]

"""Finding out which claims are entailed by what."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from tasks_lib.scorers.rag.claims import Claim
from tasks_lib.scorers.rag.formulas import Evidence, Finding
from tasks_lib.scorers.rag.judge import ClaimJudge


@dataclass(frozen=True, slots=True)
class Side:
    """The response, or the target.

    Attributes:
        text: all of it; empty where it is not needed.
        claims: what it claims; empty where they are not needed.
        required: per claim, whether an answer must make it; true of all where nobody asks.
    """

    text: str = ""
    claims: Sequence[Claim] = ()
    required: Sequence[bool] = ()


async def evidence_of(
    response: Side,
    target: Side,
    chunks: Sequence[str],
    wanted: Collection[Finding],
    judge: ClaimJudge,
) -> Evidence:
    """Return what is wanted to know, with one call for each list of claims and text.

    Raises:
        SampleError: the judge fails.
    """
    return Evidence(
        len(response.claims),
        len(target.claims),
        await judge.entailed(response.claims, target.text) if "correct" in wanted else (),
        await judge.entailed(target.claims, response.text) if "recalled" in wanted else (),
        await _in_each(response.claims, chunks, judge) if "response_in_chunks" in wanted else (),
        await _in_each(target.claims, chunks, judge) if "target_in_chunks" in wanted else (),
    )


async def _in_each(
    claims: Sequence[Claim], chunks: Sequence[str], judge: ClaimJudge
) -> list[list[bool]]:
    """Return, per retrieved text, which claims it entails; equal texts are checked once."""
    known = {chunk: await judge.entailed(claims, chunk) for chunk in dict.fromkeys(chunks)}
    return [known[chunk] for chunk in chunks]


def shown(found: Evidence, response: Side, target: Side, *, labelled: bool) -> dict[str, Any]:
    """Return every claim with what was found of it, for people to read.

    `entailed_by_chunks` lists retrieved texts, numbered from 0.
    """
    return {
        "response_claims": _shown(
            response, "target", found.correct, found.response_in_chunks, labelled
        ),
        "target_claims": _shown(
            target, "response", found.recalled, found.target_in_chunks, labelled
        ),
    }


def _shown(
    side: Side,
    other: str,
    marks: Sequence[bool],
    chunks: Sequence[Sequence[bool]],
    labelled: bool,
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [dict(claim) for claim in side.claims]
    for i, row in enumerate(rows):
        if labelled:
            row["required"] = side.required[i]
        if marks:
            row[f"entailed_by_{other}"] = marks[i]
        if chunks:
            row["entailed_by_chunks"] = [n for n, chunk in enumerate(chunks) if chunk[i]]
    return rows

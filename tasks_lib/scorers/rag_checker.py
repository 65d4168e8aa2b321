"""`rag_checker`: an answer made of retrieved texts, checked claim by claim."""

from collections.abc import Mapping, Set
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tasks_lib.definitions.keys import ModelReference
from tasks_lib.models.predictor import Predictor
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.scorers.judging.asking import JudgeCalls
from tasks_lib.scorers.rag.checking import Side, evidence_of, shown
from tasks_lib.scorers.rag.claims import claims_of_column, required_of_column
from tasks_lib.scorers.rag.formulas import (
    SCORES,
    Evidence,
    Finding,
    ScoreName,
    findings_for,
    rag_scores,
)
from tasks_lib.scorers.rag.inputs import (
    column_text,
    column_value,
    response_text,
    retrieved_texts,
)
from tasks_lib.scorers.rag.judge import ClaimJudge
from tasks_lib.scorers.score import Row, Score
from tasks_lib.solvers.call_range import CallRange

_WITHOUT_TARGET: tuple[ScoreName, ...] = ("faithfulness",)
_OF_REQUIRED = "required_"
_IN_CHUNKS: frozenset[Finding] = frozenset({"response_in_chunks", "target_in_chunks"})
_OF_RESPONSE: frozenset[Finding] = frozenset({"correct", "response_in_chunks"})
_OF_TARGET: frozenset[Finding] = frozenset({"recalled", "target_in_chunks"})


class RagChecker(ModelScorer):
    """Checks what an answer claims against the target and the texts it was made of.

    Response claims and target claims are triples, found by a judge or read from the dataset;
    the judge says which of them the target, the response and each retrieved text entail. A
    score with nothing to divide by is null. What was found stands in the metadata, with the
    judge's calls.
    """

    type: Literal["rag_checker"] = "rag_checker"
    judge_model_key: ModelReference
    """The model that finds and checks claims."""
    query_column: str = "query"
    """Column of the question."""
    target_column: str | None = None
    """Column of the right answer; all scores but `faithfulness` need it."""
    scores_to_compute: Annotated[tuple[ScoreName, ...], Field(min_length=1)] | None = None
    """The scores; all that the columns allow where it is left out."""
    target_claims_column: str | None = None
    """Column of the target's claims, a list of `{subject, predicate, object}`; found by the
    judge where it is left out."""
    response_claims_column: str | None = None
    """Column of the response's claims; found by the judge where it is left out."""
    claim_extraction_instructions: str | None = None
    """What else the judge is told when it looks for claims."""
    claim_labeling_instructions: str | None = None
    """What else the judge is told when it tells required from optional claims."""
    mode: Literal["all_claims", "required_only", "required_and_optional"] = "all_claims"
    """Which claims count: all; those an answer needs; or both ways, scores of the needed ones
    under names that begin with `required_`."""
    target_labels_column: str | None = None
    """Column of REQUIRED and OPTIONAL labels, one for each claim of `target_claims_column`;
    given by the judge where it is left out."""
    response_labels_column: str | None = None
    """Column of labels for the claims of `response_claims_column`."""

    @model_validator(mode="after")
    def _columns_fit(self) -> Self:
        for score in self.scores:
            if self.target_column is None and self._reads_target(findings_for([score])):
                raise ValueError(f"'{score}' needs a target; name its column in 'target_column'")
        for labels, claims, side in (
            (self.target_labels_column, self.target_claims_column, "target"),
            (self.response_labels_column, self.response_claims_column, "response"),
        ):
            if labels is not None and claims is None:
                raise ValueError(
                    f"'{side}_labels_column' labels the claims of '{side}_claims_column'; add it"
                )
        return self

    @property
    def asked_model(self) -> str:
        return self.judge_model_key

    @property
    def calls_per_row(self) -> CallRange:
        """Texts and claims may turn out empty, and then nobody is asked about them."""
        return CallRange(0, None)

    @property
    def scores(self) -> tuple[ScoreName, ...]:
        """The scores in force."""
        if self.scores_to_compute is not None:
            return self.scores_to_compute
        return SCORES if self.target_column is not None else _WITHOUT_TARGET

    def averaged(self) -> tuple[str, ...]:
        names: list[str] = list(self.scores)
        if self.mode == "required_and_optional":
            names += [_OF_REQUIRED + name for name in self.scores]
        return tuple(dict.fromkeys(names))

    def shares(self) -> frozenset[str]:
        return frozenset(self.averaged())

    def columns(self) -> Mapping[str, str]:
        wanted = findings_for(self.scores)
        sides = []
        if wanted & _OF_RESPONSE:
            sides.append((self.response_claims_column, self.response_labels_column, "response"))
        if wanted & _OF_TARGET:
            sides.append((self.target_claims_column, self.target_labels_column, "target"))
        named = {}
        for claims, labels, side in sides:
            named[f"{side}_claims_column"] = claims
            asks = claims is None
            if self.mode != "all_claims":
                named[f"{side}_labels_column"] = labels
                asks = asks or labels is None
            if asks:
                named["query_column"] = self.query_column
        if self._reads_target(wanted):
            named["target_column"] = self.target_column
        return {field: column for field, column in named.items() if column is not None}

    async def ask(self, row: Row, calls: Predictor) -> Score:
        asked = JudgeCalls(calls, self.judge_model_key)
        judge = ClaimJudge(
            asked, self.claim_extraction_instructions, self.claim_labeling_instructions
        )
        wanted = findings_for(self.scores)
        chunks = retrieved_texts(row) if wanted & _IN_CHUNKS else []
        response = await self._response(row, wanted, judge)
        target = await self._target(row, wanted, judge)
        found = await evidence_of(response, target, chunks, wanted, judge)
        claims = shown(found, response, target, labelled=self.mode != "all_claims")
        return Score(self._scores(found, response, target), {**claims, "judge_calls": asked.made})

    def _scores(self, found: Evidence, response: Side, target: Side) -> dict[str, float | None]:
        if self.mode == "all_claims":
            return rag_scores(self.scores, found)
        needed = rag_scores(self.scores, found.among(response.required, target.required))
        if self.mode == "required_only":
            return needed
        both = {_OF_REQUIRED + name: value for name, value in needed.items()}
        return {**rag_scores(self.scores, found), **both}

    async def _response(self, row: Row, wanted: Set[Finding], judge: ClaimJudge) -> Side:
        needs_claims = bool(wanted & _OF_RESPONSE)
        is_given = self.response_claims_column is not None
        needs_text = "recalled" in wanted or (needs_claims and not is_given)
        text = response_text(row) if needs_text else ""
        if not needs_claims:
            return Side(text)
        columns = self.response_claims_column, self.response_labels_column
        return await self._side(row, text, *columns, "response", judge)

    async def _target(self, row: Row, wanted: Set[Finding], judge: ClaimJudge) -> Side:
        needs_claims = bool(wanted & _OF_TARGET)
        column = self.target_column if self._reads_target(wanted) else None
        text = column_text(row, column, "target_column") if column is not None else ""
        if not needs_claims:
            return Side(text)
        columns = self.target_claims_column, self.target_labels_column
        return await self._side(row, text, *columns, "target", judge)

    def _reads_target(self, wanted: Set[Finding]) -> bool:
        """Whether the target's text is needed, not its claims alone."""
        needs_claims = bool(wanted & _OF_TARGET)
        return "correct" in wanted or (needs_claims and self.target_claims_column is None)

    async def _side(
        self,
        row: Row,
        text: str,
        claims_column: str | None,
        labels_column: str | None,
        name: str,
        judge: ClaimJudge,
    ) -> Side:
        if claims_column is not None:
            value = column_value(row, claims_column, f"{name}_claims_column")
            claims = claims_of_column(value, claims_column)
        else:
            claims = await judge.claims(text, self._query(row))
        if self.mode == "all_claims":
            return Side(text, claims, [True] * len(claims))
        if labels_column is not None:
            value = column_value(row, labels_column, f"{name}_labels_column")
            required = required_of_column(value, labels_column, len(claims))
        else:
            required = await judge.required(claims, self._query(row))
        return Side(text, claims, required)

    def _query(self, row: Row) -> str:
        return column_text(row, self.query_column, "query_column")

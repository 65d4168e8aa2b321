import asyncio
import json

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.scorers.rag.formulas import SCORES
from tasks_lib.scorers.rag_checker import RagChecker
from tasks_lib.scorers.score import Row
from tests.scorers.judges import Judge, scored
from tests.scorers.rows import chat, row, solved


def claim(name):
    return {"subject": name, "predicate": "is", "object": "so"}


class Reader:
    """A judge for whom a text claims its capital letters and entails those it holds.

    Attributes:
        asked: (what for, user message) of each call.
    """

    def __init__(self):
        self.asked = []

    async def predict(self, model_key, model_input):
        system, user = (message["content"] for message in model_input["messages"])
        if '{"claims"' in system:
            self.asked.append(("claims", user))
            text = user.partition("Text:\n")[2]
            reply = {"claims": [claim(letter) for letter in text if letter.isupper()]}
        elif '{"verdicts"' in system:
            self.asked.append(("entailed", user))
            listed, _, text = user.partition("\n\nText:\n")
            names = [line.split()[1] for line in listed.splitlines()[1:]]
            marks = [{"claim": i, "entailed": name in text} for i, name in enumerate(names, 1)]
            reply = {"verdicts": marks}
        else:
            self.asked.append(("required", user))
            names = [line.split()[1] for line in user.partition("Claims:\n")[2].splitlines()]
            marks = [
                {"claim": i, "label": "REQUIRED" if name in "AB" else "OPTIONAL"}
                for i, name in enumerate(names, 1)
            ]
            reply = {"labels": marks}
        return ModelOutput(chat(f"```json\n{json.dumps(reply)}\n```"), "stop")


def answered(text, *chunks, **sample) -> Row:
    raw = chat(text)
    raw["choices"][0]["references"] = [{"content": chunk, "score": 1} for chunk in chunks]
    return row(solved(raw, said=text), **{"query": "Which?", "target": "ABE", **sample})


def checker(**fields) -> RagChecker:
    return RagChecker(judge_model_key="judge", target_column="target", **fields)


# Response claims A, B (correct), C (in a relevant text), D (in an irrelevant one); target A, B, E.
FULL = answered("A B C D", "a A e E C", "D", "nothing")


def test_all_scores_of_a_row():
    reader = Reader()
    score = scored(checker(), FULL, reader)
    assert score.values == {
        "precision": 2 / 4,
        "recall": 2 / 3,
        "f1_score": pytest.approx(4 / 7),
        "claim_recall": 2 / 3,
        "context_precision": 1 / 3,
        "context_utilization": 1 / 2,
        "noise_sensitivity_in_relevant": 1 / 4,
        "noise_sensitivity_in_irrelevant": 1 / 4,
        "hallucination": 0.0,
        "self_knowledge": 1 / 4,
        "faithfulness": 3 / 4,
    }
    assert len(reader.asked) == 2 + 2 + 3 + 3, "one call for each list of claims and text"
    assert len(score.metadata["judge_calls"]) == 10
    assert score.metadata["response_claims"][2] == {
        **claim("C"),
        "entailed_by_target": False,
        "entailed_by_chunks": [0],
    }
    assert score.metadata["target_claims"][1] == {
        **claim("B"),
        "entailed_by_response": True,
        "entailed_by_chunks": [],
    }


@pytest.mark.parametrize(
    ("scores", "calls"),
    [
        (["faithfulness"], 1 + 3),
        (["precision"], 1 + 1),
        (["recall"], 1 + 1),
        (["f1_score"], 2 + 2),
        (["context_precision", "claim_recall"], 1 + 3),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else str(value),
)
def test_only_what_the_scores_need_is_asked(scores, calls):
    reader = Reader()
    score = scored(checker(scores_to_compute=scores), FULL, reader)
    assert list(score.values) == scores
    assert len(reader.asked) == calls


def test_equal_texts_are_checked_once_and_blank_ones_never():
    reader = Reader()
    row = answered("A B", "A", "A", " ")
    scorer = RagChecker(judge_model_key="judge")
    assert scored(scorer, row, reader).values == {"faithfulness": 1 / 2}
    assert len(reader.asked) == 2


def test_br_062_an_answer_without_claims_is_null_and_missing_inputs_are_errors():
    faithful = RagChecker(judge_model_key="judge")
    assert scored(faithful, answered("nothing", "x"), Reader()).values == {"faithfulness": None}
    assert scored(faithful, answered("", "x"), Reader()).values == {"faithfulness": None}
    assert scored(faithful, answered("P q", "P"), Reader()).values == {"faithfulness": 1.0}
    with pytest.raises(SampleError, match="has no 'references'") as caught:
        scored(faithful, row(solved(chat("P"), said="P"), query="?"), Reader())
    assert caught.value.error_class == "data"
    assert "scores_to_compute" in caught.value.fix


@pytest.mark.parametrize(
    ("scorer", "of", "problem"),
    [
        (checker(), answered("A", "x", target=None), "column 'target' (target_column) is null"),
        (checker(), answered("A", "x", target=" "), "column 'target' (target_column) is empty"),
        (
            RagChecker(judge_model_key="j", query_column="question"),
            answered("A", "x"),
            "column 'question' (query_column) is missing",
        ),
        (
            RagChecker(judge_model_key="j", response_claims_column="claims"),
            answered("A", "x", claims="A"),
            "column 'claims' holds no list",
        ),
        (
            RagChecker(judge_model_key="j", response_claims_column="claims"),
            answered("A", "x", claims=[{"subject": "A"}]),
            "column 'claims' holds {'subject': 'A'}, which is no claim",
        ),
        (RagChecker(judge_model_key="j"), row(query="?"), "there is no model output to score"),
        (
            RagChecker(judge_model_key="j"),
            row(solved({"choices": [{"message": {"content": "A"}, "references": [1]}]}, said="A")),
            "the model's output has the reference 1",
        ),
    ],
    ids=["null", "empty", "missing", "no list", "no claim", "no solver", "no text"],
)
def test_a_row_that_lacks_something_is_an_error_that_names_it(scorer, of, problem):
    with pytest.raises(SampleError) as caught:
        scored(scorer, of, Reader())
    assert caught.value.error_class == "data"
    assert caught.value.problem.startswith(problem)


@pytest.mark.parametrize("written", [list, json.dumps], ids=["a list", "JSON text"])
def test_claims_and_labels_of_the_dataset_are_taken_as_they_are(written):
    reader = Reader()
    row = answered(
        "anything",
        "A C",
        claims=written([claim("A"), claim("B"), claim("C")]),
        labels=written(["REQUIRED", "optional", "OPTIONAL"]),
        facts=written([claim("A"), claim("X")]),
        needs=written(["REQUIRED", "REQUIRED"]),
    )
    scorer = checker(
        scores_to_compute=["faithfulness", "claim_recall"],
        response_claims_column="claims",
        target_claims_column="facts",
        response_labels_column="labels",
        target_labels_column="needs",
        mode="required_and_optional",
        query_column="no such column",
    )
    score = scored(scorer, row, reader)
    assert score.values == {
        "faithfulness": 2 / 3,
        "claim_recall": 1 / 2,
        "required_faithfulness": 1.0,
        "required_claim_recall": 1 / 2,
    }
    assert {kind for kind, _ in reader.asked} == {"entailed"}
    assert score.metadata["response_claims"][1]["required"] is False
    assert [metric.field for metric in scorer.keyed_metrics().values()] == list(score.values)


def test_without_labels_the_judge_says_what_is_required():
    reader = Reader()
    score = scored(checker(mode="required_only"), FULL, reader)
    assert score.values["precision"] == 1.0, "of A and B"
    assert score.values["recall"] == 1.0
    assert score.values["faithfulness"] == 1 / 2
    assert [kind for kind, _ in reader.asked].count("required") == 2
    nothing_needed = scored(checker(mode="required_only"), answered("C", "C"), Reader())
    assert nothing_needed.values["precision"] is None


def test_labels_that_do_not_fit_are_errors():
    scorer = RagChecker(
        judge_model_key="j",
        mode="required_only",
        response_claims_column="claims",
        response_labels_column="labels",
    )
    for labels, problem in ((["REQUIRED"] * 2, "2 labels for 1 claims"), (["NEEDED"], "'NEEDED'")):
        row = answered("A", "x", claims=[claim("A")], labels=labels)
        with pytest.raises(SampleError, match=problem):
            scored(scorer, row, Reader())


def test_the_authors_instructions_join_ours():
    scorer = checker(
        mode="required_only",
        claim_extraction_instructions="Skip greetings.",
        claim_labeling_instructions="Numbers are required.",
    )
    systems = []

    class Listener(Reader):
        async def predict(self, model_key, model_input):
            systems.append(model_input["messages"][0]["content"])
            return await super().predict(model_key, model_input)

    asyncio.run(scorer.ask(FULL, Listener()))
    assert sum("\n\nSkip greetings.\n\nAnswer with" in system for system in systems) == 2
    assert sum("\n\nNumbers are required.\n\nAnswer with" in system for system in systems) == 2


@pytest.mark.parametrize(
    "reply",
    [
        "Yes.",
        '{"verdicts": [{"claim": 1, "entailed": true}]}',
        '{"verdicts": [{"claim": 1, "entailed": true}, {"claim": 3, "entailed": true}]}',
        '{"verdicts": [{"claim": 1, "entailed": "maybe"}, {"claim": 2, "entailed": true}]}',
        '{"verdicts": [{"claim": 1, "entailed": true}, {"claim": 1, "entailed": false}]}',
        '{"verdicts": [true, false]}',
    ],
    ids=["no list", "a claim left out", "another claim", "no mark", "two marks", "no numbers"],
)
def test_a_list_that_does_not_fit_the_claims_is_asked_for_again_and_then_an_error(reply):
    scorer = RagChecker(judge_model_key="judge", response_claims_column="claims")
    row = answered("A", "x", claims=[claim("A"), claim("B")])
    good = '{"verdicts": [{"claim": "1", "entailed": "True"}, {"claim": 2, "entailed": false}]}'
    assert scored(scorer, row, Judge(reply, good)).values == {"faithfulness": 0.5}
    with pytest.raises(SampleError) as caught:
        scored(scorer, row, Judge(reply))
    assert caught.value.error_class == "judge"


CLAIMS = {"response_claims_column": "rc", "target_claims_column": "tc"}


@pytest.mark.parametrize(
    ("fields", "columns"),
    [
        ({}, {"query_column": "query", "target_column": "target"}),
        ({"scores_to_compute": ["faithfulness"]}, {"query_column": "query"}),
        (
            {"scores_to_compute": ["claim_recall"], **CLAIMS, "target_column": None},
            {"target_claims_column": "tc"},
        ),
        (
            {**CLAIMS, "mode": "required_only"},
            {**CLAIMS, "query_column": "query", "target_column": "target"},
        ),
        (
            {
                **CLAIMS,
                "mode": "required_only",
                "response_labels_column": "rl",
                "target_labels_column": "tl",
            },
            {
                **CLAIMS,
                "target_column": "target",
                "response_labels_column": "rl",
                "target_labels_column": "tl",
            },
        ),
    ],
    ids=["all", "faithfulness", "claims are given", "labels are asked for", "all is given"],
)
def test_br_062_it_names_the_columns_it_needs_and_no_others(fields, columns):
    scorer = RagChecker(**{"judge_model_key": "judge", "target_column": "target", **fields})
    assert scorer.columns() == columns


def test_defaults_without_a_target():
    scorer = RagChecker(judge_model_key="judge")
    assert scorer.scores == ("faithfulness",)
    assert [metric.field for metric in scorer.keyed_metrics().values()] == ["faithfulness"]
    assert [metric.field for metric in checker().keyed_metrics().values()] == list(SCORES)
    assert scorer.asked_model == "judge"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"scores_to_compute": ["faithfulness", "recall"]}, "'recall' needs a target"),
        ({"scores_to_compute": []}, "at least 1"),
        ({"scores_to_compute": ["accuracy"]}, "faithfulness"),
        ({"response_labels_column": "x"}, "add it"),
        ({"target_labels_column": "x"}, "'target_claims_column'; add it"),
        ({"mode": "some"}, "mode"),
    ],
    ids=["no target", "no scores", "unknown score", "labels alone", "target labels", "mode"],
)
def test_a_wrong_definition_is_refused(fields, complaint):
    with pytest.raises(ValidationError, match=complaint):
        RagChecker(judge_model_key="judge", **fields)

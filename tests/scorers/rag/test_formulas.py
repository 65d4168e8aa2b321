import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.scorers.rag.formulas import SCORES, Evidence, findings_for, rag_scores

# Four response claims, three target claims, three retrieved texts (the last one irrelevant):
#   claim 0 correct, in text 0        claim 1 correct, in no text
#   claim 2 incorrect, in texts 0, 2  claim 3 incorrect, in text 2 alone
FOUND = Evidence(
    4,
    3,
    correct=[True, True, False, False],
    recalled=[True, False, True],
    response_in_chunks=[
        [True, False, True, False],
        [False, False, False, False],
        [False, False, True, True],
    ],
    target_in_chunks=[[True, True, False], [True, False, False], [False, False, False]],
)


def test_scores_by_hand():
    assert rag_scores(SCORES, FOUND) == {
        "precision": 2 / 4,
        "recall": 2 / 3,
        "f1_score": pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3)),
        "claim_recall": 2 / 3,  # target claims 0 and 1
        "context_precision": 2 / 3,  # texts 0 and 1
        "context_utilization": 1 / 2,  # of target claims 0 and 1 the response has 0
        "noise_sensitivity_in_relevant": 1 / 4,  # claim 2
        "noise_sensitivity_in_irrelevant": 1 / 4,  # claim 3; claim 2 is in a relevant text too
        "hallucination": 0.0,
        "self_knowledge": 1 / 4,  # claim 1
        "faithfulness": 3 / 4,  # claims 0, 2, 3
    }


def test_claims_that_are_not_chosen_do_not_count():
    chosen = FOUND.among([True, False, True, True], [False, True, True])
    scores = rag_scores(SCORES, chosen)
    assert scores["precision"] == 1 / 3
    assert scores["recall"] == 1 / 2
    assert scores["context_precision"] == 1 / 3, "only text 0 has a chosen target claim"
    assert scores["context_utilization"] == 0.0
    assert scores["faithfulness"] == 1.0


def test_br_062_nothing_to_divide_by_is_null_not_zero():
    none_said = Evidence(
        0, 1, recalled=[False], response_in_chunks=[[]], target_in_chunks=[[False]]
    )
    scores = rag_scores(SCORES, none_said)
    null = {name for name, value in scores.items() if value is None}
    assert null == {
        "precision",
        "f1_score",
        "context_utilization",
        "noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant",
        "hallucination",
        "self_knowledge",
        "faithfulness",
    }
    nothing_retrieved = Evidence(2, 1, correct=[True, False], recalled=[True])
    scores = rag_scores(SCORES, nothing_retrieved)
    assert (scores["faithfulness"], scores["hallucination"]) == (0.0, 0.5)
    assert (scores["claim_recall"], scores["self_knowledge"]) == (0.0, 0.5)
    assert scores["context_precision"] is None


def test_f1_is_0_when_precision_and_recall_are():
    assert rag_scores(["f1_score"], Evidence(1, 1, [False], [False])) == {"f1_score": 0.0}


def test_a_score_needs_only_what_it_is_made_of():
    assert findings_for(["precision"]) == {"correct"}
    assert findings_for(["f1_score"]) == {"correct", "recalled"}
    assert findings_for(["faithfulness"]) == {"response_in_chunks"}
    assert len(findings_for(SCORES)) == 4


marks = st.booleans()


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3), st.data())
def test_every_score_is_a_share_and_response_claims_are_split_without_rest(n, m, k, data):
    def draw(count):
        return data.draw(st.lists(marks, min_size=count, max_size=count))

    found = Evidence(
        n, m, draw(n), draw(m), [draw(n) for _ in range(k)], [draw(m) for _ in range(k)]
    )
    scores = rag_scores(SCORES, found)
    assert all(value is None or 0.0 <= value <= 1.0 for value in scores.values())
    if n:
        wrong = ("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant")
        parts = [scores[name] for name in ("precision", "hallucination", *wrong)]
        assert sum(parts) == pytest.approx(1.0)

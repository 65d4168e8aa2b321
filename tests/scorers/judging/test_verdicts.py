import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.scorers.judging.kinds import Kind, Labels, Scale, UnreadableError
from tasks_lib.scorers.judging.verdicts import Verdict, read_verdict

CORRECT = Labels("prediction", ("CORRECT", "INCORRECT"))
PASSED = Labels("prediction", ("PASSED", "NOT PASSED"))
GRADE = Labels("prediction", ("C", "I"))
FIVE = Scale(1, 5)
TEN = Scale(0, 10)


def answer(reply: str, kind: Kind, *, cut: bool = False):
    """The answer in a reply; None where it can't be read."""
    try:
        return read_verdict(reply, kind, cut=cut).answer
    except UnreadableError:
        return None


def either_way(kind: Labels) -> list[Labels]:
    return [kind, Labels(kind.key, kind.allowed[::-1])]


@pytest.mark.parametrize("kind", either_way(CORRECT), ids=["as written", "reversed"])
@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("INCORRECT", "INCORRECT"),
        ("CORRECT", "CORRECT"),
        ("The response is incorrect.", "INCORRECT"),
        ("Not correct.", None),
        ("correct", "CORRECT"),
    ],
)
def test_br_035_incorrect_is_never_correct(kind, reply, label):
    assert answer(reply, kind) == label


@pytest.mark.parametrize("kind", either_way(PASSED), ids=["as written", "reversed"])
@pytest.mark.parametrize(
    ("reply", "label"),
    [
        (
            "One could call this PASSED, yet the basket stayed empty.\nVerdict: NOT PASSED",
            "NOT PASSED",
        ),
        ("NOT PASSED would be harsh: all steps were done.\nVerdict: PASSED", "PASSED"),
        ("It is neither PASSED nor NOT PASSED yet.", None),
    ],
    ids=["the shorter one in the reasons", "the longer one in the reasons", "none at the end"],
)
def test_br_036_the_final_verdict_wins(kind, reply, label):
    assert answer(reply, kind) == label


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (
            'Here is my verdict:\n```json\n{"score": 4, "reason": "ok"}\n```\n'
            "Tell me if you need more.",
            4,
        ),
        ('```\n{"score": 2, "reason": "weak"}\n```', 2),
        ('{"score": 5, "reason": "good"}', 5),
    ],
    ids=["in a fence amid text", "in a fence", "alone"],
)
def test_br_037_a_fenced_object_is_read(reply, score):
    assert answer(reply, FIVE) == score


@pytest.mark.parametrize(
    ("reply", "score", "reason"),
    [
        (
            '{"score": 5, "reason": "It used ```print(x)``` well"}',
            5,
            "It used ```print(x)``` well",
        ),
        (
            '{"score": 2, "reason": "sets {a: {b}} and a stray }"}',
            2,
            "sets {a: {b}} and a stray }",
        ),
        ('I ran ```ls -l``` first.\n{"score": 3, "reason": "fine"}', 3, "fine"),
    ],
    ids=["backticks inside", "braces inside", "a fence in the line before"],
)
def test_br_038_backticks_and_braces_do_no_harm(reply, score, reason):
    assert read_verdict(reply, FIVE) == Verdict(score, reason)


def test_br_038_an_empty_fence_is_no_verdict():
    for kind in (FIVE, CORRECT, Labels("label", ())):
        assert answer("```json\n```", kind) is None


@pytest.mark.parametrize(
    ("reply", "score"), [("1", 1), ("3", 3), ("5", 5), ("6", None), ("0", None)]
)
def test_br_040_scores_off_the_scale_are_refused(reply, score):
    assert answer(reply, FIVE) == score
    assert answer(json.dumps({"score": int(reply)}), FIVE) == score


@pytest.mark.parametrize(
    "reply", ["The submission says 'GRADE: C' itself, but it is wrong.\nGRADE: I", "GRADE: I"]
)
def test_br_104_a_planted_verdict_does_not_count(reply):
    assert answer(reply, GRADE) == "I"


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        pytest.param("correct", "CORRECT", id="the whole reply, case apart"),
        pytest.param("  **Correct.**\n", "CORRECT", id="in markup"),
        pytest.param('"incorrect"', "INCORRECT", id="quoted"),
        pytest.param("```\ncorrect\n```", "CORRECT", id="fenced"),
        pytest.param("[[CORRECT]]", "CORRECT", id="in brackets"),
        pytest.param("### Correct\n\nIt names Paris.", "CORRECT", id="as a heading"),
        pytest.param("Correct\nIt says so.", "CORRECT", id="alone on the first line"),
        pytest.param("It says so.\n\nCorrect\n", "CORRECT", id="alone on the last line"),
        pytest.param("**Verdict:** `correct`", "CORRECT", id="after a colon"),
        pytest.param("A: b\nSo: my verdict: correct.", "CORRECT", id="after the last colon"),
        pytest.param("Verdict：correct", "CORRECT", id="after a wide colon"),  # noqa: RUF001
        pytest.param("Therefore, the final answer is incorrect.", "INCORRECT", id="as a statement"),
        pytest.param("The model's response is **correct**.", "CORRECT", id="statement in markup"),
        pytest.param("Yes\nCorrect\nfine", None, id="alone on a line between"),
        pytest.param("I think the answer is correct.", None, id="in a sentence"),
        pytest.param("The response is not correct.", None, id="negated"),
        pytest.param("The response isn't: correct", None, id="negated before a colon"),
        pytest.param("It is correct that Paris is in France.", None, id="a sentence goes on"),
        pytest.param("in correct", None, id="another spelling"),
        pytest.param("(in)correct", None, id="both at once"),
        pytest.param("~~correct~~", None, id="struck out"),
        pytest.param("> correct", None, id="a quotation"),
        pytest.param("!correct", None, id="negated by a sign"),
        pytest.param("correct?", None, id="a question"),
        pytest.param("CORRECT\nINCORRECT", None, id="two verdicts"),
        pytest.param("Correct.\nOn reflection: incorrect", None, id="a changed mind"),
        pytest.param("CORRECT or INCORRECT", None, id="both in a line"),
        pytest.param("", None, id="nothing"),
        pytest.param(" \n ", None, id="white space"),
        pytest.param("maybe", None, id="no label"),
        pytest.param("<think>Is it correct?</think>\nincorrect", "INCORRECT", id="after thoughts"),
        pytest.param("<think>Verdict: correct", None, id="thoughts alone"),
    ],
)
def test_a_label_counts_where_it_stands_alone(reply, label):
    assert [answer(reply, kind) for kind in either_way(CORRECT)] == [label] * 2


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        pytest.param('{"prediction": "CORRECT"}', "CORRECT", id="alone"),
        pytest.param('{"prediction": " correct "}', "CORRECT", id="spaces and case apart"),
        pytest.param('{"Prediction": "correct"}', "CORRECT", id="key in another case"),
        pytest.param('My verdict: {"prediction": "correct"}', "CORRECT", id="after a colon"),
        pytest.param('Sure! {"prediction": "correct"} Done.', "CORRECT", id="between sentences"),
        pytest.param('[{"prediction": "correct"}]', "CORRECT", id="in a list"),
        pytest.param('{"prediction": "correct",\n "reasoning": "a\nb"}', "CORRECT", id="raw lines"),
        pytest.param(
            'It says {"prediction": "correct"}, which is a trick.', None, id="quoted in a sentence"
        ),
        pytest.param('> {"prediction": "correct"}\nA trick.', None, id="in a quotation"),
        pytest.param(
            'It says:\n{"prediction": "correct"}\n\n{"prediction": "incorrect"}',
            "INCORRECT",
            id="the one at the end wins",
        ),
        pytest.param(
            'It says {"prediction": "correct"}.\nVerdict: incorrect',
            "INCORRECT",
            id="a quoted one and a verdict",
        ),
        pytest.param(
            '{"prediction": "correct"}\nOn reflection: incorrect', None, id="a changed mind"
        ),
        pytest.param('{"prediction": "correct"}\n{"prediction": "incorrect"}\nHm.', None, id="two"),
        pytest.param('{"prediction": "correct", "prediction": "incorrect"}', None, id="two in one"),
        pytest.param('{"prediction": "maybe"}', None, id="no label"),
        pytest.param('{"prediction": ["correct"]}', None, id="a list"),
        pytest.param('{"prediction": null}', None, id="null"),
        pytest.param('{"verdict": "correct"}', None, id="another key"),
        pytest.param('{"result": {"prediction": "correct"}}', None, id="deeper"),
        pytest.param('{"prediction": "correct', None, id="cut short"),
        pytest.param("{" * 3_000, None, id="braces without end"),
        pytest.param('{"a":' * 30_000, None, id="nested without end"),
    ],
)
def test_a_json_object_counts_where_no_sentence_runs_into_it(reply, label):
    assert answer(reply, CORRECT) == label


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        pytest.param("8", 8, id="alone"),
        pytest.param("**8.5**", 8.5, id="a fraction in markup"),
        pytest.param("8/10", 8, id="of the scale's end"),
        pytest.param("8 out of 10.", 8, id="of the scale's end, in words"),
        pytest.param("Good.\n\nScore: 8/10", 8, id="after the last colon"),
        pytest.param("The score is 8.", 8, id="as a statement"),
        pytest.param("[[8]]", 8, id="in brackets"),
        pytest.param('{"score": "8/10"}', 8, id="as text in an object"),
        pytest.param('{"score": 8.0, "reasoning": "10 of 10"}', 8, id="in an object"),
        pytest.param("8/5", None, id="of another scale"),
        pytest.param("80%", None, id="a share"),
        pytest.param("I give it 8 points.", None, id="in a sentence"),
        pytest.param("There are 8 errors.", None, id="a digit in a sentence"),
        pytest.param("It took from 9:30 to 10:08", None, id="a time"),
        pytest.param("Score: 8\nOverall: 7", None, id="two scores"),
        pytest.param("-8", None, id="negative"),
        pytest.param('{"score": true}', None, id="no number"),
        pytest.param('{"score": NaN}', None, id="not a number"),
        pytest.param('{"score": Infinity}', None, id="infinite"),
        pytest.param('{"score": 1' + "0" * 400 + "}", None, id="beyond all floats"),
        pytest.param('{"score": 1' + "0" * 5000 + "}", None, id="beyond all integers"),
    ],
)
def test_a_number_counts_where_it_stands_alone(reply, score):
    assert answer(reply, TEN) == score


@pytest.mark.parametrize(
    ("reply", "kind", "found"),
    [
        ("correct", CORRECT, "CORRECT"),
        ("PASSED", Labels("prediction", ("PASSED", "PASSED WITH NOTES")), None),
        ("1", TEN, None),
        ('{"score": 7}', TEN, 7),
        ('{"score": 7}\nWait, rather', TEN, None),
        ("Verdict: correct", CORRECT, None),
    ],
    ids=[
        "a whole label that no other goes on from",
        "a label that another goes on from",
        "the first digit of a number",
        "a whole object",
        "an object, and something after it",
        "reasons that broke off",
    ],
)
def test_of_a_reply_that_was_cut_off_only_a_whole_answer_counts(reply, kind, found):
    assert answer(reply, kind, cut=True) == found


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ('{"label": "Brazilian Portuguese"}', "Brazilian Portuguese"),
        ('{"label": 3}', "3"),
        ("**French**.", "French"),
        ("Label: French", "French"),
        ("I can't help with that.", None),
        ("Here you go:\nFrench", None),
        ("A sentence that tells what language it may be in", None),
        ('{"label": " "}', None),
    ],
)
def test_any_label_counts_when_none_is_listed(reply, label):
    assert answer(reply, Labels("label", ())) == label


def test_labels_that_differ_by_case_are_told_apart_by_it():
    kind = Labels("prediction", ("Yes", "yes", "No"))
    assert [answer(reply, kind) for reply in ("Yes", "yes", "YES", "NO")] == [
        "Yes",
        "yes",
        None,
        "No",
    ]


def test_labels_that_look_like_values_or_hold_signs_are_labels():
    kind = Labels("prediction", ("true", "1", "C#", "C", "A: b", "(x)"))
    replies = ('{"prediction": true}', '{"prediction": 1}', "C#", "C", "Verdict: A: b", "(x)")
    assert tuple(answer(reply, kind) for reply in replies) == kind.allowed


def test_a_label_may_look_like_a_rule_between_paragraphs():
    assert answer(" ---\n", Labels("prediction", ("---", "+++"))) == "---"
    assert answer("---", Labels("prediction", ())) is None


@pytest.mark.parametrize(
    ("confidence", "read"),
    [(0.9, 0.9), ("0.9", 0.9), (90, 90.0), (None, None), (True, None), ("high", None), ([], None)],
)
def test_confidence_is_kept_as_given_and_never_a_failure(confidence, read):
    reply = json.dumps({"score": 3, "reasoning": "r", "confidence": confidence})
    assert read_verdict(reply, FIVE) == Verdict(3, "r", read)


WORDS = st.text(alphabet="abcdXYZ+# -_1", min_size=1, max_size=8).filter(str.strip)
LABELS = st.lists(WORDS, min_size=1, max_size=5, unique_by=str.strip)
FRAMES = ["{}", "Verdict: {}", '{{"prediction": {}}}', "Well.\n**{}**", "{}\nBecause."]


@given(LABELS, st.data())
def test_br_035_br_036_the_order_of_labels_changes_nothing(allowed, data):
    said = data.draw(st.sampled_from(allowed) | WORDS)
    frame = data.draw(st.sampled_from(FRAMES))
    reply = frame.format(json.dumps(said) if frame.startswith("{{") else said)
    shuffled = data.draw(st.permutations(allowed))
    found = answer(reply, Labels("prediction", tuple(allowed)))
    assert answer(reply, Labels("prediction", tuple(shuffled))) == found
    assert found is None or found in allowed


@given(LABELS, st.data())
def test_br_035_br_036_a_label_is_never_taken_for_another(allowed, data):
    said = data.draw(st.sampled_from(allowed))
    reply = json.dumps({"prediction": said})
    assert answer(reply, Labels("prediction", tuple(allowed))) == said
    assert answer(said, Labels("prediction", tuple(allowed))) == said
    others = tuple(label for label in allowed if label != said)
    taken = answer(said, Labels("prediction", others)) if others else None
    assert taken is None or taken.strip().casefold().split() == said.strip("_ ").casefold().split()


@given(st.text(max_size=200), st.sampled_from([CORRECT, PASSED, GRADE, FIVE, Labels("label", ())]))
def test_any_reply_is_read_or_unreadable(reply, kind):
    for cut in (False, True):
        label = answer(reply, kind, cut=cut)
        allowed = getattr(kind, "allowed", ())
        assert label is None or not allowed or label in allowed

"""Action rules on one row."""

import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_lib.actions import ActionRule, matching_rules

RULE = TypeAdapter(ActionRule)


def rule(key="r", **fields):
    return RULE.validate_python({"key": key, "action": "exclude_from_metrics", "filter": fields})


def test_every_matching_rule_is_named_in_order():
    rules = [
        rule("a", op="equals", expression="{{ sample.n }}", value=5),
        rule("b", op="is_true", expression="{{ scores.judge.ok }}"),
        rule("c", op="exists", expression="{{ solver_output }}"),
    ]
    variables = {"sample": {"n": "5"}, "scores": {"judge": {"ok": True}}}
    assert matching_rules(rules, variables) == (["a", "b"], [])


def test_the_documented_lenient_forms_match():
    rules = [
        rule("ids", op="in", expression="{{ sample.sample_id }}", values=["3", "6"]),
        rule("flag", op="is_true", expression="{{ sample.flag }}"),
    ]
    assert matching_rules(rules, {"sample": {"sample_id": 6, "flag": "true"}})[0] == ["ids", "flag"]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(
            {"op": "equals", "expression": "{{ scores.gone.x }}", "value": 1}, id="undefined"
        ),
        pytest.param({"op": "is_true", "expression": "{{ sample.n }}"}, id="wrong type"),
        pytest.param(
            {"op": "not_equals", "expression": "{{ sample.m }}", "value": 1}, id="negative op"
        ),
    ],
)
def test_a_rule_that_raises_does_not_match_and_the_others_are_looked_at(fields):
    rules = [rule("bad", **fields), rule("good", op="exists", expression="{{ sample.n }}")]
    matched, failed = matching_rules(rules, {"sample": {"n": 5}, "scores": {}})
    assert matched == ["good"]
    assert [key for key, _ in failed] == ["bad"]


@pytest.mark.parametrize(("op", "keys"), [("exists", []), ("not_exists", ["r"])])
def test_asking_for_existence_never_raises_on_missing_data(op, keys):
    expression = "{{ scores.judge.score }}"
    assert matching_rules([rule(op=op, expression=expression)], {"scores": {}}) == (keys, [])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param({"key": None}, "key", id="a key is required"),
        pytest.param({"key": "two words"}, "key", id="of the usual letters"),
        pytest.param({"action": "warn"}, "action", id="there is one action"),
        pytest.param({"filter": {"op": "and"}}, "filter", id="no combinators"),
        pytest.param({"filter": None}, "filter", id="a filter is required"),
        pytest.param({"note": "x"}, "note", id="nothing else"),
    ],
)
def test_wrong_rules_are_refused(change, complaint):
    written = {
        "key": "r",
        "action": "exclude_from_metrics",
        "filter": {"op": "exists", "expression": "{{ sample.x }}"},
    }
    with pytest.raises(ValidationError, match=complaint):
        RULE.validate_python({**written, **change})

"""The checks of instruction_following, each by what keeps and what breaks it."""

from typing import Any

import pytest

from tests.catalog.snippets import CATALOG, Said, snippet

CHECKS = snippet("instruction_following/checks.py", checks_column="checks")


def scores(reply: str, *checks: Any) -> dict[str, Any]:
    sample = {"checks": list(checks)}
    result: dict[str, Any] = CHECKS.compute_scores(sample, Said(reply))["scores"]
    return result


KEPT_AND_BROKEN = [
    ({"check": "words", "at_most": 3}, "It's an e-mail", "one two three four"),
    ({"check": "words", "at_least": 2, "at_most": 2}, "3.5 metres", "metres"),
    ({"check": "sentences", "at_least": 2, "at_most": 2}, "One. Two!", "One, two."),
    ({"check": "sentences", "at_most": 1}, "Pi is 3.14 or so", 'He said "No." Then he left.'),
    ({"check": "paragraphs", "at_least": 2}, "a\n \nb", "a\nb"),
    ({"check": "bullets", "at_least": 2, "at_most": 2}, "- a\n  2) b", "- a\n-b"),
    ({"check": "contains", "words": ["salt"]}, "Salt!", "salty"),
    ({"check": "contains", "words": ["a b"], "at_least": 2}, "a b, A b", "a b"),
    ({"check": "avoids", "words": ["rain", "C++"]}, "rainy C", "in C++"),
    ({"check": "without", "characters": ",;"}, "a b", "a; b"),
    ({"check": "starts_with", "text": "Dear"}, " Dear all", "dear all"),
    ({"check": "ends_with", "text": "bye."}, "Good bye.\n", "Good bye"),
    ({"check": "json"}, "[1, 2]", "[1, 2"),
    ({"check": "json", "keys": ["a"]}, '```json\n{"a": 1}\n```', '{"a": 1, "b": 2}'),
    ({"check": "json", "keys": ["a"]}, '{"a": null}', '["a"]'),
    ({"check": "lower_case"}, "no capitals: 1", "No"),
    ({"check": "upper_case"}, "A1 ÜBER", "A1 über"),
    ({"check": "quoted"}, '"all"', '"some" of it'),
    ({"check": "placeholders", "at_least": 2}, "[a] and [b c]", "[a] and []"),
    ({"check": "matches", "pattern": "[A-Z]{3}-\\d+"}, "ABC-12", "x ABC-12"),
]


@pytest.mark.parametrize(("check", "kept", "broken"), KEPT_AND_BROKEN)
def test_a_check(check: dict[str, Any], kept: str, broken: str):
    assert CHECKS.keeps(kept, check)
    assert not CHECKS.keeps(broken, check)


def test_every_check_is_tested_and_in_the_readme():
    assert {check["check"] for check, _, _ in KEPT_AND_BROKEN} == set(CHECKS.CHECKS)
    readme = (CATALOG / "instruction_following" / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in CHECKS.CHECKS)


def test_an_empty_reply_keeps_to_nothing():
    assert not CHECKS.keeps("  ", {"check": "avoids", "words": ["x"]})


def test_all_and_shares_of_several_checks():
    words, lower = {"check": "words", "at_most": 2}, {"check": "lower_case"}
    assert scores("Two words", words, lower) == {
        "all_kept": False,
        "all_kept_loosely": False,
        "share_kept": 0.5,
    }


@pytest.mark.parametrize(
    "reply", ['Here it is:\n{"a": 1}', '**{"a": 1}**', '{"a": 1}\nAnything else?']
)
def test_packaging_is_forgiven_loosely(reply: str):
    found = scores(reply, {"check": "json"})
    assert (found["all_kept"], found["all_kept_loosely"]) == (False, True)


def test_checks_may_be_json_text():
    sample = {"checks": '[{"check": "lower_case"}]'}
    assert CHECKS.compute_scores(sample, Said("yes"))["scores"]["all_kept"]


@pytest.mark.parametrize(
    ("check", "error"),
    [
        ({"check": "wrods", "at_most": 3}, ValueError),
        ({"check": "words", "atmost": 3}, TypeError),
        ({"at_most": 3}, ValueError),
    ],
)
def test_a_wrong_check_is_an_error_whatever_the_reply(check: dict[str, Any], error: type):
    for reply in ("some reply", ""):
        with pytest.raises(error):
            scores(reply, check)


def test_nothing_to_check_is_an_error():
    with pytest.raises(ValueError, match="nothing to check in column 'checks'"):
        scores("reply")

"""The capitals task: its data, and how its scorer reads replies."""

import csv
import runpy
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
SCORER = runpy.run_path(str(REPOSITORY / "tasks_lib/catalog/capitals/named_capital.py"))
DATA = REPOSITORY / "datasets/capitals.csv"


def rows() -> list[dict[str, str]]:
    with DATA.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Said:
    """A solver's output, as far as the scorer looks at it."""

    def __init__(self, text: str) -> None:
        self.trace = self
        self._text = text

    def get_last_assistant_text(self) -> str:
        return self._text


def scores(reply: str, capital: str = "Paris", also: str | None = None) -> dict[str, Any]:
    sample = {"country": "France", "capital": capital, "also_accepted": also}
    result: dict[str, Any] = SCORER["compute_scores"](sample, Said(reply))["scores"]
    return result


@pytest.mark.parametrize(
    "reply",
    [
        "Paris",
        "Paris.",
        "Paris, France",
        "paris",
        "**Paris**",
        "“Paris”",
        "The capital of France is Paris.",
        "The capital of France is **Paris**.",
        "The capital city of France is Paris, which is also its largest city.",
        "The capital of France is known as Paris (the City of Light).",
        "The capital of France is the city of Paris.",
        "Sure! The capital of France is Paris. Can I help with anything else?",
        "The capital of France: Paris",
        "The capital of France is Paris, not Lyon.",
        "The capital of France is Paris - a city on the Seine.",
        "The answer is Paris.",
        "It's Paris.",
        "The capital is Paris.",
        "France's capital city is Paris.",
        "France is a country in Europe, and its capital is Paris.",
        "Answer: Paris",
        "Paris is the capital of France.",
        "Paris, the capital of France, lies on the Seine.",
        "Paris, on the Seine, is the capital of France.",
    ],
)
def test_the_right_name_is_right_however_it_is_said(reply: str):
    assert scores(reply) == {"is_correct": True, "mentioned": True, "outcome": "right"}


@pytest.mark.parametrize(
    ("reply", "mentioned"),
    [
        ("Lyon", False),
        ("The capital of France is Lyon.", False),
        ("The capital of France is Lyon, not Paris.", True),
        ("The capital of France is not Paris.", True),
        ("The capital of France is Paris or Lyon.", True),
        ("The capital of France is Paris de Asunción.", True),
        ("The capital of France is Parisland.", False),
        ("The capital of France is Pari.", False),
        ("Lyon is the capital of France, Paris is not.", True),
        ("Paris, Lyon", True),
        ("Paris, or Lyon", True),
        ("The capital of France is Paris, or Lyon.", True),
    ],
)
def test_another_claim_is_wrong_even_if_the_name_occurs(reply: str, mentioned: bool):
    assert scores(reply) == {"is_correct": False, "mentioned": mentioned, "outcome": "wrong"}


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "France is a country in Europe. It is bordered by Spain to the south.",
        "I am sorry, but I can't help with questions about Paris or any other city.",
    ],
)
def test_a_reply_that_claims_nothing_has_an_outcome_of_its_own(reply: str):
    assert scores(reply)["outcome"] == "none"
    assert scores(reply)["is_correct"] is False


@pytest.mark.parametrize(
    ("said", "capital", "also"),
    [
        ("The capital of Brazil is Brasilia.", "Brasília", None),
        ("The capital of Colombia is Bogotá.", "Bogotá", None),
        (unicodedata.normalize("NFD", "Bogotá"), "Bogotá", None),
        ("The capital of Ukraine is Kiev.", "Kyiv", "Kiev"),
        ("The capital of Chad is Ndjamena.", "N'Djamena", None),
        ("The capital of Chad is N\u2019Djamena.", "N'Djamena", None),
        ("The capital of Tonga is Nuku\u02bbalofa.", "Nuku'alofa", None),
        ("The capital of Haiti is Port au Prince.", "Port-au-Prince", None),
        ("The capital of Grenada is St. George's.", "St. George's", "Saint George's"),
        (
            "The capital of Grenada is Saint George\u2019s, a town.",
            "St. George's",
            "Saint George's",
        ),
        ("It is Washington D.C.", "Washington, D.C.", "Washington|Washington DC"),
        (
            "The capital is Washington, D.C., of course.",
            "Washington, D.C.",
            "Washington|Washington DC",
        ),
    ],
)
def test_case_accents_and_punctuation_do_not_matter(said: str, capital: str, also: str | None):
    assert scores(said, capital, also)["is_correct"]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["sample_id"])
def test_each_capital_is_right_for_its_own_country(row: dict[str, str]):
    for name in [row["capital"], *filter(None, row["also_accepted"].split("|"))]:
        for reply in (name, f"The capital of {row['country']} is {name}."):
            assert scores(reply, row["capital"], row["also_accepted"])["is_correct"], reply


def test_no_name_is_right_for_two_countries():
    plain = SCORER["plain"]
    names = Counter(
        plain(name)
        for row in rows()
        for name in {row["capital"], *filter(None, row["also_accepted"].split("|"))}
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_the_data_is_whole():
    found = rows()
    assert len(found) == 169
    assert len({row["sample_id"] for row in found}) == 169
    assert [row["sample_id"] for row in found] == sorted(row["sample_id"] for row in found)
    assert all(row["country"] and row["capital"] and row["continent"] for row in found)
    for row in found:
        assert unicodedata.is_normalized("NFC", "".join(row.values()))
        words = f" {SCORER['plain'](row['country'])} "
        assert f" {SCORER['plain'](row['capital'])} " not in words, "the answer is in the question"

"""Looks for rows that repeat others, lack values or are unusually long or short."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from math import log
from statistics import median
from typing import Any

_COLUMNS = ast.literal_eval(r"""<< config.columns >>""")
_UNIQUE_COLUMNS = ast.literal_eval(r"""<< config.unique_columns >>""")
_STAND_INS = {"", "-", "?", "n/a", "na", "nan", "none", "null", "tbd", "todo", "unknown", "xxx"}
_FAR = 3.5  # robust standard deviations
_MUCH = 20  # characters


def compute_scores(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Score every row.

    Scores: `is_missing`, a column is absent, empty or holds a stand-in such as `n/a`;
    `is_duplicate`, an earlier row has the same unique columns; `is_near_duplicate`, one has
    them but for case, punctuation and spacing; `is_outlier`, a column's length is unusual;
    `is_sound`, none of these.
    """
    first: dict[str, int] = {}
    first_alike: dict[str, int] = {}
    unusual = unusual_lengths(samples)
    scores = []
    for index, sample in enumerate(samples):
        identity = [text(sample.get(column)) for column in _UNIQUE_COLUMNS]
        same = first.setdefault(json.dumps(identity), index)
        alike = first_alike.setdefault(json.dumps([plain(part) for part in identity]), index)
        missing = [column for column in _COLUMNS if is_missing(sample.get(column))]
        found = {
            "is_missing": bool(missing),
            "is_duplicate": same != index,
            "is_near_duplicate": same == index != alike,
            "is_outlier": bool(unusual[index]),
        }
        scores.append(
            {
                "scores": {**found, "is_sound": not any(found.values())},
                "metadata": {
                    "missing": missing,
                    "row_number": index + 1,
                    "repeats_row": alike + 1 if alike != index else None,
                    "unusual_length": unusual[index],
                },
            }
        )
    return scores


def is_missing(value: Any) -> bool:
    """Return whether a value is none, or a word that people write for none."""
    if isinstance(value, list | dict):
        return not value
    return text(value).strip().casefold() in _STAND_INS


def text(value: Any) -> str:
    """Return a value as text; null as no text, lists and mappings as JSON."""
    if value is None or value != value:  # null, or not a number
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def plain(value: str) -> str:
    """Return a text without case, punctuation, emphasis and extra spaces."""
    letters = unicodedata.normalize("NFKC", value).casefold()
    return " ".join(re.sub(r"[^\w\s]|_", " ", letters).split())


def unusual_lengths(samples: list[dict[str, Any]]) -> list[list[str]]:
    """Return, for each row, the columns whose length is far from the column's others.

    Far is measured on a logarithmic scale, by the median and its median deviation, which a
    few outliers do not move; a few characters are never far. Columns with fewer than six
    different lengths are left alone.
    """
    unusual: list[list[str]] = [[] for _ in samples]
    for column in _COLUMNS:
        values = [sample.get(column) for sample in samples]
        lengths = {
            index: len(text(value)) for index, value in enumerate(values) if not is_missing(value)
        }
        if len(set(lengths.values())) < 6:
            continue
        middle = median(lengths.values())
        spread = 1.4826 * median(abs(log(length / middle)) for length in lengths.values())
        for index, length in lengths.items():
            is_far = abs(log(length / middle)) > _FAR * spread
            if is_far and abs(length - middle) > _MUCH:
                unusual[index].append(column)
    return unusual

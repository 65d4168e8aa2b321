"""What the runs in `deployments/catalog` must print; all but BLEU and chrF counted by hand."""

import pytest

ROW = 1 / 12  # most datasets have twelve rows

EXPECTED: dict[str, dict[str, dict[str, dict[str, float]]]] = {
    # file -> specification -> scorer -> metric -> value
    "exact_match_qa": {
        "exact_match_qa": {
            "normalised": {"Correct": 9 * ROW, "Token F1": (9 + 2 / 3) * ROW},
            "verbatim": {"Verbatim": 4 * ROW},
        }
    },
    "multiple_choice": {
        "multiple_choice": {
            "choice": {
                "Accuracy": 9 * ROW,
                "Valid choice": 10 * ROW,
                "Surplus of A": 1 * ROW,
                "Surplus of B": -2 * ROW,
                "Surplus of C": 0,
                "Surplus of D": -1 * ROW,
            }
        }
    },
    "judged_qa": {
        "judged_qa": {
            "judged": {
                "Correct": 8 * ROW,
                "Incorrect": 2 * ROW,
                "Not attempted": 2 * ROW,
                "Correct of attempted": 8 / 10,
            }
        }
    },
    "judged_quality": {
        "judged_quality": {
            "judged": {
                "Quality": 2.6 / 4,
                "Mean grade": 36 / 10,
                "Grades 1 and 2": 3 / 10,
                "Grades 4 and 5": 7 / 10,
            }
        }
    },
    "instruction_following": {
        "instruction_following": {
            "checked": {
                "All kept": 7 * ROW,
                "All kept, loosely": 9 * ROW,
                "Share kept": (7 + 1 / 2 + 2 / 3) * ROW,
                **{
                    f"Kept: {name}": 1
                    for name in (
                        "bullets",
                        "contains",
                        "ends_with",
                        "lower_case",
                        "matches",
                        "paragraphs",
                        "placeholders",
                        "sentences",
                        "starts_with",
                        "words",
                    )
                },
                **{f"Kept: {name}": 0 for name in ("json", "quoted", "upper_case", "without")},
                "Kept: avoids": 1 / 2,
            }
        }
    },
    "conversation_memory": {
        "at_once": {"recalled": {"Recalled": 9 / 10, "Denies having been told": 0}},
        "after_four": {"recalled": {"Recalled": 6 / 10, "Denies having been told": 2 / 10}},
    },
    "simulated_user": {
        "simulated_user": {
            "goal": {"Goal reached": 7 / 10},
            "length": {
                "Messages of the user": 22 / 10,
                "Cut off": 1 / 10,
                "Words per reply": pytest.approx(9.27),
            },
        }
    },
    "tool_use": {
        "tool_use": {
            "calls": {
                "All required calls": 9 * ROW,
                "Required calls made": 9.5 * ROW,
                "Unrequired calls per request": 2 * ROW,
                "Just the right calls": 8 * ROW,
                "Right where calls are needed": 6 / 9,
                "Right where none is needed": 2 / 3,
            }
        }
    },
    "rag_quality": {
        "rag_quality": {
            "claims": {  # one answer makes no claim; of another no target claim was retrieved
                "F1": (5 + 2 / 3 + 1 / 2) / 9,
                "Precision": 6.5 / 9,
                "Recall": 6 / 10,
                "Faithfulness": 7.5 / 9,
                "Hallucination": 0.5 / 9,
                "Self-knowledge": 1 / 9,
                "Misled by relevant texts": 1 / 9,
                "Misled by irrelevant texts": 1 / 9,
                "Use of the texts": 5.5 / 9,
                "Retrieval recall": 8.5 / 10,
                "Retrieval precision": 5 / 10,
            }
        }
    },
    "translation": {
        "translation": {
            "bleu": {"Sentence BLEU": pytest.approx(0.5360, abs=5e-4)},
            "characters": {
                "chrF": pytest.approx(0.7149, abs=5e-4),
                "Left untranslated": 1 * ROW,
                "Corpus BLEU": pytest.approx(0.6318, abs=5e-4),
            },
        }
    },
    "dataset_quality": {
        "dataset_quality": {
            "rows": {
                "Sound": 9 / 16,
                "Missing values": 3 / 16,
                "Duplicate": 1 / 16,
                "Near duplicate": 2 / 16,
                "Unusual length": 1 / 16,
                "Missing: question": 0,
                "Missing: answer": 2 / 16,
                "Missing: topic": 1 / 16,
            }
        }
    },
    "classification": {
        "classification": {
            "label": {
                "Correct": 12 / 16,
                "Unreadable": 1 / 16,
                "accuracy": 12 / 16,
                "billing_precision": 1,
                "billing_recall": 3 / 5,
                "billing_f1_score": 6 / 8,
                "delivery_precision": 4 / 6,
                "delivery_recall": 1,
                "delivery_f1_score": 8 / 10,
                "other_precision": 2 / 3,
                "other_recall": 2 / 3,
                "other_f1_score": 2 / 3,
                "technical_precision": 1,
                "technical_recall": 3 / 4,
                "technical_f1_score": 6 / 7,
                "(unreadable)_precision": 0,
                "(unreadable)_recall": 0,
                "(unreadable)_f1_score": 0,
                "macro_precision": (1 + 4 / 6 + 2 / 3 + 1) / 5,
                "macro_recall": (3 / 5 + 1 + 2 / 3 + 3 / 4) / 5,
                "macro_f1_score": (6 / 8 + 8 / 10 + 2 / 3 + 6 / 7) / 5,
            }
        }
    },
}

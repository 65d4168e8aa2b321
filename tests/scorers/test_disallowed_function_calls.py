import pytest

from tasks_lib.errors import SampleError
from tasks_lib.scorers.disallowed_function_calls import DisallowedFunctionCalls
from tests.items import call
from tests.scorers.calls import talked
from tests.scorers.rows import row

DROP_ALL = {"name": "drop", "arguments": {"all": True}}


@pytest.mark.parametrize(
    ("disallowed", "made", "found"),
    [
        (["drop"], [call("drop"), call("look"), call("drop", {"all": True})], 2),
        (["drop"], [call("look"), call("Drop")], 0),
        ([], [call("drop")], 0),
        ([DROP_ALL], [call("drop"), call("drop", {"all": True})], 1),
        (["drop", DROP_ALL], [call("drop", {"all": True})], 1),
        (["drop"], [], 0),
    ],
    ids=[
        "every call of it counts",
        "others do not, nor another case",
        "nothing is disallowed",
        "with these arguments alone",
        "a call counts once",
        "no calls",
    ],
)
def test_scores(disallowed, made, found):
    score = DisallowedFunctionCalls(function_calls=disallowed).score(row(talked(*made)))
    assert score.values == {
        "no_disallowed_calls_made": found == 0,
        "num_disallowed_calls_made": found,
    }


def test_what_was_disallowed_and_called_is_kept():
    scorer = DisallowedFunctionCalls(function_calls="{{ sample.never }}")
    conversation = talked(call("look"), call("drop", {"all": True}), before=(call("drop"),))
    assert scorer.score(row(conversation, never=["drop", "burn"])).metadata == {
        "disallowed_function_call_names": ["drop", "burn"],
        "disallowed_calls": [DROP_ALL],
    }


def test_without_a_solver_the_row_is_an_error_naming_the_format():
    with pytest.raises(SampleError, match="open_responses"):
        DisallowedFunctionCalls(function_calls='["a"]').score(row())

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.models.usage import TokenCounts, token_usage, usage_counts

OPENAI = {
    "prompt_tokens": 1_000,
    "completion_tokens": 50,
    "total_tokens": 1_050,
    "prompt_tokens_details": {"cached_tokens": 900},
    "completion_tokens_details": {"reasoning_tokens": 40},
}


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        pytest.param(OPENAI, (1_000, 50, 900, 40, True), id="chat completions"),
        pytest.param(
            {
                "input_tokens": 7,
                "output_tokens": 5,
                "input_tokens_details": {"cached_tokens": 3},
                "output_tokens_details": {"reasoning_tokens": 2},
            },
            (7, 5, 3, 2, True),
            id="responses",
        ),
        pytest.param(
            {
                "prompt_tokens": 10,
                "completion_tokens": 3,
                "total_tokens": 33,
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            (10, 23, 0, 20, True),
            id="reasoning beside the completion",
        ),
        pytest.param(
            {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 33},
            (10, 23, 0, 0, True),
            id="reasoning shows in the total alone",
        ),
        pytest.param(
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 4},
            (5, 2, 4, 0, True),
            id="cache hits of the prompt",
        ),
        pytest.param(
            {
                "input_tokens": 5,
                "output_tokens": 2,
                "cache_read_input_tokens": 80,
                "cache_creation_input_tokens": 10,
            },
            (95, 2, 80, 0, True),
            id="cache reads and writes beside the prompt",
        ),
        pytest.param({"prompt_tokens": 8, "total_tokens": 8}, (8, 0, 0, 0, True), id="embeddings"),
        pytest.param({"prompt_tokens": 8}, (8, 0, 0, 0, False), id="no completion counted"),
        pytest.param({"completion_tokens": 8}, (0, 8, 0, 0, False), id="no prompt counted"),
        pytest.param({"prompt_tokens_details": 3}, (0, 0, 0, 0, False), id="nonsense"),
        pytest.param(None, (0, 0, 0, 0, False), id="nothing"),
    ],
)
def test_tokens_are_found_in_every_form(usage: Any, counts: tuple[int, int, int, int, bool]):
    assert usage_counts({"usage": usage}) == counts


def test_cached_and_reasoning_tokens_are_kept_and_read_again():
    kept, counts = token_usage(OPENAI)
    assert kept == {
        "num_prompt_tokens": 1_000,
        "num_completion_tokens": 50,
        "num_reasoning_tokens": 40,
        "num_cached_tokens": 900,
    }
    assert token_usage(kept) == (kept, counts)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from([*OPENAI, "cached_tokens"]), inner),
    max_leaves=8,
)


@given(JSON)
def test_whatever_comes_as_usage_is_counted_or_not(usage: Any):
    _, counts = token_usage(usage)
    assert isinstance(counts, TokenCounts)
    assert all(count >= 0 for count in counts)

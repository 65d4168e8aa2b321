"""What scores come to over trials: aggregators, their names, what they refuse."""

import math
from math import comb, inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.trials import ScoreAggregator, Trials, aggregated
from tasks_lib.trials.aggregators import Aggregator

AGGREGATOR = TypeAdapter(Aggregator)


def aggregator(function, **fields):
    return AGGREGATOR.validate_python({"function": function, **fields})


def entry(score, function, **fields):
    return ScoreAggregator(score_name=score, aggregator=aggregator(function, **fields))


def passes(passed, n, score="ok"):
    return [{score: trial < passed} for trial in range(n)]


def result(trials, *entries):
    """What the scores of trials come to, means of plain names apart."""
    found = aggregated(trials, entries)
    return {name: value for name, value in found.items() if name not in trials[0]}


@pytest.mark.parametrize(
    ("function", "fields", "values", "expected"),
    [
        pytest.param("mean", {}, [1, 2, 6], 3.0, id="mean of numbers"),
        pytest.param("mean", {}, [True, False, True, True], 0.75, id="mean of booleans"),
        pytest.param("min", {}, [3, -1.5, 2], -1.5, id="min of numbers"),
        pytest.param("min", {}, [True, False], 0.0, id="min of booleans"),
        pytest.param("max", {}, [3, -1.5, 2], 3.0, id="max of numbers"),
        pytest.param("max", {}, [True, False], 1.0, id="max of booleans"),
        pytest.param("pass@k", {"k": 5}, [1, 1, 1, 0, 0], 0.98976, id="documented pass@5"),
        pytest.param("pass^k", {"k": 5}, [1, 1, 1, 0, 0], 0.07776, id="documented pass^5"),
        pytest.param("pass@k", {"k": 1}, [True, False], 0.5, id="pass@1 is the share"),
        pytest.param("pass^k", {"k": 1}, [True, False], 0.5, id="pass^1 is the share"),
        pytest.param("pass@k", {"k": 9}, [True, False], 1 - 0.5**9, id="k may exceed the trials"),
        pytest.param("pass^k", {"k": 9}, [True, False], 0.5**9, id="k may exceed in pass^k too"),
        pytest.param("pass@k", {"k": 2}, [1, 0.0], 0.75, id="numbers that are 0 or 1 pass"),
    ],
)
def test_the_aggregators_of_the_language(function, fields, values, expected):
    trials = [{"ok": value} for value in values]
    ((_, value),) = result(trials, entry("ok", function, **fields)).items()
    assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "passed", "k", "at", "hat"),
    [
        (10, 3, 1, 0.3, 0.3),
        (10, 3, 2, 0.5333333333, 0.0666666667),
        (10, 3, 3, None, 0.0083333333),
        (10, 3, 5, 0.9166666667, 0.0),
        (10, 3, 10, 1.0, 0.0),
        (200, 13, 10, 0.4975511147306061, None),
        (200, 13, 100, 0.9999194971988055, None),
        (8, 6, 4, None, 0.2142857143),
        (8, 6, 8, None, 0.0),
        (4, 1, 2, 0.5, None),
    ],
)
def test_the_unbiased_estimators_have_the_published_values(n, passed, k, at, hat):
    for function, expected in (("unbiased_pass@k", at), ("unbiased_pass^k", hat)):
        if expected is not None:
            (value,) = result(passes(passed, n), entry("ok", function, k=k)).values()
            assert value == pytest.approx(expected, abs=1e-10)


def test_the_unbiased_estimators_are_named_after_their_function():
    entries = [entry("ok", "unbiased_pass@k", k=2), entry("ok", "unbiased_pass^k", k=3)]
    assert list(result(passes(2, 4), *entries)) == ["ok.unbiased_pass@2", "ok.unbiased_pass^3"]


@pytest.mark.parametrize("function", ["unbiased_pass@k", "unbiased_pass^k"])
def test_more_tries_than_trials_have_no_unbiased_estimate(function):
    """BR-069: neither 0 nor 1."""
    with pytest.raises(SampleError, match="needs 5 trials, and 4 were scored"):
        aggregated(passes(4, 4), [entry("ok", function, k=5)])


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))))
def test_the_unbiased_estimators_are_shares_of_all_draws(drawn):
    n, k = drawn
    for passed in range(n + 1):
        (at,) = result(passes(passed, n), entry("ok", "unbiased_pass@k", k=k)).values()
        (hat,) = result(passes(passed, n), entry("ok", "unbiased_pass^k", k=k)).values()
        assert 0.0 <= hat <= passed / n <= at + 1e-12 <= 1.0 + 1e-12
        assert at == pytest.approx(1 - comb(n - passed, k) / comb(n, k))


@given(st.floats(0, 1), st.integers(2, 6), st.data())
def test_the_unbiased_estimators_have_the_true_chance_as_their_mean(chance, n, data):
    k = data.draw(st.integers(1, n))
    mean_at = mean_hat = 0.0
    for passed in range(n + 1):
        likely = comb(n, passed) * chance**passed * (1 - chance) ** (n - passed)
        mean_at += likely * aggregator("unbiased_pass@k", k=k).chance(n, passed)
        mean_hat += likely * aggregator("unbiased_pass^k", k=k).chance(n, passed)
    assert mean_at == pytest.approx(1 - (1 - chance) ** k, abs=1e-9)
    assert mean_hat == pytest.approx(chance**k, abs=1e-9)


@pytest.mark.parametrize("value", [2, 0.5, -1, inf])
@pytest.mark.parametrize("function", ["pass@k", "pass^k", "unbiased_pass@k", "unbiased_pass^k"])
def test_pass_rates_of_other_numbers_are_score_errors(function, value):
    with pytest.raises(SampleError, match="needs true or false"):
        aggregated([{"ok": True}, {"ok": value}], [entry("ok", function, k=1)])


@pytest.mark.parametrize("function", ["mean", "min", "max", "pass@k"])
def test_aggregating_text_is_a_score_error(function):
    fields = {"k": 1} if "k" in function else {}
    with pytest.raises(SampleError, match=r"'ok' can't be aggregated: 'yes' is no number"):
        aggregated([{"ok": "yes"}, {"ok": True}], [entry("ok", function, **fields)])


def test_a_score_without_an_aggregator_gets_its_mean_under_both_names():
    found = aggregated([{"ok": True, "n": 3}, {"ok": False, "n": 4}], ())
    assert found == {"ok": 0.5, "ok.mean": 0.5, "n": 3.5, "n.mean": 3.5}


def test_the_plain_name_always_is_the_mean_beside_named_aggregators():
    entries = [entry("ok", "pass^k", k=3, score_name="pass^3"), entry("ok", "pass@k", k=3)]
    assert aggregated(passes(1, 2), entries) == {"ok": 0.5, "pass^3": 0.125, "ok.pass@3": 0.875}


def test_an_aggregator_is_for_its_score_alone():
    found = aggregated([{"ok": True, "other": 2}], [entry("ok", "max")])
    assert found == {"ok": 1.0, "ok.max": 1.0, "other": 2.0, "other.mean": 2.0}


@pytest.mark.parametrize("value", ["text", ["list"], {"a": 1}, None, nan])
def test_scores_of_other_types_get_none(value):
    assert aggregated([{"x": value}, {"x": value}], ()) == {}


def test_a_score_that_is_a_number_in_some_trials_only_gets_none():
    assert aggregated([{"x": 1}, {"x": "n/a"}], ()) == {}


def test_null_nan_and_lacking_values_are_left_out():
    trials = [{"x": 1, "y": 1}, {"x": None}, {"x": nan}, {"x": 4}]
    assert aggregated(trials, ()) == {"x": 2.5, "x.mean": 2.5, "y": 1.0, "y.mean": 1.0}


def test_left_out_values_lower_the_number_of_trials_of_an_unbiased_estimate():
    trials = [{"ok": True}, {"ok": None}, {"ok": False}]
    assert aggregated(trials, [entry("ok", "unbiased_pass@k", k=2)])["ok.unbiased_pass@2"] == 1.0


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        pytest.param([10**400, 1], inf, id="integers beyond floats are infinite"),
        pytest.param([-(10**400)], -inf, id="negative ones too"),
        pytest.param([1e308, 1e308], 1e308, id="sums beyond floats have a mean"),
        pytest.param([2**53 + 1] * 3, float(2**53 + 1), id="long integers"),
    ],
)
def test_extreme_numbers_are_aggregated(values, mean):
    assert aggregated([{"x": value} for value in values], ())["x"] == mean


def test_infinities_that_cancel_have_no_mean():
    assert math.isnan(aggregated([{"x": inf}, {"x": -inf}], ())["x"])


def test_a_result_never_takes_the_name_of_another_score():
    trials = [{"ok": True, "rate": 5}]
    with pytest.raises(SampleError, match="two scores are called 'rate'"):
        aggregated(trials, [entry("ok", "max", score_name="rate")])
    assert aggregated([{"ok": True, "ok.mean": 5}], ())["ok.mean"] == 5


@pytest.mark.parametrize(
    ("definition", "complaint"),
    [
        pytest.param({"num_trials": 1}, "greater than or equal to 2", id="one trial"),
        pytest.param({"num_trials": 0}, "greater than or equal to 2", id="none"),
        pytest.param({}, "Field required", id="no number"),
        pytest.param(
            {"num_trials": 2, "score_aggregators": [{"score_name": "x"}]}, "Field required",
            id="no aggregator",
        ),
        pytest.param(
            {"num_trials": 2, "score_aggregators": [("x", "median")]}, "does not match",
            id="there is no median",
        ),
        pytest.param(
            {"num_trials": 2, "score_aggregators": [("x", "pass@k")]}, "Field required",
            id="pass@k without k",
        ),
        pytest.param(
            {"num_trials": 2, "score_aggregators": [("x", "pass@k", 0)]}, "greater than 0",
            id="no tries",
        ),
        pytest.param(
            {"num_trials": 2, "score_aggregators": [("x", "mean", 3)]}, "Extra inputs",
            id="mean takes no k",
        ),
        pytest.param(
            {"num_trials": 2, "score_aggregators": [("x", "max"), ("x", "max")]},
            "two aggregators give 'x.max'",
            id="the same twice",
        ),
        pytest.param(
            {"num_trials": 2, "score_aggregators": [("x", "max", None, "x")]},
            "'x' always is the mean",
            id="the plain name taken",
        ),
    ],
)  # fmt: skip
def test_wrong_trials_are_refused(definition, complaint):
    def written(item):
        if isinstance(item, dict):
            return item
        score, function, k, name = (*item, None, None)[:4]
        extra = {} if k is None else {"k": k}
        return {
            "score_name": score,
            "aggregator": {"function": function, "score_name": name} | extra,
        }

    if "score_aggregators" in definition:
        items = [written(item) for item in definition["score_aggregators"]]
        definition = {**definition, "score_aggregators": items}
    with pytest.raises(ValidationError, match=complaint):
        Trials.model_validate(definition)


def test_null_aggregators_are_none_at_all():
    assert Trials.model_validate({"num_trials": 2, "score_aggregators": None}).num_trials == 2


def test_trials_know_whether_there_are_enough_for_their_aggregators():
    trials = Trials(num_trials=5, score_aggregators=(entry("ok", "unbiased_pass@k", k=4),))
    trials.check_enough(4)
    with pytest.raises(ValueError, match="unbiased_pass@4 of 'ok' needs 4 trials, and there are 3"):
        trials.check_enough(3)


values = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=2))
records = st.lists(
    st.dictionaries(st.sampled_from(["a", "b"]), values, max_size=2), min_size=1, max_size=6
)
KINDS = [entry("a", "mean"), entry("a", "min"), entry("b", "max", score_name="best")]
RATES = [entry("a", "pass@k", k=2), entry("a", "unbiased_pass^k", k=1)]


def outcome(trials, entries):
    try:
        found = aggregated(trials, entries)
    except SampleError as error:
        return type(error)
    return {name: None if math.isnan(value) else value for name, value in found.items()}


@given(records, st.sampled_from([(), KINDS, RATES]), st.randoms(use_true_random=False))
def test_aggregates_do_not_depend_on_the_order_of_trials(trials, entries, random):
    shuffled = random.sample(trials, len(trials))
    assert outcome(shuffled, entries) == outcome(trials, entries)


@given(st.dictionaries(st.text(max_size=3), st.one_of(st.booleans(), st.floats(allow_nan=False))))
def test_one_trial_comes_to_what_it_is(scores):
    found = aggregated([scores], ())
    assert {name: found[name] for name in scores} == scores

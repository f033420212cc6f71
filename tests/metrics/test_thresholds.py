"""Tables of decisions at every threshold, against the tables of labels."""

import numpy as np
import pytest
from sklearn import metrics as theirs

import pegasos_stats as ps
from pegasos_stats.metrics.scores import CHOOSING, METRICS, ScoredRows, Target, cut

ROUNDING = 1e-12  # sums in another order
ALONE = "youden", "error_rate", "f2", "f0.5"  # measures that are in no report


def drawn(seed, n=20):
    """Scores with ties, unbalanced levels, unequal weights."""
    rng = np.random.default_rng(seed)
    second = rng.random(n) < 0.3
    second[:2] = True, False
    values = np.round(rng.normal(size=n) + second, 1)
    return ScoredRows(values, second, rng.integers(0, 4, n).astype(float))


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("second", [True, False])
def test_decisions_are_those_of_a_confusion_table_at_each_threshold(second):
    rows = drawn(1)
    thresholds, decisions = cut(rows, second, 0.0, (-np.inf, np.inf))
    actual = np.where(rows.second, "b", "a")
    positive = "b" if second else "a"
    for j, at in enumerate(thresholds):
        predicted = np.where(rows.values > at, "b", "a")
        given = {"levels": ["a", "b"], "freq_weights": rows.weights}
        table = ps.confusion(actual, predicted, positive, **given)
        own, other = table.counts[::-1, 1::-1] if second else table.counts[:, :2]
        d = decisions
        assert [d.tp[j], d.fn[j], d.fp[j], d.tn[j]] == [*own, *other]
        for name, measure in METRICS.items():
            if name not in ALONE:
                found = {**table.overall, **table.by_class}[name]
                np.testing.assert_allclose(measure(d.tables)[j], found, rtol=ROUNDING)


def test_measures_that_no_table_has_are_those_of_scikit_learn():
    rows = drawn(2)
    at = ScoredRows.at(rows, 0.35, True)
    given = rows.second, rows.values > 0.35
    w = {"sample_weight": rows.weights}
    expected = {
        "error_rate": 1.0 - theirs.accuracy_score(*given, **w),
        "youden": theirs.balanced_accuracy_score(*given, **w, adjusted=True),
        "f0.5": theirs.fbeta_score(*given, beta=0.5, **w),
        "f2": theirs.fbeta_score(*given, beta=2.0, **w),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(METRICS[name](at.tables), [value], rtol=ROUNDING)


def test_rows_at_the_threshold_are_undecided():
    values, second = np.array([1.0, 2.0, 2.0, 3.0]), np.arange(4) > 1
    rows = ScoredRows(values, second, np.arange(1.0, 5.0))
    d = rows.at(2.0, True)
    assert [*d.tp, *d.fn, *d.fp, *d.tn] == [4.0, 0.0, 0.0, 1.0]
    d = rows.at(2.0, False)
    assert [*d.tp, *d.fn, *d.fp, *d.tn] == [1.0, 0.0, 0.0, 4.0]


@pytest.mark.parametrize("name", [*CHOOSING, "cost"])
@pytest.mark.parametrize("seed", range(4))
def test_no_threshold_is_better_and_none_as_good_is_nearer_to_the_usual_one(name, seed):
    rows = drawn(seed)
    target = Target(name, 1.0, 3.0)
    usual = 0.45
    thresholds, decisions = cut(rows, True, usual, (-np.inf, np.inf))
    best = target.best(thresholds, decisions, usual)
    chosen = target.of(rows.at(thresholds[best], True).tables)[0]
    sign = -1.0 if name in ("cost", "error_rate") else 1.0
    others = [-np.inf, *np.arange(-4.05, 5.0, 0.1), np.inf, usual]
    for at in others:
        value = target.of(rows.at(at, True).tables)[0]
        if not np.isnan(value):
            assert sign * value <= sign * chosen + ROUNDING
            if abs(value - chosen) <= ROUNDING:
                far = abs(thresholds[best] - usual)
                nearer = [t for t in thresholds if abs(t - usual) < far]
                values = [target.of(rows.at(t, True).tables)[0] for t in nearer]
                assert all(not abs(v - chosen) <= ROUNDING for v in values)


def test_costs_are_of_the_errors_that_they_name():
    second, weights = np.array([0, 1, 0, 0, 1]) > 0, np.array([1.0, 1, 1, 1, 2])
    rows = ScoredRows(np.arange(1.0, 6.0), second, weights)
    target = Target("cost", 5.0, 1.0)
    assert target.of(rows.at(2.5, True).tables)[0] == (5.0 * 2.0 + 1.0) / 6.0
    assert target.of(rows.at(2.5, False).tables)[0] == (5.0 * 1.0 + 2.0) / 6.0


def test_thresholds_stay_within_their_ends_and_between_scores():
    values = np.array([0.0, 0.5, np.nextafter(0.5, 1.0), 1.0])
    rows = ScoredRows(values, np.array([0, 1, 0, 1]) > 0, np.ones(4))
    thresholds, _ = cut(rows, True, 0.5, (0.0, 1.0))
    assert thresholds.tolist() == [0.25, 0.75]  # none between 0.5 and the next one
    thresholds, _ = cut(rows, True, 0.6, (0.0, 1.0))
    assert thresholds.tolist() == [0.25, 0.6]

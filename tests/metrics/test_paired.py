"""Two classifiers on the same rows."""

import math

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar as peer
from statsmodels.stats.proportion import proportion_confint

import pegasos_stats as ps
from pegasos_stats.errors import UndefinedMetricWarning
from pegasos_stats.metrics.intervals import paired_difference_interval

# Both wrong, A only, B only, neither.
ROWS = {"a": (4, 15, 8, 173), "b": (1, 3, 0, 40), "c": (0, 20, 35, 500)}


def labels(both, a_only, b_only, neither):
    """Three columns with so many errors."""
    wrong_a = np.repeat([1, 1, 0, 0], (both, a_only, b_only, neither))
    wrong_b = np.repeat([1, 0, 1, 0], (both, a_only, b_only, neither))
    actual = np.arange(len(wrong_a)) % 2
    return actual, np.abs(actual - wrong_a), np.abs(actual - wrong_b)


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
def test_mcnemar_is_that_of_statsmodels_and_the_difference_that_of_the_rates(rows):
    both, a_only, b_only, neither = rows
    found = ps.compare_predictions(*labels(*rows))
    assert found.table.to_numpy().tolist() == [[neither, b_only], [a_only, both]]
    table = [[neither, b_only], [a_only, both]]
    assert found.p_exact == pytest.approx(peer(table).pvalue, rel=1e-12)
    corrected = peer(table, exact=False, correction=True)
    assert found.corrected.statistic == pytest.approx(corrected.statistic, rel=1e-12)
    assert found.corrected.p_value == pytest.approx(corrected.pvalue, rel=1e-12)
    actual, a, b = labels(*rows)
    assert found.error_rate_a == ps.confusion(actual, a).error_rate
    assert found.error_rate_b == ps.confusion(actual, b).error_rate
    expected = found.error_rate_a - found.error_rate_b
    assert found.difference == pytest.approx(expected, abs=1e-15)


def test_newcombes_interval_of_a_published_table():
    # Bentur et al. 2009, in Fagerland, Lydersen & Laake, Statistics in Medicine 33
    # (2014): -0.507 to -0.026
    interval = paired_difference_interval(1, 1, 7, 12)
    assert interval == pytest.approx((-0.507, -0.026), abs=5e-4)


# Both, first only, second only, neither: phi above n / 2, below it, and negative.
# In the last a d - b c = 1, the least that is corrected.
TABLES = [(40, 3, 9, 48), (90, 2, 25, 13), (6, 5, 7, 9), (3, 30, 20, 4), (7, 2, 3, 1)]


@pytest.mark.parametrize("counts", TABLES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_newcombes_interval_is_that_of_its_formula(counts, level):
    a, b, c, d = counts
    n, wilson = sum(counts), {"alpha": 1.0 - level, "method": "wilson"}
    p, q = (a + b) / n, (a + c) / n
    low_p, high_p = proportion_confint(a + b, n, **wilson)
    low_q, high_q = proportion_confint(a + c, n, **wilson)
    apart = a * d - b * c
    phi = (max(apart - n / 2, 0) if apart > 0 else apart) / math.sqrt(
        (a + b) * (c + d) * (a + c) * (b + d)
    )
    down, up = (p - low_p, high_q - q), (high_p - p, q - low_q)
    below, above = (math.sqrt(x * x - 2 * phi * x * y + y * y) for x, y in (down, up))
    found = paired_difference_interval(*counts, level)
    assert found == pytest.approx((p - q - below, p - q + above), rel=1e-12)


def test_the_interval_covers_as_often_as_it_says():
    draw = np.random.default_rng(4)
    shares = np.array([0.05, 0.10, 0.04, 0.81])
    tables = draw.multinomial(200, shares, 2000)
    intervals = np.array([paired_difference_interval(*map(int, t)) for t in tables])
    covered = (intervals[:, 0] <= 0.06) & (intervals[:, 1] >= 0.06)
    assert 0.94 < covered.mean() < 0.975  # Monte Carlo error 0.005


def test_classifiers_that_agree_have_no_corrected_test():
    actual = [0, 1, 1, 0]
    with pytest.warns(UndefinedMetricWarning, match="corrected"):
        found = ps.compare_predictions(actual, [0, 1, 0, 0], [0, 1, 0, 0])
    assert np.isnan(found.corrected.p_value)
    assert found.p_exact == 1.0
    assert found.interval.low < 0.0 < found.interval.high
    assert "NA with continuity correction, p NA" in str(found)


def test_lines_of_tiny_p_values_fit_the_screen():
    found = ps.compare_predictions([0, 1] * 50, [0, 1] * 50, [1, 1, 1, 0] * 25)
    assert found.p_exact < 1e-4
    assert max(map(len, str(found).splitlines())) <= 78


def test_rows_that_lack_a_label_are_left_out_and_counted():
    actual, a, b = labels(*ROWS["a"])
    whole = ps.compare_predictions(actual, a, b)
    actual, a, b = [*actual, 0, 1], [*a, None, 1], [*b, 0, None]
    found = ps.compare_predictions(actual, a, b)
    assert found.n_left_out == 2
    assert found.table.equals(whole.table)
    assert "2 rows with a missing value" in str(found)


def test_more_than_two_levels():
    found = ps.compare_predictions(list("abca"), list("abcb"), list("bbbb"))
    assert (found.error_rate_a, found.error_rate_b) == (0.25, 0.75)

"""Maximum likelihood and Firth's penalty on rows, and the profiles of both."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit

from pegasos_stats.models.inference.profile import Profile
from pegasos_stats.solvers.firth import (
    firth_solution,
    fit_likelihood,
    orthonormal_rows,
)
from pegasos_stats.solvers.problem import Problem

# Counts of sex2, urinary tract infections among college women (Foxman et al., 1997),
# distributed by R's logistf: case, age, oc, vic, vicl, vis, dia, count.
SEX2 = """
1000010 1, 1001000 14, 1001010 3, 1001100 10, 1001110 12, 1001111 1, 1010000 44,
1010001 3, 1011000 15, 1011001 1, 1011010 2, 1011100 7, 1011110 3, 1101000 2, 1101010 1,
1101011 1, 1101100 1, 1101111 1, 1110000 5, 1111000 3, 0000010 1, 0001000 2, 0001010 1,
0001100 8, 0001110 18, 0010000 42, 0010010 1, 0011000 1, 0011100 5, 0011110 6,
0101100 2, 0101110 4, 0110000 14, 0110010 1, 0111000 1, 0111110 2
"""
# By logistf, which ends at changes of 1e-5: estimate, limits, chi-squared.
PUBLISHED = [
    [0.12025404, -0.8185574, 1.07315110, 0.06286298],
    [-1.10598130, -1.9737884, -0.30742658, 7.50773092],
    [-0.06881673, -0.9414360, 0.78920202, 0.02467044],
    [2.26887464, 1.2730233, 3.43543640, 22.93139022],
    [-2.11140816, -3.2608611, -1.11773667, 19.10407252],
    [-0.78831694, -1.6080879, 0.01518319, 3.69740975],
    [3.09601263, 0.7745730, 8.03029352, 7.89693139],
]


@dataclass
class Sample:
    X: np.ndarray
    signs: np.ndarray
    weights: np.ndarray | None = None
    offset: np.ndarray | None = None
    intercept: bool = True

    def rows(self):
        options = self.intercept, self.weights, self.offset
        return orthonormal_rows(self.X, self.signs, *options)

    def objective(self, theta, firth=True):
        """The penalised log likelihood, written down as in the paper."""
        Z = (
            np.column_stack([np.ones(len(self.X)), self.X])
            if self.intercept
            else self.X
        )
        w = np.ones(len(Z)) if self.weights is None else self.weights
        scores = Z @ theta + (0.0 if self.offset is None else self.offset)
        p = expit(scores)
        information = (Z.T * (w * p * (1.0 - p))) @ Z
        penalty = np.linalg.slogdet(information)[1] / 2.0 if firth else 0.0
        return -w @ np.logaddexp(0.0, -self.signs * scores) + penalty


def sex2():
    cells = [cell.split() for cell in SEX2.replace("\n", " ").split(",")]
    table = np.array([[*map(float, digits)] for digits, _ in cells])
    counts = np.array([float(count) for _, count in cells])
    return Sample(table[:, 1:], np.where(table[:, 0] > 0.0, 1.0, -1.0), counts)


def separated():
    """Every row with the second column above 0 is of one class."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=60), rng.random(60) < 0.15])
    above = (X[:, 0] + rng.logistic(size=60) > 0.0) | (X[:, 1] > 0.0)
    return Sample(X, np.where(above, 1.0, -1.0))


def sample(**options):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 3))
    y = np.where(X[:, 0] - 0.5 + rng.logistic(size=80) > 0.0, 1.0, -1.0)
    return Sample(X, y, **options)


def various():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 4, 80).astype(float)
    yield "ordinary", sample()
    yield "separated", separated()
    yield "counts", sample(weights=counts)
    yield "offset", sample(offset=rng.normal(size=80))
    yield "through zero", sample(intercept=False)


SAMPLES = [pytest.param(case, id=name) for name, case in various()]


def test_a_two_by_two_table_has_half_a_row_added_to_each_cell():
    """Exact, also with an empty cell (Firth 1993, section 3.3)."""
    table = np.array([[9.0, 0.0], [4.0, 6.0]])
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    rows = orthonormal_rows(X, np.array([-1.0, 1, -1, 1]), weights=table.ravel())
    odds = np.log((table[:, 1] + 0.5) / (table[:, 0] + 0.5))
    expected = [odds[0], odds[1] - odds[0]]
    np.testing.assert_allclose(fit_likelihood(rows).theta, expected, rtol=1e-12)


def test_published_estimates_limits_and_tests_of_sex2():
    data = sex2()
    assert data.weights.sum() == 239
    profile = Profile(data.rows(), firth=True)
    statistic = profile.table().statistic ** 2
    found = np.column_stack([profile.fit.theta, profile.limits(), statistic])
    np.testing.assert_allclose(found, PUBLISHED, rtol=1e-4)


@pytest.mark.parametrize("data", SAMPLES)
def test_estimates_are_at_a_maximum_of_the_penalised_likelihood(data):
    fit = fit_likelihood(data.rows())
    assert fit.converged
    assert fit.objective == pytest.approx(data.objective(fit.theta), abs=1e-11)
    other = minimize(lambda t: -data.objective(t), 0.0 * fit.theta, tol=1e-10)
    assert -other.fun <= fit.objective + 1e-11
    # 1e-5: a search without derivatives tells no more
    np.testing.assert_allclose(other.x, fit.theta, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("data", SAMPLES)
def test_limits_and_tests_are_those_of_another_search(data):
    profile = Profile(data.rows(), firth=True)
    theta, best = profile.fit.theta, profile.fit.objective
    limits, statistic = profile.limits(0.9), profile.table().statistic ** 2

    def deviance(j, value):
        """Of all other coefficients, the information being that of all columns."""
        rest = np.delete(theta, j)
        return 2.0 * best + 2.0 * min(
            minimize(
                lambda t: -data.objective(np.insert(t, j, value)),
                start,
                tol=1e-12,
            ).fun
            for start in (rest, 0.0 * rest)
        )

    for j, unit in enumerate(profile.fit.std_error):
        assert deviance(j, 0.0) == pytest.approx(statistic[j], abs=1e-6)
        for sign, limit in zip((-1.0, 1.0), limits[j], strict=True):
            root = brentq(
                lambda s, j=j, sign=sign, unit=unit: (
                    deviance(j, theta[j] + sign * s * unit) - 2.705543454095404
                ),
                0.5,
                6.0,
            )
            assert limit == pytest.approx(theta[j] + sign * root * unit, abs=1e-6)


@pytest.mark.parametrize("firth", [True, False])
def test_units_and_means_do_not_matter(firth):
    data = sample()
    units, means = np.array([1e-6, 1.0, 1e6]), np.array([1e-3, 1e4, 0.0])
    other = Sample(data.X * units + means, data.signs)
    plain, scaled = (Profile(of.rows(), firth) for of in (data, other))
    slopes = scaled.fit.theta[1:] * units
    # 1e-9: the second column has 12 of its 16 digits left behind its mean
    np.testing.assert_allclose(slopes, plain.fit.theta[1:], rtol=1e-9)
    np.testing.assert_allclose(
        scaled.fit.std_error[1:] * units, plain.fit.std_error[1:], rtol=1e-9
    )
    np.testing.assert_allclose(
        scaled.limits()[1:] * units[:, None], plain.limits()[1:], rtol=1e-9
    )


@pytest.mark.parametrize("firth", [True, False])
def test_counts_are_repeated_rows(firth):
    counts = np.random.default_rng(3).integers(0, 4, 80)
    data = sample(weights=counts.astype(float))
    repeated = Sample(data.X.repeat(counts, axis=0), data.signs.repeat(counts))
    one, other = (Profile(of.rows(), firth) for of in (data, repeated))
    np.testing.assert_allclose(one.fit.theta, other.fit.theta, rtol=1e-11)
    np.testing.assert_allclose(one.fit.covariance, other.fit.covariance, rtol=1e-11)
    assert one.fit.objective == pytest.approx(other.fit.objective, rel=1e-13)
    np.testing.assert_allclose(one.limits(), other.limits(), rtol=1e-10)


@pytest.mark.parametrize("firth", [True, False])
def test_columns_that_earlier_ones_determine_are_not_estimable(firth):
    data = sample()
    x, z, u = data.X.T
    X = np.column_stack([x, 2.0 * x + 5.0, z, np.full(80, 3.0), x - z, u])
    profile = Profile(Sample(X, data.signs).rows(), firth)
    plain = Profile(data.rows(), firth)
    theta, kept = profile.fit.theta, [0, 1, 3, 6]
    assert [*np.flatnonzero(np.isnan(theta))] == [2, 4, 5]
    np.testing.assert_allclose(theta[kept], plain.fit.theta, rtol=1e-11)
    np.testing.assert_allclose(
        profile.fit.covariance[np.ix_(kept, kept)], plain.fit.covariance, rtol=1e-10
    )
    np.testing.assert_allclose(profile.limits()[kept], plain.limits(), rtol=1e-10)
    assert np.isnan(profile.limits()[[2, 4, 5]]).all()
    assert np.isnan(profile.table().p_value[[2, 4, 5]]).all()


def test_likelihood_of_separated_rows_has_one_end_and_firths_has_two():
    data = separated()
    profile = Profile(data.rows(), firth=False)
    assert profile.fit.diverges
    low, high = profile.limits()[2]
    assert high == np.inf
    assert np.isfinite(low)
    assert np.isfinite(profile.limits()[:2]).all()
    # its supremum is the likelihood of the rows that are not separated
    others = data.X[:, 1] == 0.0
    rest = fit_likelihood(Sample(data.X[others, :1], data.signs[others]).rows(), False)
    assert profile.fit.objective == pytest.approx(rest.objective, abs=1e-11)
    assert np.isfinite(Profile(data.rows(), firth=True).limits()).all()


def test_flic_makes_the_mean_probability_that_of_the_rows():
    data = sample()
    problem = Problem(data.X, data.signs, 0.0, "log", penalty="flic")
    found, firth = firth_solution(problem), fit_likelihood(data.rows())
    np.testing.assert_allclose(found.beta, firth.theta[1:], rtol=1e-12)
    assert found.alpha != firth.theta[0]
    expected = np.mean(data.signs > 0.0)
    mean = np.mean(expit(data.X @ found.beta + found.alpha))
    assert mean == pytest.approx(expected, rel=1e-12)

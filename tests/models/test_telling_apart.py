"""The hinge where predictors hardly tell the levels apart: resamples by default."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.groups import Groups
from pegasos_stats.errors import UndefinedMetricWarning
from pegasos_stats.models.inference import choosing
from pegasos_stats.models.inference.bootstrap_options import Bootstrap
from pegasos_stats.models.inference.joint_tests import resampled_test
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.telling_apart import gain_of, hardly_told
from pegasos_stats.solvers.problem import Problem, Solution
from tests.models.fitted_problems import at

TIGHT = ps.SDCA(tol=1e-8, epochs=2000, seed=1)
FEWER = Bootstrap(79, seed=1, interval="symmetric")
LEVEL = 0.05 + 1e-9  # which p-values from 79 resamples can be


def noise(seed, p=1, n=400, shift=0.0, rare=0.5):
    """Rows of two normal classes whose first means differ by `shift`."""
    y = np.where(np.arange(n) < round(rare * n), 1.0, -1.0)
    X = np.random.default_rng(seed).standard_normal((n, p))
    X[:, 0] += shift * y / 2.0
    return X, y


def by_default(X, y, **options):
    """The fit with its default errors; resamples are fewer, for time."""
    result = ps.SVM(y, X, lam=0.01, **options).fit(TIGHT)
    return result.with_covariance(FEWER) if is_resampled(result) else result


def is_resampled(result):
    return isinstance(result.cov_type, Bootstrap)


@pytest.mark.parametrize("p", [1, 3])
@pytest.mark.parametrize("rare", [0.5, 0.3])
def test_tests_of_predictors_without_effect_keep_their_level(p, rare):
    """The formula rejects in some 90% of such samples.

    Of 20 samples a test of 5% rejects 5 or more with a probability of 0.003.
    """
    single = joint = formula = 0
    for seed in range(20):
        X, y = noise(seed, p, rare=rare)
        result = by_default(X, y, weights=None if rare == 0.5 else "balanced")
        slopes = np.eye(p + 1)[1:]
        single += result.pvalues["x1"] <= LEVEL
        joint += result.wald_test(slopes).pvalue <= LEVEL
        with warnings.catch_warnings():  # where no row is near the margin
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            plain = result.with_covariance(Sandwich())
            formula += plain.wald_test(slopes).pvalue <= LEVEL
    assert single < 5
    assert joint < 5
    assert formula > 12


def test_joint_tests_of_many_predictors_without_effect_keep_their_level():
    """By the covariance of the resamples more than half of such samples are rejected.

    Of 30 samples a test of 5% rejects 6 or more with a probability of 0.003.
    """
    rejected = plainly = 0
    for seed in range(30):
        X, y = noise(seed, 20, n=800)
        found = by_default(X, y).covariance
        assert found.hardly
        given = np.eye(21)[1:], np.zeros(20)
        rejected += resampled_test(found, *given).pvalue <= LEVEL
        plainly += resampled_test(replace(found, hardly=False), *given).pvalue <= LEVEL
    assert rejected < 6
    assert plainly >= 6


def test_effects_are_found_and_large_ones_by_the_formula():
    """By simulation 70% of samples of 300 with a shift of 0.5 are rejected at 5%.

    Of 10 that are rejected by 0.7, fewer than 3 are with a probability of 0.002.
    """
    found = 0
    for seed in range(10):
        result = by_default(*noise(seed, 3, n=300, shift=0.5))
        found += result.pvalues["x1"] <= LEVEL
    assert found >= 3
    assert not is_resampled(ps.SVM(*noise(1, 3, shift=1.5)[::-1], lam=0.01).fit(TIGHT))


@pytest.mark.parametrize(
    ("p", "n"), [(1, 100), (1, 1000), (5, 100), (5, 1000), (20, 300), (30, 300)]
)
@pytest.mark.parametrize("lam", [0.1, 1e-4])
def test_samples_without_effect_are_told_from_those_with_one(p, n, lam):
    for shift, hardly in ((0.0, True), (2.5, False)):
        X, y = noise(7, p, n=n, shift=shift)
        problem, found = at(Problem(X, y, lam=lam))
        assert (hardly_told(problem, found) is not None) == hardly
        assert hardly_told(replace(problem, loss="log"), found) is None


def test_the_gain_is_that_over_the_best_intercept():
    """Rows at 0 and 1; the intercept alone is -1 and costs 2 for each of 100 rows."""
    y = np.where(np.arange(400) < 100, 1.0, -1.0)
    X = (np.arange(400) < 80)[:, None].astype(float)
    fit = Solution(np.array([2.0]), -1.0, np.zeros(400), 0, 0, None)
    gain = gain_of(Problem(X, y, lam=0.1), fit)
    assert gain.share == pytest.approx(80 / 100)  # 20 rows still cost 2
    less = 2.0 * X[:, 0]
    assert gain.errors == pytest.approx(less.mean() / (less.std() / 20.0))
    balanced = np.where(y > 0.0, 2.0, 2.0 / 3.0)
    gain = gain_of(Problem(X, y, lam=0.1, weights=balanced), fit)
    # alone it is 0 and all rows cost 1; now 320 cost nothing, and 20 cost 2
    less = balanced * (1.0 - np.where(np.arange(400) // 20 == 4, 2.0, 0.0))
    apart = less - balanced * less.mean()
    assert gain.share == pytest.approx(less.mean())
    assert gain.errors == pytest.approx(less.mean() / np.sqrt((apart**2).mean() / 400))


def test_rows_of_a_group_are_no_evidence_of_their_own():
    X, y = noise(3, 2, shift=1.0)
    one, found = at(Problem(X, y, lam=0.01))
    again, both = replace(one, X=np.repeat(X, 9, axis=0), y=np.repeat(y, 9)), found
    groups = Groups(("",), (400,), (np.repeat(np.arange(400), 9),))
    errors = gain_of(one, found).errors
    assert gain_of(again, both, groups).errors == pytest.approx(errors)
    assert gain_of(again, both).errors == pytest.approx(3.0 * errors)


def test_a_summary_says_why_rows_are_resampled_or_had_better_be():
    X, y = noise(5, 2)
    result = by_default(X, y)
    assert "have little power" in " ".join(map(str, result.notes_on_errors()))
    plain = result.with_covariance("sandwich")
    (note,) = (note for note in plain.notes_on_errors() if "too little" in note.text)
    assert note.severity == "warning"
    assert "cov_type='default' resamples" in note.written()


def test_rows_in_files_have_a_warning(tmp_path):
    for shift in (0.0, 3.0):
        X, y = noise(5, 2, shift=shift)
        data = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
        data.to_parquet(tmp_path / "rows.parquet")
        result = ps.svm("y ~ a + b", ps.scan(tmp_path / "rows.parquet"), lam=0.01).fit()
        said = [note for note in result.notes_on_errors() if "too little" in note.text]
        assert [note.severity for note in said] == ["warning"] * (shift == 0.0)
        here = ps.svm("y ~ a + b", data, lam=0.01).fit(cov_type="sandwich")
        assert result.covariance.why == here.covariance.why


def test_a_saved_fit_keeps_its_joint_tests(tmp_path):
    X, y = noise(2, 4)
    result = by_default(X, y)
    assert result.covariance.hardly
    ps.save(result, tmp_path / "fit.pegasos")
    loaded = ps.load(tmp_path / "fit.pegasos")
    slopes = np.eye(5)[1:]
    assert loaded.covariance.hardly is True
    assert loaded.wald_test(slopes).pvalue == result.wald_test(slopes).pvalue


def test_one_hypothesis_alone_has_no_factor():
    found = by_default(*noise(2, 4)).covariance
    one, null = np.eye(5)[[2]], np.array([0.4])
    single = found.combined(one).p_values(null)[0]
    assert resampled_test(found, one, null).pvalue == single
    plain = replace(found, agreeing=0.0)
    assert (plain.widening, plain.joint_widening) == (1.0, 1.25)


def test_the_default_is_chosen_by_the_fit():
    X, y = noise(5, 2)
    problem, found = at(Problem(X, y, lam=0.01))
    assert choosing.default_options(problem, found) == Bootstrap(
        999, seed=1, interval="symmetric"
    )
    apart = Solution(np.array([3.0, 0.0]), 0.0, np.zeros(400), 0, 0, None)
    X = X + 2.0 * y[:, None]
    assert choosing.default_options(replace(problem, X=X), apart) == Sandwich()

"""Fits from files: what fits of the same rows in memory are."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan import rows
from pegasos_stats.errors import DataError, OptionError
from tests.scan.scan_files import LAM, SOLVER, frame_of, told_apart

FIRST_SEEN = {"coding": "first-seen", "weights": "balanced"}
CASES = [
    (ps.logit, "y ~ x0 + x1 + x2", {"weights": "balanced"}),
    (ps.svm, "y ~ .", {"weights": {"yes": 3.0, "no": 1.0}, "standardize": True}),
    (ps.svm, "y ~ . - w", {"weights": "w", "coding": ("yes", "no")}),
    (ps.logit, "y ~ log(abs(x0)) + C(k) * x1 + g - 1", {"standardize": True}),
    (ps.svm, "y ~ x0 + x2 + g", {"weights": "w"}),
    (ps.svm, "y ~ x0 + x2 + offset(log(w) * x1)", {"weights": "balanced"}),
    (ps.logit, "y ~ x2 + offset(x1 / 2)", {"offset": "x0"}),
    (ps.svm, "x0 > 0 ~ x1 + ifelse(x2 > 0, 'up', 'down')", FIRST_SEEN),
]


@pytest.fixture(scope="module")
def data():
    return told_apart(frame_of())


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case[1])
def both(request, data, files):
    model, formula, options = request.param
    scan = ps.scan(files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "STREAM_BLOCK", 500)  # several blocks in each piece
        there = model(formula, scan, lam=LAM, **options).fit(SOLVER)
    here = model(formula, data, lam=LAM, **options).fit(SOLVER)
    return there, here


def test_coefficients_are_those_of_rows_in_memory_within_few_reads(both):
    there, here = both
    assert list(there.params.index) == list(here.params.index)
    assert here.coef.abs().max() > 0.1  # 0 is within the bound of a flat fit
    # By strong convexity, of the penalised coefficients.
    apart = sum(np.sqrt(2.0 * each.gap / LAM) for each in both)
    assert np.linalg.norm(there.coef - here.coef) <= apart
    assert there.objective == pytest.approx(here.objective, rel=2e-8)
    assert there.converged
    assert there.relative_gap <= SOLVER.tol
    assert 2 <= there.n_reads <= 8


def test_rows_labels_weights_and_what_was_dropped_are_the_same(both):
    there, here = both
    assert there.nobs == here.nobs
    assert there.coding == here.coding
    assert str(there.dropped) == str(here.dropped)
    assert sorted(there.dropped.missing) == sorted(here.dropped.missing)
    assert (there.problem.y == here.problem.y).all()
    assert np.array_equal(there.problem.weights, here.problem.weights)


@pytest.mark.slow
def test_predictions_on_files_are_those_on_frames(both, data, files):
    there, here = both
    for fitted in both:
        scores = fitted.decision_function(ps.scan(files))
        assert scores.equals(fitted.decision_function(data))
    tables = [there.confusion(rows) for rows in (None, ps.scan(files), data)]
    assert np.array_equal(tables[1].counts, tables[2].counts)
    assert np.array_equal(tables[1].counts[:, :2], tables[0].counts[:, :2])
    assert there.predict(ps.scan(files)).equals(there.predict(data))
    assert here.predict(ps.scan(files)).equals(here.predict(data))


def test_the_order_of_files_and_blocks_does_not_change_the_optimum(data, files):
    forth = ps.svm("y ~ x0 + g", ps.scan(files), lam=LAM).fit(SOLVER)
    back = ps.svm("y ~ x0 + g", ps.scan(files[::-1]), lam=LAM).fit(SOLVER)
    apart = sum(np.sqrt(2.0 * each.gap / LAM) for each in (forth, back))
    assert np.linalg.norm(forth.coef - back.coef) <= apart
    assert apart < 0.1 * np.linalg.norm(forth.coef)


def test_what_needs_rows_in_memory_is_refused(files, data):
    model = ps.svm("y ~ x0 + x1", ps.scan(files), lam=LAM)
    for name, value in {"groups": "k", "trace": True, "test": data}.items():
        with pytest.raises(OptionError, match=f"^{name}="):
            model.fit(**{name: value})
    with pytest.raises(
        OptionError, match=r"^freq_weights='k' needs the rows in memory"
    ):
        ps.svm("y ~ x0", ps.scan(files), freq_weights="k")
    weighted = ps.svm("y ~ x0", data, freq_weights="k", lam=LAM).fit(SOLVER)
    for counts in (None, "k", data["k"], data["k"].to_numpy()):
        with pytest.raises(OptionError, match=r"^freq_weights=.* rows in memory"):
            weighted.confusion(ps.scan(files), freq_weights=counts)
    result = model.fit(SOLVER)
    for ask in (result.predict, result.augment):
        with pytest.raises(DataError, match="in files"):
            ask()


@pytest.mark.parametrize("separated", [False, True])
def test_the_reads_of_maximum_likelihood_are_all_counted(separated, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    y = (x > 0.0) if separated else (x + rng.logistic(size=400) > 0.0)
    pd.DataFrame({"y": y.astype(int), "x": x}).to_parquet(tmp_path / "a.parquet")
    model = ps.logit("y ~ x", ps.scan(tmp_path / "a.parquet"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the classes are separated
        result = model.fit(cov_type="none")
    assert bool(result.problem.lam) == separated
    assert result.n_reads == model.problem.X.n_reads

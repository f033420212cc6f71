"""The hinge with very many rows in memory: few reads, and Newton where these fail."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.reads import in_memory, rows
from pegasos_stats.solvers.reads.in_memory import FewReads
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import Plain
from pegasos_stats.solvers.sdca_run import run_of, run_sdca
from pegasos_stats.solvers.sdca_steps import Narrow, run_epochs

TOL = 1e-8


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch):
    monkeypatch.setattr(in_memory, "FEWEST", 1000)
    monkeypatch.setattr(in_memory, "MANY", 300)
    monkeypatch.setattr(rows, "NUMBERS", 2000)  # blocks of 500 rows of 4


def data(n=3000, p=4, noise=0.5, shift=-0.2):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, p))
    scores = X @ rng.standard_normal(p) + shift + noise * rng.standard_normal(n)
    return X, np.where(scores > 0.0, 1.0, -1.0)


def problems():
    X, y = data()
    rng = np.random.default_rng(6)
    weights = rng.exponential(size=y.size)
    weights[::20] = 0.0
    weights /= weights.mean()
    heavy = np.where(np.arange(y.size) == 7, 1000.0, 1.0)
    offset = rng.standard_normal(y.size)
    apart, sides = data(noise=0.0)
    rare = np.where(np.arange(y.size) < 30, 1.0, -1.0)
    yield "plain", Problem(X, y, 1e-3)
    yield "single", Problem(X.astype(np.float32), y, 1e-3)
    yield "through zero", Problem(X, y, 1e-4, intercept=False)
    yield "weights", Problem(X, y, 1e-4, weights=weights)
    yield "one heavy row", Problem(X, y, 1e-3, weights=heavy / heavy.mean())
    yield (
        "one class weightless but once",
        Problem(X, y, 1e-3, weights=weights_of_one(y)),
    )
    yield "offset", Problem(X, y, 1e-3, offset=offset)
    yield "offset through zero", Problem(X, y, 1e-3, intercept=False, offset=offset)
    yield "ties", Problem(np.round(X), y, 1e-3)
    yield "repeated", Problem(np.column_stack([X, X, np.ones(3000)]), y, 1e-4)
    yield "sorted", Problem(X[np.argsort(y)], np.sort(y), 1e-3)
    yield "far", Problem(X + 1e8, y, 1e-3)
    yield "one label only twice", Problem(X, np.r_[1, 1, -np.ones(2998)], 1e-3)
    yield "all margins near 1", Problem(0.01 * X, rare, 1e-1)
    yield "large penalty", Problem(X, y, 1e3)
    yield "small penalty", Problem(X, y, 1e-8)
    yield "separable", Problem(apart, sides, 1e-6)


def weights_of_one(y):
    w = np.where(y > 0.0, 0.0, 1.0)
    w[np.flatnonzero(y > 0.0)[3]] = 5.0
    return w / w.mean()


@pytest.mark.parametrize(("name", "problem"), list(problems()))
def test_the_optimum_is_that_of_the_other_way(name, problem):
    solver = SDCA(tol=TOL, seed=1)
    assert run_of(problem, solver, None) is FewReads
    found = run_sdca(problem, solver)
    at = certificate(problem, found.beta, found.alpha, found.dual)
    if name != "far":  # whose certificate is that of centred columns
        assert at.gap <= TOL * at.objective
    other, _ = run_epochs(Narrow(problem, solver, None), problem.n, solver)
    there = certificate(problem, other.beta, other.alpha, other.dual)
    assert at.dual_objective <= there.objective  # both bound the same minimum
    assert there.dual_objective <= at.objective
    assert (found.dual >= 0.0).all()
    assert (found.dual <= problem.row_weights).all()


def test_it_is_the_way_of_dense_rows_that_start_from_nothing_to_a_tolerance():
    X, y = data(1200)
    solver, many = SDCA(seed=1), Problem(X, y, 1e-3)
    assert run_of(many, solver, None) is FewReads
    assert run_of(Problem(X[:1199], y[:1199], 1e-3), solver, None) is Narrow
    assert run_of(Problem(csr_array(X), y, 1e-3), solver, None) is Narrow
    assert run_of(many, solver, np.zeros(1200)) is Narrow
    assert run_of(many, SDCA(start="sgd", seed=1), None) is Narrow
    assert run_of(many, SDCA(tol=0, seed=1), None) is Narrow
    assert run_of(many, SDCA(algorithm="perm", seed=1), None) is Plain
    assert run_of(many, SDCA(tol=0, gap_tol=1e-3, seed=1), None) is FewReads


@pytest.mark.parametrize("weighted", [False, True])
def test_no_bit_depends_on_the_number_of_threads(weighted):
    X, y = data()
    w = np.random.default_rng(1).exponential(size=y.size) if weighted else None
    problem = Problem(X, y, 1e-3, weights=None if w is None else w / w.mean())
    solver, found = SDCA(tol=TOL, seed=1), []
    for workers in (1, 2, 5):
        run = FewReads(problem, solver, None, workers)
        found.append(run_epochs(run, problem.n, solver)[0])
    for other in found[1:]:
        assert np.array_equal(found[0].beta, other.beta)
        assert np.array_equal(found[0].dual, other.dual)
        assert found[0].alpha == other.alpha


def test_every_epoch_is_told_and_being_told_changes_nothing():
    problem, seen = Problem(*data(), 1e-3), []
    found = run_sdca(problem, SDCA(tol=TOL, seed=1), seen.append)
    alone = run_sdca(problem, SDCA(tol=TOL, seed=1))
    assert np.array_equal(found.beta, alone.beta)
    assert np.array_equal(found.dual, alone.dual)
    assert [moment.epoch for moment in seen] == list(range(1, len(seen) + 1))
    assert [moment.solution.n_iter for moment in seen] == [
        3000 * moment.epoch for moment in seen
    ]
    ats = [
        certificate(problem, each.beta, each.alpha, each.dual)
        for each in (moment.solution for moment in seen)
    ]
    assert all(at.dual_objective <= ats[-1].objective for at in ats)
    assert all(at.gap > TOL * at.objective for at in ats[:-1])
    violations = [moment.solution.n_violations for moment in seen]
    assert all(np.diff([0, *violations]) >= 0)


def test_a_limit_of_epochs_is_a_limit_of_reads():
    problem = Problem(*data(), 1e-3)
    with pytest.warns(ConvergenceWarning, match="after 1 epoch"):
        found = run_sdca(problem, SDCA(epochs=1, tol=TOL, seed=1))
    assert found.n_iter == problem.n


def test_a_seed_that_was_drawn_repeats_the_fit():
    problem = Problem(*data(), 1e-3)
    found = run_sdca(problem, SDCA(tol=TOL))
    again = run_sdca(problem, SDCA(tol=TOL, seed=found.seed))
    assert np.array_equal(found.beta, again.beta)


def test_with_too_many_rows_near_the_margin_no_row_is_kept():
    y = np.where(np.arange(3000) < 30, 1.0, -1.0)
    problem = Problem(0.01 * data()[0], y, 1e-1)  # alpha is -1 nearly
    solver, seen = SDCA(tol=TOL, seed=1), []
    found = run_sdca(problem, solver, seen.append)
    first, second = (moment.solution for moment in seen[:2])
    assert (first.n_iter, second.n_iter) == (0, 3000)
    other, _ = run_epochs(Narrow(problem, solver, None), 3000, solver)
    assert found.n_iter == other.n_iter


def test_where_reads_come_to_no_end_the_other_steps_go_on(monkeypatch):
    monkeypatch.setattr(in_memory, "MOST_READS", 1)
    problem, seen = Problem(*data(), 1e-3), []
    found = run_sdca(problem, SDCA(tol=TOL, seed=1), seen.append)
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.gap <= TOL * at.objective
    assert [moment.solution.n_iter for moment in seen[:2]] == [3000, 6000]


def test_a_model_says_the_same_as_with_the_other_steps(monkeypatch):
    X, y = data()
    fits = []
    for fewest in (1000, 10**6):
        monkeypatch.setattr(in_memory, "FEWEST", fewest)
        model = ps.SVM(y, X, lam=1e-2, freq_weights=np.where(np.arange(3000) % 3, 1, 2))
        fits.append(model.fit(ps.SDCA(tol=1e-10, seed=1), trace=True))
    few, other = fits
    # By strong convexity each is within sqrt(2 gap / lam) of the optimum.
    apart = sum(np.sqrt(2.0 * fit.gap / 1e-2) for fit in fits)
    assert np.abs(few.params[1:] - other.params[1:]).max() <= apart
    assert few.converged
    # coefficients that differ in the fifth digit move densities at the margin so little
    np.testing.assert_allclose(few.bse, other.bse, rtol=1e-2)
    assert few.trace["epoch"].tolist() == list(range(1, len(few.trace) + 1))
    assert few.trace["gap"].iloc[-1] == few.gap
    assert "Duality gap" in str(few.summary(details=True))


def test_refining_goes_on_from_pegasos_as_before():
    X, y = data()
    model = ps.SVM(y, X, lam=1e-3)
    refined = model.fit(ps.Pegasos(epochs=1, seed=1), refine=1e-6)
    assert refined.relative_gap <= 1e-6
    assert refined.n_iter > 3000

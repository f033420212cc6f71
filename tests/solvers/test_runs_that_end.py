"""Runs of Pegasos that end at a tolerance, and what is said and kept of them."""

import warnings

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning
from pegasos_stats.solvers.solver_runs import certificate_of
from tests.solvers.few_pixels import K, N, quietly, same_bits, sparse, svm


@pytest.mark.parametrize("model", [svm, sparse])
def test_a_run_ends_after_the_first_epoch_with_so_small_a_gap(model):
    made = model(lam=20.0)
    plain = made.fit(ps.Pegasos(30, seed=4), trace=True).trace
    relative = plain["gap"] / plain["objective"]
    for tol in (0.5, 0.2, 0.1):
        epochs = int(np.argmax(relative <= tol)) + 1
        assert relative.min() <= tol
        found = made.fit(ps.Pegasos(30, seed=4, tol=tol), trace=True)
        assert found.n_epochs == len(found.trace) == epochs
        assert found.n_iter == epochs * N
        assert found.converged is True
        same = made.fit(ps.Pegasos(epochs, seed=4))
        assert same_bits(found.params, same.params)


@pytest.mark.parametrize("average", ["none", "all"])
def test_a_run_ends_after_the_first_epoch_that_changes_little(average):
    made, seen = svm(lam=5.0), []
    options = {"seed": 4, "average": average, "refit_intercept": True}
    made.solve(ps.Pegasos(40, **options), lambda m: seen.append(m.solution))
    params = np.array([[0.0] * K, *([s.alpha, *s.beta] for s in seen)])
    change = np.abs(np.diff(params, axis=0)).max(axis=1) / np.abs(params[1:]).max(
        axis=1
    )
    for change_tol in (0.2, 0.05, float(change[5])):
        epochs = int(np.argmax(change <= change_tol)) + 1
        found = made.fit(ps.Pegasos(change_tol=change_tol, **options))
        assert found.n_epochs == epochs < 1000
        assert found.converged is True
        assert made.fit(ps.Pegasos(epochs, **options)).converged is None


def test_drawn_steps_end_after_a_portion_of_about_n():
    made = svm(lam=20.0)
    solver = ps.Pegasos(order="replace", steps=900, batch_size=3, tol=0.9, seed=1)
    found = made.fit(solver)
    assert found.n_epochs >= 1
    assert found.n_iter == found.n_epochs * (N // 3) < 900
    capped = quietly(made, ps.Pegasos(order="replace", steps=450, tol=1e-9, seed=1))
    assert (capped.n_epochs, capped.n_iter) == (3, 450)


WARNED = {
    "tol": ps.Pegasos(2, seed=1, tol=1e-6),
    "change_tol": ps.Pegasos(1, seed=1, change_tol=0.25),
    "both": ps.Pegasos(1, seed=1, tol=0.001, change_tol=0.25),
}


@pytest.mark.parametrize("name", WARNED)
def test_a_run_that_ends_at_its_limit_warns_and_its_cure_works(name):
    solver, made = WARNED[name], svm()
    with pytest.warns(ConvergenceWarning) as caught:
        found = made.fit(solver)
    (message,) = (str(warning.message) for warning in caught)
    if name != "change_tol":
        assert f"the relative gap is {found.relative_gap:.2g}" in message
    assert found.converged is False
    assert found.n_epochs == solver.epochs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cured = made.fit(solver, refine=solver.tol or 1e-6)
    assert cured.converged is True


def test_certificates_of_the_run_are_those_it_ended_by():
    made = svm(lam=20.0)
    found = made.fit(ps.Pegasos(seed=4, tol=0.5))
    at = certificate_of(made.problem, found.solution)
    assert at.relative_gap <= 0.5
    assert found.relative_gap <= at.relative_gap


def test_limits_of_epochs():
    assert ps.Pegasos(tol=0.1).epochs == ps.Pegasos(change_tol=0.1).epochs == 1000
    assert ps.Pegasos(order=[1, 0], tol=0.1).epochs == 1000
    assert ps.Pegasos(7, tol=0.1).epochs == 7
    assert ps.Pegasos().epochs == 20
    assert ps.Pegasos(order=[1, 0]).epochs == 1

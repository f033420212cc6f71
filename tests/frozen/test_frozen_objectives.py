"""Objectives and coefficients at the optimum are what they were, to their certificates.

Runs of Pegasos and of SDCA-perm are frozen in every bit by ``tests/parity``, which
compares them with the golden files that R wrote (``r_reference/golden``): both losses,
batches, projection, averages, orders, weights, offsets, steps, starts, sparse rows.
"""

import numpy as np
import pytest

from tests.frozen.fits import FITS, KERNEL_TOL, KERNELS, TOL
from tests.frozen.rows import read

FROZEN = read("objectives")
FORMULA_RTOL = 1e-13  # sums of up to 50,000 terms, in another order


@pytest.fixture(scope="module", params=FITS)
def pair(request):
    """A fit, and its frozen values."""
    return FITS[request.param](), FROZEN[request.param], request.param


def test_every_fit_is_frozen_and_no_other():
    assert list(FROZEN) == list(FITS)
    assert len(FITS) >= 60


def test_the_fit_is_certified(pair):
    fit, _, name = pair
    assert fit.result.converged
    assert fit.result.relative_gap <= (KERNEL_TOL if name in KERNELS else TOL)


def test_the_objective_is_that_of_its_formula(pair):
    fit, _, _ = pair
    assert fit.result.objective == pytest.approx(fit.objective, rel=FORMULA_RTOL)


def test_the_objective_is_the_frozen_one(pair):
    """Both are certified: the minimum is below either by its gap at most."""
    fit, frozen, _ = pair
    allowed = fit.result.gap + frozen["gap"]
    assert abs(fit.result.objective - frozen["objective"]) <= allowed


def test_the_coefficients_are_the_frozen_ones(pair):
    """By strong convexity each is within ``sqrt(2 gap / lam)`` of the optimum.

    The intercept is not penalised: what the gap allows it is in the objective alone.
    """
    fit, frozen, name = pair
    gaps = np.array([fit.result.gap, frozen["gap"]])
    allowed = fit.reach * np.sqrt(2.0 * gaps / fit.result.problem.lam).sum()
    change = fit.position - np.array(frozen["position"])
    size = np.abs(change).max() if name in KERNELS else np.linalg.norm(change)
    assert size <= allowed

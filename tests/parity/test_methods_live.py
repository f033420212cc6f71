"""Tables of the R package for broom, anova() and influence, and those of Python."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.parity.linear_fits import frame_of, hand_over, in_both, without_warnings

RTOL = 1e-8  # without a penalty both sides are at the optimum to rounding
FORMULA = "y ~ x * z + g"
KINDS = ["likelihood", "ridge", "firth", "flic"]


@pytest.fixture
def data(r):
    frame = frame_of(6, 120)
    hand_over(r, frame)
    return frame


def both(r, data, kind, formula=FORMULA, **choice):
    """Python's fit; R's is `fit`."""
    return in_both(r, data, kind, formula, 1e-13 if kind == "ridge" else None, **choice)


def close(ours, theirs, rtol=RTOL):
    """NaN with NA."""
    np.testing.assert_allclose(
        np.asarray(ours, float), np.asarray(theirs, float), rtol=rtol, atol=rtol
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_coefficients_as_a_data_frame(r, data, kind):
    ours = both(r, data, kind)
    limits = "conf.int = TRUE" if kind != "flic" else "conf.int = FALSE"
    theirs = r.eval(f"as.matrix(tidy.linear_results(fit, {limits})[-1])")
    close(ours.tidy().iloc[:, 1 : 1 + theirs.shape[1]], theirs, 1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_as_one_row(r, data, kind):
    ours = both(r, data, kind).glance().iloc[0]
    names = ["null_deviance", "df_null", "llf", "aic", "bic", "deviance", "df_residual"]
    theirs = r.eval("unlist(glance.linear_results(fit))")
    close(ours[[*names, "nobs", "lam"]], theirs[:9])


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_as_a_data_frame(r, data, kind):
    ours = both(r, data, kind)
    columns = "c('.fitted', '.resid', '.hat', '.cooksd')"
    theirs = r.eval(f"as.matrix(augment.linear_results(fit)[{columns}])")
    scores, table = ours.decision_function(), ours.augment()
    # With a penalty coefficients are known to sqrt(2 gap / lam) = 2e-6 at most.
    rtol = 1e-6 if kind == "ridge" else RTOL
    close(np.column_stack([scores, table[["resid", "hat", "cooks_d"]]]), theirs, rtol)


@pytest.mark.parametrize("kind", ["likelihood", "ridge"])
def test_standard_errors_of_new_rows(r, data, kind):
    ours = both(r, data, kind).augment(data.iloc[:9], se_fit=True)["score_se"]
    call = "augment.linear_results(fit, newdata = data[1:9, ], se_fit = TRUE)"
    close(ours, r.eval(f"{call}$.se.fit"), 1e-7)


def test_likelihood_ratios_of_nested_models(r, data):
    small = both(r, data, "likelihood", "y ~ x")
    r.eval("small <- fit\nNULL")
    ours = ps.anova(small, both(r, data, "likelihood")).table.iloc[:, 1:]
    theirs = r.eval("as.matrix(anova.linear_results(small, fit))")
    close(ours[["df_residual", "deviance", "df", "statistic", "p_value"]], theirs)


@pytest.mark.parametrize("kind", ["likelihood", "ridge", "firth"])
def test_wald_tests_of_terms(r, data, kind):
    choice = {} if kind == "firth" else {"cov_type": "nonrobust"}
    ours = both(r, data, kind, **choice).wald_test_terms()
    V = 'vcov.linear_results(fit, "nonrobust")'
    theirs = r.eval(f'as.matrix(Anova.linear_results(fit, "III", vcov. = {V}))')
    close(ours[["df", "statistic", "p_value"]], theirs, 1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_variance_inflation(r, data, kind):
    ours = both(r, data, kind).vif()
    close(ours[["vif", "df", "vif_root"]], r.eval("vif.linear_results(fit)"))


def test_the_larger_of_two_maxima_with_firths_penalty(r):
    data = pd.DataFrame(
        {
            "x": [4.0, -5.0, -5.0, 1.0, 5.0, 4.0, 1.0],
            "z": [0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 1.0],
            "o": [-4.0, 3.0, 4.0, -2.0, 3.0, -3.0, 0.0],
            "y": [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        }
    )
    hand_over(r, data)
    ours = both(r, data, "firth", "y ~ x + z + offset(o)")
    close(ours.params, r.eval("coef(fit)"))
    maxima = r.eval(
        "columns <- standardized_design(fit$X, fit$weights, TRUE)$Z\n"
        "problem <- list(Z = columns, y = fit$y, w = fit$weights, offset = fit$offset,"
        " firth = TRUE)\n"
        "sapply(firth_starts(problem), function(start) maximise(problem, start)$value)"
    )
    assert maxima[0] - maxima[1] > 1.0
    assert r.eval("fit$step")[0] < 1e-6


@without_warnings
@pytest.mark.parametrize("penalty", ["firth", "flic"])
@pytest.mark.parametrize("seed", range(20))
def test_estimates_of_few_rows_with_firths_penalty(r, seed, penalty):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    data = pd.DataFrame({"x": 3.0 * rng.normal(size=n), "z": rng.integers(0, 4, n)})
    data["z"] = data["z"].astype(float)
    data["y"] = (2.0 * data.x - data.z + rng.logistic(size=n) > 0.0) + 0.0
    data.loc[:1, "y"] = 1.0, 0.0
    hand_over(r, data)
    ours = both(r, data, penalty, "y ~ x + z")
    close(ours.params, r.eval("coef(fit)"))

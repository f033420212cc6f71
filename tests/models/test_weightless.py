"""Rows of weight 0 are visited by a fit and say nothing: they count for none."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import pegasos_stats as ps

TIGHT = ps.Optimum(tol=1e-12, epochs=2000, seed=1)
# Two fits to the same optimum, each within its gap.
NEAR = {"rtol": 1e-4, "atol": 1e-6}


def frames(seed=9, n=100, more=300):
    """Rows, and the same with others of weight 0 between them, all labelled 'q'."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    rows["y"] = np.where(rows["x"] + rng.logistic(size=n) > 0.0, "q", "p")
    rows["w"], rows["g"] = rng.uniform(0.5, 2.0, n), np.arange(n) % 20
    empty = rows.sample(more, replace=True, random_state=1).assign(w=0.0, y="q", g=99)
    both = pd.concat([rows, empty], ignore_index=True)
    return rows, both.sample(frac=1.0, random_state=2).sort_values("w", kind="stable")


def fitted(model, frame, cov_type="default", groups=None):
    given = {"cov_type": cov_type, "groups": groups}
    return model("y ~ x + z", frame, lam=0.01, weights="w").fit(TIGHT, **given)


KINDS = [
    *((ps.logit, kind) for kind in ("default", "HC0", "HC1", "HC2", "HC3")),
    (ps.svm, "sandwich"),
]


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_errors_and_tests_are_those_without_them(model, kind):
    one, other = (fitted(model, frame, kind) for frame in frames())
    assert one.cov_type == other.cov_type
    assert (one.nobs, other.nobs) == (100, 100)
    np.testing.assert_allclose(one.params, other.params, **NEAR)
    np.testing.assert_allclose(one.bse, other.bse, **NEAR)
    np.testing.assert_allclose(one.conf_int(), other.conf_int(), **NEAR)
    both = [fit.wald_test("x = 0, z = 0") for fit in (one, other)]
    # A p-value changes by more than the statistic, which is as near as NEAR.
    assert both[0].pvalue == pytest.approx(both[1].pvalue, rel=1e-3)
    assert both[0].df_denom == pytest.approx(both[1].df_denom)


def test_the_likelihood_is_that_of_the_rows_with_weight():
    rows, both = (frame.assign(w=(frame["w"] > 0.0) * 1.0) for frame in frames())
    peer = sm.Logit(rows["y"] == "q", sm.add_constant(rows[["x", "z"]]))
    at = peer.fit(disp=0, cov_type="HC0")
    model = ps.logit("y ~ x + z", both, lam=1e-9, weights="w")
    found = model.fit(TIGHT, cov_type="HC0")
    # Both are within the gap of the maximum.
    likelihoods = found.llf, found.llnull
    assert likelihoods == pytest.approx((at.llf, at.llnull), rel=1e-8)
    assert (found.aic, found.bic) == pytest.approx((at.aic, at.bic), rel=1e-5)
    assert found.df_resid == at.df_resid
    np.testing.assert_allclose(found.bse, at.bse, rtol=1e-4)  # as the coefficients


def assert_same_tables(one, other):
    table = one.training_table.counts
    for found in (one.confusion(), other.confusion(), other.training_table):
        assert (found.counts == table).all()
    assert one.glance()["error_rate"][0] == other.glance()["error_rate"][0]


@pytest.mark.parametrize("model", [ps.logit, ps.svm])
def test_tables_of_training_rows_leave_them_out(model, tmp_path):
    one, other = (fitted(model, frame) for frame in frames())
    assert_same_tables(one, other)
    text = str(other.summary(details=True))
    assert "No. Observations:                  100" in text
    assert "Rows of weight 0:                  300" in text
    assert "Rows of weight 0" not in str(one.summary(details=True))
    ps.save(other, tmp_path / "fit.model")
    loaded = ps.load(tmp_path / "fit.model")
    assert loaded.nobs == 100
    pd.testing.assert_frame_equal(loaded.glance(), other.glance())
    pd.testing.assert_frame_equal(loaded.tidy(), other.tidy())
    assert len(other.augment()) == 400


def test_files_count_them_for_none(tmp_path):
    found = []
    for i, frame in enumerate(frames()):
        frame.to_csv(tmp_path / f"{i}.csv", index=False)
        scan = ps.scan(tmp_path / f"{i}.csv")
        model = ps.logit("y ~ x + z", scan, weights="w", lam=1.0)
        found.append(model.fit(ps.Optimum(tol=1e-10, seed=1)))
    one, other = found
    assert (one.nobs, other.nobs) == (100, 100)
    np.testing.assert_allclose(one.bse, other.bse, **NEAR)
    assert one.llf == pytest.approx(other.llf, rel=1e-6)  # of the gap
    assert_same_tables(one, other)


def test_groups_without_weight_are_none():
    one, other = (fitted(ps.logit, frame, "cluster", "g") for frame in frames())
    np.testing.assert_allclose(one.bse, other.bse, **NEAR)
    assert one.t_test("x = 0").df_denom == other.t_test("x = 0").df_denom == 19

"""Predictors that are linear combinations of others are named, by one rule."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import pegasos_stats as ps
from pegasos_stats.errors import UndefinedMetricWarning

CASES = [(ps.logit, "default"), (ps.svm, ps.Bootstrap(49)), (ps.svm, "sandwich")]
INVOLVED = {
    "y ~ x + twice + z": ["Intercept", "x", "twice"],
    "y ~ u + v + w + z": ["Intercept", "u", "v", "w"],
    "y ~ cr(z, df=3) + x": ["Intercept", *(f"cr(z, df=3)[{i}]" for i in (1, 2, 3))],
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(400, 2)), columns=["x", "z"])
    data["y"] = (data["x"] + rng.logistic(size=400) > 0.3).astype(int)
    level = rng.choice(list("uvw"), 400)
    data = data.assign(**{u: (level == u).astype(float) for u in "uvw"})
    return data.assign(twice=2.0 * data["x"] + 1.0, copy=data["x"], c=0.1)


def named(result):
    return [n.text for n in result.notes_on_errors() if n.topic == "columns"]


@pytest.mark.parametrize(("model", "kind"), CASES)
def test_a_copy_is_named(model, kind, data, tmp_path):
    fit = model("y ~ x + z + copy + c", data, lam=0.01).fit(cov_type=kind)
    (note,) = named(fit)
    assert note.startswith("'copy' is a linear combination of 'x': ")
    assert np.isfinite(fit.bse).all()
    ps.save(fit, tmp_path / "fit")
    assert named(ps.load(tmp_path / "fit")) == [note]
    assert named(fit.model.fit(cov_type=kind)) == [note]
    assert not named(model("y ~ x + z + c", data, lam=0.01).fit(cov_type=kind))


@pytest.mark.parametrize("formula", INVOLVED)
def test_a_penalty_that_is_too_small_leaves_no_error_of_what_it_alone_decides(
    formula, data
):
    fit = ps.logit(formula, data, lam=1e-9).fit(cov_type="nonrobust")
    with pytest.warns(UndefinedMetricWarning, match="is a linear combination of"):
        errors = fit.bse
    involved = INVOLVED[formula]
    assert errors.index[errors.isna()].tolist() == involved
    (note,) = named(fit)
    assert repr(involved[-1]) in note
    strong = ps.logit(formula, data).fit()
    assert np.isfinite(strong.bse).all()
    assert named(strong)


def test_what_is_determined_has_the_errors_of_the_model_without_the_column(data):
    fit = ps.logit("y ~ x + twice + z", data, lam=1e-9).fit(cov_type="nonrobust")
    peer = smf.logit("y ~ x + z", data).fit(disp=0)
    with pytest.warns(UndefinedMetricWarning):
        found = fit.t_test(["Intercept + twice = 0", "x + 2 * twice = 0", "z = 0"])
    # lam moves coefficients by 1e-9 n of their squares of errors.
    np.testing.assert_allclose(found.effect, peer.params, rtol=1e-5)
    np.testing.assert_allclose(found.sd, peer.bse, rtol=1e-5)
    np.testing.assert_allclose(found.pvalue, peer.pvalues, rtol=1e-4)


@pytest.mark.parametrize("lam", [0.01, 1e-9])
def test_rows_in_files_name_the_same(lam, data, tmp_path):
    data.to_parquet(tmp_path / "rows.parquet")
    for model, kind in ((ps.logit, "default"), (ps.svm, "sandwich")):
        here, there = (
            model(
                "y ~ x + z + twice", rows, lam=max(lam, 1e-4 * (model is ps.svm))
            ).fit(cov_type=kind)
            for rows in (data, ps.scan(tmp_path / "rows.parquet"))
        )
        assert named(there) == named(here) != []


def test_terms_have_the_law_of_their_statistic(data):
    fit = ps.logit("y ~ C(u + 2 * v) + z", data).fit()
    terms = fit.wald_test_terms().set_index("term")
    assert terms["distribution"].tolist() == ["chi2", "F", "chi2"]
    assert np.isinf(terms.loc["z", "df_denom"])
    fit = fit.with_covariance("cluster", groups=np.arange(400) // 10)
    assert set(fit.wald_test_terms()["distribution"]) == {"F"}
    assert "t on 39 degrees of freedom" in " ".join(fit.summary().notes)

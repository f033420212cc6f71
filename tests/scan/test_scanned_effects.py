"""Effects, thresholds and words of fits from files: their rows are elsewhere."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from tests.scan.scan_files import frame_of, told_apart, written

FORMULA = "y ~ x0 + log(x1 + 9) + g"


@pytest.fixture(scope="module")
def data():
    return told_apart(frame_of(1200)).dropna().reset_index(drop=True)


@pytest.fixture(scope="module")
def scan(data, tmp_path_factory):
    return ps.scan(written(data, tmp_path_factory.mktemp("effects"), 2))


@pytest.fixture(scope="module")
def both(data, scan):
    solver = ps.Optimum(tol=1e-10, seed=1)
    fitted = {
        model: [model(FORMULA, rows, lam=0.01).fit(solver) for rows in (scan, data)]
        for model in (ps.logit, ps.svm)
    }
    return fitted | {"model": ps.logit(FORMULA, scan, lam=0.01)}


def check_estimates(found, expected, **close):
    for name in ("effect", "sd"):
        pair = getattr(found.estimates, name), getattr(expected.estimates, name)
        np.testing.assert_allclose(*pair, **close)


@pytest.mark.parametrize("model", [ps.logit, ps.svm])
def test_effects_on_new_rows_are_those_of_the_fit_in_memory(both, data, model):
    there, here = both[model]
    assert here.coef.abs().max() > 0.5  # effects are not those of a flat fit
    new = data.head(150)
    for ask in ("margins", "predictions"):
        found = getattr(there, ask)("g", new)
        of_shares = model is ps.svm
        there_too = here.with_covariance("none" if of_shares else "HC3")
        expected = getattr(there_too, ask)("g", new)
        assert found.keys.equals(expected.keys)
        # sqrt(2 gap / lam) of coefficients, with relative gaps of 1e-10
        check_estimates(found, expected, atol=1e-4)
        if of_shares:
            assert np.isnan(found.estimates.sd).all()
        else:
            assert (found.estimates.sd > 0.0).all()
            assert found.notes == expected.notes


SAVED = [
    (ps.logit, "HC0", True),
    (ps.svm, "sandwich", False),  # whose shares need resamples
    (ps.svm, "none", False),
    (ps.svm, ps.Bootstrap(5), True),
]


@pytest.mark.parametrize("case", SAVED)
def test_a_loaded_fit_has_effects_on_new_rows(both, data, tmp_path, case):
    model, cov_type, known = case
    fit, path = both[model][1].with_covariance(cov_type), tmp_path / "a.npz"
    if cov_type != "none":
        assert fit.bse.notna().all()
    ps.save(fit, path)
    loaded = ps.load(path)
    with pytest.raises(DataError, match="data="):
        loaded.margins()
    found = loaded.margins("g", data.head(50))
    assert any("There are no standard errors" in n for n in found.notes) != known
    with_it = fit if known else fit.with_covariance("none")
    expected = with_it.margins("g", data.head(50))
    check_estimates(found, expected, rtol=1e-12)  # sums in another order


def test_rows_are_those_of_the_fit_by_what_they_are_not_by_their_path(data, tmp_path):
    for name in ("rows", "copy"):
        data.to_parquet(tmp_path / f"{name}.parquet", index=False)
    result = ps.svm(FORMULA, ps.scan(tmp_path / "rows.parquet"), lam=0.01).fit()
    scans = [ps.scan(tmp_path / f"{name}.parquet") for name in ("rows", "copy")]
    for again in (data, *scans):
        assert result.confusion(again).source == "training"
    changed = data.assign(x0=data["x0"] + 0.1)
    changed.to_parquet(tmp_path / "rows.parquet", index=False)
    for new in (changed, ps.scan(tmp_path / "rows.parquet")):
        assert result.confusion(new).source == "new"


@pytest.mark.parametrize("model", [ps.logit, ps.svm])
def test_a_constant_column_of_files_has_no_error(model, data, tmp_path):
    data.assign(one=3.0).to_parquet(tmp_path / "rows.parquet", index=False)
    scan = ps.scan(tmp_path / "rows.parquet")
    kind = "HC3" if model is ps.logit else "sandwich"
    fit = model("y ~ x0 + one + x1", scan, lam=0.01).fit(cov_type=kind)
    found = fit.tidy().set_index("term")
    assert found.loc["one"].isna().all()
    without = model("y ~ x0 + x1", scan, lam=0.01).fit(cov_type=kind).bse
    # Both fits are within 1e-6 of the optimum, and near it errors change smoothly.
    np.testing.assert_allclose(found["std_error"].drop("one"), without, rtol=1e-2)

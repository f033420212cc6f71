"""`standardize=True` beside weights: a weight of 2 is two rows, at every door."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.data.design import moments
from pegasos_stats.sklearn import KernelSVMClassifier, LogitClassifier, SVMClassifier

# Sums of weighted squares and of repeated rows are rounded differently.
SAME = {"rtol": 1e-12, "atol": 1e-12}
# Coefficients are within sqrt(2 gap / lam) of the minimum, 6.3e-6 with lam 0.05.
FIT = {"rtol": 1e-4, "atol": 1e-5}
EXACT = ps.Optimum(tol=0, gap_tol=1e-12, seed=1)


RNG = np.random.default_rng(2)
DATA = pd.DataFrame(RNG.gamma(1.0, [1.0, 30.0, 0.2], size=(90, 3)), columns=list("abc"))
DATA["y"] = np.where(DATA["a"] + RNG.normal(size=90) > 1.0, "yes", "no")
DATA["w"] = RNG.integers(0, 4, size=90)
REPEATED = DATA.loc[DATA.index.repeat(DATA["w"])]
FORMULA = "y ~ a + b + c"


def test_moments_are_those_of_repeated_rows():
    w = DATA["w"].to_numpy(dtype=float)
    X = DATA[["a", "b", "c"]].to_numpy()
    again = X.repeat(DATA["w"], axis=0)
    for one, two in ((X, again), (csr_array(X), csr_array(again))):
        found = moments(one, w / w.mean(), w.sum())
        np.testing.assert_allclose(found[0], again.mean(axis=0), **SAME)
        np.testing.assert_allclose(found[1], again.std(axis=0, ddof=1), **SAME)
        np.testing.assert_allclose(moments(two), found, **SAME)


def test_weights_without_a_scale_are_those_of_the_rows_that_they_have():
    w = np.array([0.25, 0.5, 0.0, 1.0])
    mean, deviation = moments(np.array([[1.0], [2.0], [50.0], [4.0]]), w)
    m = (0.25 + 1.0 + 4.0) / 1.75
    squares = 0.25 * (1 - m) ** 2 + 0.5 * (2 - m) ** 2 + (4 - m) ** 2
    assert mean[0] == pytest.approx(m)
    assert deviation[0] == pytest.approx(np.sqrt(squares / 1.75 * 3 / 2))


@pytest.mark.parametrize("model", [ps.svm, ps.logit])
def test_weights_are_repeated_rows_and_counts(model):
    given = {"lam": 0.05, "standardize": True}
    one = model(FORMULA, DATA, weights="w", **given).fit(EXACT)
    two = model(FORMULA, REPEATED, **given).fit(EXACT)
    three = model(FORMULA, DATA, freq_weights="w", **given).fit(EXACT)
    for other in (two, three):
        np.testing.assert_allclose(one.scaling.scale, other.scaling.scale, **SAME)
        np.testing.assert_allclose(one.scaling.centre, other.scaling.centre, **SAME)
        np.testing.assert_allclose(one.params, other.params, **FIT)
    X = DATA[["a", "b", "c"]]
    arrays = getattr(ps, "SVM" if model is ps.svm else "Logit")
    found = arrays(DATA["y"], X, weights=DATA["w"], **given).fit(EXACT)
    np.testing.assert_array_equal(found.params, one.params)
    sparse = arrays(DATA["y"], csr_array(X), weights=DATA["w"], **given)
    np.testing.assert_allclose(sparse.scaling.scale, one.scaling.scale, **SAME)


@pytest.mark.parametrize("weights", ["w", "balanced", {"yes": 3, "no": 1}])
def test_files_and_dask_have_the_same_scaling(weights, tmp_path):
    given = {"lam": 0.05, "standardize": True, "weights": weights}
    here = ps.svm(FORMULA, DATA, **given)
    path = tmp_path / "rows.parquet"
    DATA.to_parquet(path, row_group_size=20)
    models = [ps.svm(FORMULA, ps.scan(path), **given)]
    dask = pytest.importorskip("dask.dataframe")
    models.append(ps.svm(FORMULA, dask.from_pandas(DATA, npartitions=4), **given))
    for model in models:
        np.testing.assert_allclose(model.scaling.scale, here.scaling.scale, **SAME)
        np.testing.assert_allclose(model.scaling.centre, here.scaling.centre, **SAME)


@pytest.mark.parametrize(
    "classifier",
    [SVMClassifier, LogitClassifier, lambda **k: KernelSVMClassifier(gamma=0.5, **k)],
)
def test_a_sample_weight_is_repeated_rows(classifier):
    made = classifier(lam=0.05, standardize=True)
    X, y = DATA[["a", "b", "c"]], DATA["y"]
    one = made.fit(X, y, sample_weight=DATA["w"]).decision_function(X)
    again = REPEATED[["a", "b", "c"]], REPEATED["y"]
    np.testing.assert_allclose(made.fit(*again).decision_function(X), one, **FIT)

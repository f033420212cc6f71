"""Certificates of coefficients from elsewhere."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import pegasos_stats as ps
from pegasos_stats.proofs import check_proof


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.standard_normal((120, 3)), columns=list("abc"))
    return X.assign(y=np.where(X.sum(axis=1) + rng.logistic(size=120) > 0, "yes", "no"))


@pytest.mark.parametrize("lam", [0.0, 0.01])
def test_the_gap_is_the_distance_from_the_minimum(data, lam):
    model = ps.logit("y ~ a + b + c", data, lam=lam)
    best = model.fit(ps.Optimum(1e-12))
    moved = best.params + np.array([0.3, 0.1, -0.2, 0.0])
    at = ps.certify(model, moved)
    margins = np.where(data["y"] == "yes", 1, -1) * (
        moved["Intercept"] + data[list("abc")] @ moved[1:]
    )
    objective = np.logaddexp(0, -margins).mean() + lam / 2 * (moved[1:] ** 2).sum()
    assert at.objective == pytest.approx(objective, rel=1e-14)
    assert at.gap == pytest.approx(objective - best.objective, rel=1e-9)
    assert ps.certify(model, best.params).relative_gap < 1e-12
    if lam:
        assert at.distance >= np.abs(moved - best.params)[1:].max()


def test_coefficients_of_scikit_learn_are_taken_as_they_are(data, tmp_path):
    X, y = data[list("abc")], data["y"]
    peer = LogisticRegression(C=2.0, tol=1e-10).fit(X, y)
    model = ps.Logit(y, X, lam=1 / (2.0 * len(y)))
    at = ps.certify(model, peer.coef_, peer.intercept_)
    assert at.relative_gap < 1e-9
    by_name = dict(zip("cab", peer.coef_[0, [2, 0, 1]], strict=True))
    assert ps.certify(model, by_name, peer.intercept_).objective == at.objective
    at.write_proof(tmp_path / "peer.json")
    upper, lower, gap = check_proof.check(tmp_path / "peer.json")
    assert float(upper) == pytest.approx(at.objective, rel=1e-15)
    assert 0 <= upper - lower <= gap
    other = ps.Logit(y, X, lam=1 / (30.0 * len(y)))  # not what it has minimised
    assert ps.certify(other, peer.coef_, peer.intercept_).relative_gap > 1e-4


def test_coefficients_far_from_the_maximum_have_a_proof(data, tmp_path):
    # All fitted probabilities are 0 or 1 in double precision.
    model, X = ps.logit("y ~ a + b + c", data, lam=0.0), data[list("abc")].to_numpy()
    at = ps.certify(model, [900.0, -900.0, 900.0], -900.0)
    at.write_proof(tmp_path / "far.json")
    upper, lower, gap = check_proof.check(tmp_path / "far.json")
    scores = X @ [900.0, -900.0, 900.0] - 900.0
    losses = np.maximum(0.0, np.where(data["y"] == "yes", -scores, scores))
    assert float(upper) == pytest.approx(losses.mean(), rel=1e-12)
    assert float(upper - lower) == pytest.approx(at.gap, rel=1e-12)
    assert upper - lower <= gap


@pytest.mark.parametrize(
    ("coef", "intercept"),
    [
        ([1, 2], 0),
        ([1, 2, 3], None),
        ([1, 2, np.nan], 0),
        (["a", 1, 2], 0),
        ({"a": 1, "b": 2, "d": 3}, 0),
        ({"a": 1, "b": 2, "c": 3}, None),
    ],
)
def test_coefficients_that_do_not_fit_the_model_are_refused(data, coef, intercept):
    with pytest.raises(ps.errors.OptionError):
        ps.certify(ps.svm("y ~ a + b + c", data), coef, intercept)


def test_kernel_models_and_fits_are_refused(data):
    for model in (ps.kernel_svm("y ~ a + b", data), ps.svm("y ~ a + b", data).fit()):
        with pytest.raises(ps.errors.OptionError, match="needs a linear model"):
            ps.certify(model, [1, 2], 0)

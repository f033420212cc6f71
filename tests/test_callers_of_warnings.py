"""Warnings point at the line of the user; errors show a few frames of the package."""

import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos_stats as ps
from pegasos_stats.errors import DataError, PegasosStatsError, PegasosStatsWarning
from pegasos_stats.sklearn import SVMClassifier

PACKAGE = Path(ps.__file__).parent


def frame(n=60):
    rng = np.random.default_rng(3)
    found = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    found["g"] = list("uvw") * (n // 3)
    return found.assign(y=np.where(found["a"] + rng.normal(size=n) > 0.0, "p", "q"))


def far():
    """A fit that has not warned yet, as it does once."""
    return ps.logit("y ~ a + b", MANY, lam=1e-3).fit(ps.Pegasos(epochs=1, seed=1))


def undefined():
    return ps.svm("y ~ a", APART, lam=1e-4).fit().with_covariance("sandwich")


DATA, MANY = frame(), frame(600)
APART = pd.DataFrame({"a": [-3.0, -2, 2, 3] * 10, "y": list("ppqq") * 10})
BY_LEVEL = ps.logit("y ~ a + g", DATA, lam=1.0).fit()
UNSEEN = DATA.assign(g="x")
EMPTY = ps.confusion(["p", "q"], [None, None], levels=["p", "q"])
RARE = DATA.assign(y=["p"] * 3 + ["q"] * 57)
MISREAD = DATA.assign(day=[f"2024-01-{1 + i % 28:02d}" for i in range(60)])
RIGHT = ["p", "q"] * 5

WARN = {
    "fit": lambda: ps.svm("y ~ a + b", MANY, lam=1e-5).fit(ps.Optimum(epochs=1)),
    "model": lambda: ps.logit("y ~ a + day", MISREAD, lam=1.0),
    "bse": lambda: far().bse,
    "t_test": lambda: undefined().t_test("a = 0"),
    "margins": lambda: far().margins(),
    "predict": lambda: BY_LEVEL.predict(UNSEEN, unseen="missing"),
    "overall": lambda: EMPTY.overall,
    "by_class": lambda: EMPTY.by_class,
    "compare": lambda: ps.compare_predictions(RIGHT, RIGHT, RIGHT),
    "cross_validate": lambda: ps.cross_validate(
        ps.logit("y ~ a", RARE, lam=1.0), folds=5, seed=1, metrics=["auc"]
    ),
    "pipeline": lambda: make_pipeline(
        StandardScaler(), SVMClassifier(epochs=1, lam=1e-5)
    ).fit(MANY[["a", "b"]], MANY["y"]),
    "report": lambda: BY_LEVEL.report(UNSEEN, unseen="missing"),
}


@pytest.mark.parametrize("name", WARN)
def test_a_warning_points_at_the_line_of_the_user(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WARN[name]()
    ours = [each for each in caught if issubclass(each.category, PegasosStatsWarning)]
    assert ours, [str(each.message) for each in caught]
    assert {each.filename for each in ours} == {__file__}


def test_warnings_are_raised_in_one_place():
    found = [
        path.name
        for path in PACKAGE.rglob("*.py")
        if "warnings.warn(" in path.read_text(encoding="utf-8")
    ]
    assert found == ["errors.py"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: ps.svm("y ~ nope", DATA),
        lambda: ps.svm("y ~ nope(a)", DATA),
        lambda: ps.logit("y ~ a", DATA, lam=-1.0),
        lambda: ps.logit("y ~ a", DATA, weights=[1.0]),
        lambda: BY_LEVEL.predict(DATA[["a"]]),
        lambda: BY_LEVEL.predict(UNSEEN),
        lambda: BY_LEVEL.wald_test("nope = 0"),
        lambda: BY_LEVEL.report(DATA, "no/such/folder/page.html"),
    ],
)
def test_an_error_shows_five_frames_of_the_package_at_most(call):
    with pytest.raises(PegasosStatsError) as raised:
        call()
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert len([f for f in frames if Path(f.filename).is_relative_to(PACKAGE)]) <= 5


# ---- Limits of the kernels that are taken.

Y = ["n", "p", "p", "n"]


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-300])
def test_a_kernel_that_is_zero_is_one(size):
    K = size * np.diag([1.0, 0.0, 0.0, 0.0])
    model = ps.KernelSVM(Y, K, kernel="precomputed", lam=1.0)
    result = model.fit(ps.Pegasos(epochs=1, seed=1))
    assert result.objective >= result.dual_objective >= 0.0


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e300])
def test_a_kernel_with_a_value_below_zero_is_none(size):
    swapped = np.array([[0.0, 1.0], [1.0, 0.0]])
    for K in (np.diag([1.0, 1.0, 1.0, -1e-6]), np.kron(np.eye(2), swapped)):
        with pytest.raises(DataError, match="not positive semi-definite"):
            ps.KernelSVM(Y, size * K, kernel="precomputed", lam=1.0)

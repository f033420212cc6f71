"""Weights of the rows: what they stand for, and what is refused."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, DataError, OptionError

# Two optima, each found to this relative gap, differ by no more in their objective.
TOL = 1e-9


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    frame["y"] = np.where(frame["a"] + rng.normal(size=80) > 0.8, "yes", "no")
    frame["w"] = rng.integers(1, 4, 80)
    return frame


def optimum(model):
    return model.fit(ps.Optimum(tol=TOL, seed=1))


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_a_weight_of_k_stands_for_k_equal_rows(data, make):
    repeated = data.loc[data.index.repeat(data["w"])].reset_index(drop=True)
    weighted = optimum(make("y ~ a + b + c", data, lam=0.1, weights="w"))
    plain = optimum(make("y ~ a + b + c", repeated, lam=0.1))
    assert weighted.objective == pytest.approx(plain.objective, rel=2 * TOL)
    # ||beta - beta*||^2 <= 2 gap / lam, for each of the two
    apart = np.linalg.norm(weighted.coef - plain.coef)
    assert apart <= 2 * np.sqrt(2 * TOL * plain.objective / 0.1)


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
@pytest.mark.parametrize("intercept", [True, False])
def test_pegasos_minimises_the_weighted_risk(data, make, intercept):
    model = make("y ~ a + b + c", data, lam=0.1, weights="w", intercept=intercept)
    best = optimum(model)
    near = model.fit(ps.Pegasos(epochs=300, seed=1, refit_intercept=intercept))
    assert best.dual_objective <= near.objective
    assert near.relative_gap < 0.01  # 24,000 steps of size 1/(lam t): about 1/(lam T)
    assert near.objective - best.objective <= near.gap


@pytest.mark.parametrize("arithmetic", ["reference", "fast"])
@pytest.mark.parametrize("batch_size", [1, 8])
def test_equal_weights_change_no_bit(data, arithmetic, batch_size):
    solver = ps.Pegasos(3, seed=2, arithmetic=arithmetic, batch_size=batch_size)
    plain = ps.svm("y ~ a + b", data, lam=0.1).fit(solver)
    weighted = ps.svm("y ~ a + b", data, lam=0.1, weights=np.full(80, 7.0)).fit(solver)
    assert (plain.params == weighted.params).all()
    assert plain.gap == weighted.gap


@pytest.mark.parametrize("power", [-1074, -1060, -600, 600, 1021])
def test_weights_of_any_size_are_their_ratios(data, power):
    given = data["w"].to_numpy(dtype=np.float64)
    solver = ps.Pegasos(3, seed=2)
    usual, other = (
        ps.svm("y ~ a + b", data, weights=weights, lam=1.0).fit(solver)
        for weights in (given, np.ldexp(given, power))
    )
    assert (other.problem.weights == usual.problem.weights).all()
    assert (other.params == usual.params).all()
    assert other.gap == usual.gap > 0.0


@pytest.mark.parametrize("dtype", ["O", "f4", "Int64", "longdouble", "bool"])
def test_numbers_of_every_type_weigh_the_same(data, dtype):
    values = [Decimal(2), Decimal(0)] if dtype == "O" else [2, 0]
    weights = pd.Series(values * 40).astype(dtype)
    found = ps.svm("y ~ a + b", data, weights=weights, lam=1.0).problem.weights
    assert found.tolist() == [2.0, 0.0] * 40
    weights = weights.tolist()
    again = ps.svm("y ~ a + b", data, weights=weights, lam=1.0).problem.weights
    assert again.tolist() == found.tolist()


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_weight_leaves_its_row_out(data, missing):
    weights = pd.Series([missing] + [1.0, 2.0, 3.0] * 26 + [1.0], dtype=object)
    assert ps.svm("y ~ a + b", data, weights=weights, lam=1.0).problem.n == 79
    masked = np.ma.array(np.arange(1.0, 81.0), mask=np.arange(80) < 3)
    assert ps.svm("y ~ a + b", data, weights=masked, lam=1.0).problem.n == 77


def test_balanced_is_the_weight_of_each_level(data):
    counts = data["y"].value_counts()
    by_level = {level: 1 / counts[level] for level in counts.index}
    by_row = data["y"].map(by_level)
    models = [
        ps.svm("y ~ a + b", data, weights=weights, lam=1.0)
        for weights in ("balanced", by_level, by_row)
    ]
    each = [model.problem.weights for model in models]
    assert each[0].mean() == pytest.approx(1.0)
    for other in each[1:]:
        np.testing.assert_allclose(other, each[0], rtol=1e-14)  # two roundings
    y = models[0].problem.y
    assert each[0][y > 0].sum() == pytest.approx(each[0][y < 0].sum())


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (np.ones(79), DataError, "79"),
        (np.full(80, -1.0), DataError, "-1.0"),
        (["a"] * 80, DataError, "type list are not numbers"),
        ([10**400] * 80, DataError, "include inf"),
        ([1e-308, 1e308] * 40, DataError, "from 1e-308 to 1e\\+308"),
        ("nothing", ColumnError, "not a column"),
        ({"yes": 1.0}, OptionError, "'no', 'yes'"),
        ({"yes": 1.0, "no": -1.0}, DataError, "-1.0"),
        ({"yes": 1.0, "no": 0.0}, DataError, "'no' have weight 0"),
        ({"yes": 1.0, "no": np.nan}, DataError, "level 'no' is missing"),
        ({"yes": 1e300, "no": 1e-9}, DataError, "from 1e-09 to 1e\\+300"),
        (pd.Series(np.ones(80), index=range(1, 81)), DataError, "row labels"),
    ],
)
def test_wrong_weights_are_refused(data, weights, error, message):
    with pytest.raises(error, match=message):
        ps.svm("y ~ a + b", data, weights=weights, lam=1.0)

"""What an offset may be, how it is read, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import PegasosStatsError

N = 12
FORMULA = "y ~ a"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"y": list("no") * 6, "a": rng.normal(size=N)})
    frame["g"] = list("uvw") * 4
    frame["t"] = rng.uniform(0.5, 3.0, N)
    frame["z"] = rng.normal(size=N)
    return frame


def offset_of(formula, data, **options):
    return ps.svm(formula, data, **options).problem.offset


@pytest.mark.parametrize(
    ("formula", "computed"),
    [
        ("y ~ a + offset(z)", lambda d: d["z"]),
        ("y ~ a + offset(log(t)) + offset(z)", lambda d: np.log(d["t"]) + d["z"]),
        ("y ~ offset(2 * z - t) + a", lambda d: 2.0 * d["z"] - d["t"]),
        ("y ~ a + offset(half(z))", lambda d: d["z"] / 2.0),
        ("y ~ a - 1 + offset(`z`)", lambda d: d["z"]),
    ],
)
def test_offsets_of_formulas_add_up(data, formula, computed):
    functions = {"half": lambda x: x / 2.0}
    model = ps.svm(formula, data, functions=functions, lam=1.0)
    np.testing.assert_allclose(model.problem.offset, computed(data), rtol=1e-15)
    assert model.names == ("a",)
    both = ps.logit(formula, data, functions=functions, offset="t", lam=1.0)
    np.testing.assert_allclose(both.problem.offset, computed(data) + data["t"])


def test_a_dot_means_its_columns_too_as_in_r(data):
    frame = data.drop(columns="g")
    assert ps.svm("y ~ . + offset(z)", frame, lam=1.0).names == ("a", "t", "z")
    assert ps.svm("y ~ . - z + offset(z)", frame, lam=1.0).names == ("a", "t")
    assert offset_of("y ~ a - offset(z)", data) is None  # as in R, taken away


def test_rows_that_lack_it_are_left_out_and_counted(data):
    frame = data.copy()
    frame.loc[[1, 5], "z"] = np.nan
    frame.loc[7, "t"] = np.nan
    frame.loc[9, "a"] = np.nan
    model = ps.svm("y ~ a + g + offset(log(t))", frame, offset="z", lam=1.0)
    assert (model.dropped.outcome, model.dropped.predictors) == (0, 4)
    assert model.dropped.by_column == "2 in 'z', 1 in 'a', 1 in 'log(t)'"
    kept = frame.dropna()
    assert model.problem.offset.tolist() == (np.log(kept["t"]) + kept["z"]).tolist()
    result = model.fit(ps.Optimum(seed=1))
    assert result.predict(frame).isna().tolist() == frame.isna().any(axis=1).tolist()
    given = ps.SVM(frame["y"], frame[["a"]], offset=frame["z"].to_numpy(), lam=1.0)
    assert given.dropped.by_column == "2 in 'offset', 1 in 'a'"
    again = ps.svm("y ~ a + z", frame, offset="z", lam=1.0)
    assert again.dropped.by_column == "2 in 'z', 1 in 'a'"


@pytest.mark.parametrize(
    ("formula", "named"),
    [
        ("y ~ a + offset(log(z - 99))", "complete"),
        ("y ~ a + offset(g)", r"offset\(g\) .* not numbers"),
        ("y ~ a:offset(z)", "offset"),
        ("y ~ a + offset(q)", "'q' not found"),
        ("y ~ a + offset(scale(z))", r"scale\(\)"),
        ("y ~ offset(z)", "no predictor"),
    ],
)
def test_terms_that_are_no_offset_are_refused(data, formula, named):
    with pytest.raises(PegasosStatsError, match=named):
        ps.svm(formula, data, lam=1.0)


def fitted(data, formula=FORMULA, **options):
    return ps.svm(formula, data, **options, lam=1.0).fit(ps.Optimum(seed=1))


REFUSED = {
    r"log\(t\)": lambda d: ps.kernel_svm("y ~ a + offset(log(t))", d),
    "offset='z' makes no sense": lambda d: ps.kernel_svm(FORMULA, d, offset="z"),
    "the fit has no offset": lambda d: fitted(d).predict(d, offset=d["z"]),
    "training rows already have": (
        lambda d: fitted(d, offset="z").decision_function(offset=d["z"])
    ),
    "in its formula: z": (
        lambda d: fitted(d, "y ~ a + offset(z)").predict(d, offset=d["z"])
    ),
    "offset='z'": lambda d: fitted(d, offset="z").predict(d.drop(columns="z")),
}


@pytest.mark.parametrize("named", REFUSED)
def test_what_takes_no_offset_is_named(data, named):
    with pytest.raises(PegasosStatsError, match=named):
        REFUSED[named](data)


def test_levels_of_rows_that_lack_it_are_no_levels(data):
    frame = data.assign(z=data["z"].where(data["g"] != "w"))
    assert ps.svm("y ~ a + g + offset(z)", frame, lam=1.0).names == ("a", "g[T.v]")

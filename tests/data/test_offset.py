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


@pytest.mark.parametrize(
    "give",
    [
        lambda z: z,
        lambda z: z.to_numpy(),
        lambda z: z.tolist(),
        lambda z: z.astype("Float64"),
        lambda z: z.astype(np.float32).astype(float),
        lambda z: pd.arrays.SparseArray(z),
    ],
)
def test_numbers_are_taken_as_they_are(data, give):
    found = ps.SVM(
        data["y"], data[["a"]], offset=give(data["z"]), lam=1.0
    ).problem.offset
    np.testing.assert_allclose(found, data["z"], rtol=1e-7)


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
    result = model.fit(ps.SDCA(seed=1))
    assert result.predict(frame).isna().tolist() == frame.isna().any(axis=1).tolist()
    given = ps.SVM(frame["y"], frame[["a"]], offset=frame["z"].to_numpy(), lam=1.0)
    assert given.dropped.by_column == "2 in 'offset', 1 in 'a'"
    again = ps.svm("y ~ a + z", frame, offset="z", lam=1.0)
    assert again.dropped.by_column == "2 in 'z', 1 in 'a'"


def test_levels_of_rows_that_lack_it_are_no_levels(data):
    frame = data.assign(z=data["z"].where(data["g"] != "w"))
    assert ps.svm("y ~ a + g + offset(z)", frame, lam=1.0).names == ("a", "g[T.v]")


ALLOWED = "give one number for each row."
MESSAGES = [
    (
        lambda d: ps.svm(FORMULA, d, offset="zz", lam=1.0),
        "offset='zz' is no column of the data; give the name of one, or one number for "
        "each row.",
    ),
    (
        lambda d: ps.svm(FORMULA, d, offset="g", lam=1.0),
        f"The values of offset of type Series are not numbers; {ALLOWED}",
    ),
    (
        lambda d: ps.svm(FORMULA, d, offset=d["g"].astype("category"), lam=1.0),
        f"The values of offset are categories and no numbers; {ALLOWED}",
    ),
    (
        lambda d: ps.svm(
            FORMULA, d, offset=pd.Series([1, 2] * 6, dtype="category"), lam=1.0
        ),
        f"The values of offset are categories and no numbers; {ALLOWED}",
    ),
    (
        lambda d: ps.svm(FORMULA, d, offset=[0.0] * 5, lam=1.0),
        "The values of offset have the shape (5,) and there are 12 rows; give one for "
        "each row.",
    ),
    (
        lambda d: ps.svm(FORMULA, d, offset=2.0, lam=1.0),
        "The values of offset have the shape () and there are 12 rows; give one for "
        "each row.",
    ),
    (
        lambda d: ps.svm(
            FORMULA, d, offset=np.where(np.arange(N) == 3, -np.inf, 1.0), lam=1.0
        ),
        "The values of offset hold -inf in the rows 3; give finite numbers.",
    ),
    (
        lambda d: ps.svm(FORMULA, d, offset=d["z"].set_axis(range(1, N + 1)), lam=1.0),
        "The row labels of offset and data differ; align them (offset.loc[X.index]) or "
        "give offset.to_numpy() to match by position.",
    ),
    (
        lambda d: ps.svm(FORMULA, d, offset=np.full(N, np.nan), lam=1.0),
        "The values of offset are missing in all of 12 rows; give data with numbers "
        "there.",
    ),
    (
        lambda d: ps.svm("y ~ a + offset(log(z - 99))", d, lam=1.0),
        "The values of offset(log(z - 99)) are missing in all of 12 rows; give data "
        "with numbers there.",
    ),
    (
        lambda d: ps.svm("y ~ a + offset(g)", d, lam=1.0),
        f"The values of offset(g) of type Series are not numbers; {ALLOWED}",
    ),
    (
        lambda d: ps.svm("y ~ a:offset(z)", d, lam=1.0),
        "The formula 'y ~ a:offset(z)' has offset() in a product; write it as a term "
        "of its own.",
    ),
    (
        lambda d: ps.svm("y ~ a + offset(q)", d, lam=1.0),
        "Column 'q' not found; the data have 'y', 'a', 'g', 't', 'z': check the "
        "spelling or add the column.",
    ),
    (
        lambda d: ps.svm("y ~ a + offset(scale(z))", d, lam=1.0),
        "The formula 'offset(scale(z))' has scale(), which is computed from all rows; "
        "compute the column before the fit, and for new rows.",
    ),
    (
        lambda d: ps.svm("y ~ offset(z)", d, lam=1.0),
        "The formula 'y ~ offset(z)' has no predictor; add one.",
    ),
    (
        lambda d: ps.svm(FORMULA, d, functions={"offset": abs}, lam=1.0),
        "functions= has 'offset', which already is a function of formulas or a column; "
        "give another name.",
    ),
    (
        lambda d: ps.kernel_svm("y ~ a + offset(log(t))", d, lam=1.0),
        "The formula has an offset, log(t), which kernel machines do not take; leave "
        "it out, or fit ps.svm() with it.",
    ),
    (
        lambda d: ps.kernel_svm(FORMULA, d, offset="z", lam=1.0),
        "offset is of type str: of a kernel it is the number in (x'z + offset)^degree, "
        "and kernel machines take no offset of rows; fit ps.svm() with one.",
    ),
    (
        lambda d: ps.KernelSVM(
            d["y"], d[["a"]], kernel="polynomial", offset=d["z"], lam=1.0
        ),
        "offset is of type Series: of a kernel it is the number in (x'z + "
        "offset)^degree, and kernel machines take no offset of rows; fit ps.svm() with "
        "one.",
    ),
    (
        lambda d: (
            ps.svm(FORMULA, d, lam=1.0).fit(ps.SDCA(seed=1)).predict(d, offset=d["z"])
        ),
        "offset= was given, and the fit has none; leave it out.",
    ),
    (
        lambda d: fitted(d).decision_function(offset=d["z"]),
        "offset= was given, and the rows of the fit have theirs; leave it out.",
    ),
    (
        lambda d: (
            ps.svm("y ~ a + offset(z)", d, lam=1.0)
            .fit(ps.SDCA(seed=1))
            .predict(d, offset=d["z"])
        ),
        "offset= was given, and the offset of the fit is in its formula: z; leave it "
        "out.",
    ),
    (
        lambda d: fitted(d).predict(d.drop(columns="z")),
        "offset='z' is no column of the data; give the name of one, or one number for "
        "each row.",
    ),
]


def fitted(data):
    return ps.svm(FORMULA, data, offset="z", lam=1.0).fit(ps.SDCA(seed=1))


@pytest.mark.parametrize(("call", "message"), MESSAGES)
def test_messages_as_a_whole(data, call, message):
    with pytest.raises(PegasosStatsError) as caught:
        call(data)
    assert str(caught.value) == message

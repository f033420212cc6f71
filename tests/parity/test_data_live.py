"""Labels, weights, offsets and splines are those of R in this process."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.labels import signs_of
from pegasos_stats.data.language.vocabulary import rounded
from pegasos_stats.data.sample import mean_one, r_sum
from tests.parity.cases import table_of
from tests.parity.equality import assert_same_bits, assert_same_table

# ---- Codings, signs and tables against R's factor(), unique(), sign() and table().


def categories(labels, levels, ordered=False):
    return pd.Series(labels, dtype=pd.CategoricalDtype(levels, ordered=ordered))


COLUMNS = {
    "text": pd.Series(["six", "five", "six", "five", "five"]),
    "capitals before small letters": pd.Series(["a", "Z", "a", "Z"]),
    "underscore between": pd.Series(["_x", "a", "_x"]),
    "accents last": pd.Series(["é", "z", "é"]),
    "digits as text": pd.Series(["9", "10", "9"]),
    "text with a gap": pd.Series(["b", None, "a", None, "b"]),
    "whole numbers": pd.Series([10, 9, 10, 9]),
    "negative numbers": pd.Series([1, -1, 1]),
    "fractions": pd.Series([0.5, 0.25, 0.5]),
    "large numbers": pd.Series([100000.0, 99999.0, 123456.0 - 23456.0]),
    "numbers with a gap": pd.Series([2.0, np.nan, 1.0]),
    "nullable numbers": pd.Series([2, None, 1, 2], dtype="Int64"),
    "logical": pd.Series([True, False, True]),
    "nullable logical": pd.Series([True, None, False], dtype="boolean"),
    "categories": categories(["lo", "hi", "lo"], ["lo", "hi"]),
    "ordered": categories(["hi", "lo", "hi"], ["lo", "hi"], ordered=True),
    "unused category": categories(["c", "a", None, "c"], ["c", "b", "a"]),
    "number categories": categories([2, 1, 2], [2, 1]),
}
EACH = pytest.mark.parametrize("labels", COLUMNS.values(), ids=COLUMNS.keys())
SCORES = np.array([-2.5, -0.0, 0.0, 5e-324, -5e-324, 1.0, np.inf, -np.inf, np.nan])

SIDES = ["actual", "predicted", "levels"]  # of the table
PAIRS = {
    "both kinds of error": (["a", "a", "b", "b"], ["a", "b", "a", "b"], ["a", "b"]),
    "a level never predicted": (["a", "b", "b"], ["a", "a", "a"], ["a", "b"]),
    "a level that is not there": (["b", "b"], ["b", "b"], ["a", "b"]),
    "ties": (["a", "b", "b"], ["a", None, "b"], ["a", "b"]),
    "nothing but ties": (["a", "b"], [None, None], ["a", "b"]),
    "no actual label": (["a", None, "b", None], ["a", "a", "b", None], ["a", "b"]),
    "second level first": (["a", "b", "b"], ["b", "b", "b"], ["b", "a"]),
    "numbers": ([5.0, 6.0, 6.0], [5.0, 5.0, 6.0], [5.0, 6.0]),
    "three levels": (["a", "b", "c"], ["c", "b", "a"], ["a", "b", "c"]),
}


def as_text(r, values):
    """Labels as R writes them."""
    return r.call("as.character", pd.Series(values)).tolist()


@EACH
@pytest.mark.parametrize("rule", ["factor", "first-seen"])
def test_levels_and_codes_are_those_of_r(r, labels, rule):
    coding = ps.LabelCoding.from_labels(labels, rule)
    levels = r.call("label_levels", labels, rule)
    assert as_text(r, coding.levels) == levels.tolist()
    codes = r.call("encode_labels", labels, levels)
    np.testing.assert_array_equal(coding.encode(labels), codes.astype(float))


@EACH
def test_a_given_pair_is_taken_as_it_is(r, labels):
    pair = ps.LabelCoding.from_labels(labels, "factor").levels[::-1]
    coding = ps.LabelCoding.from_labels(labels, pair)
    levels = r.call("label_levels", labels, pd.Series(pair))
    assert as_text(r, coding.levels) == levels.tolist() == as_text(r, pair)
    codes = r.call("encode_labels", labels, levels)
    np.testing.assert_array_equal(coding.encode(labels), codes.astype(float))


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"], []], ids=len)
def test_r_refuses_other_numbers_of_levels_too(r, labels):
    column = pd.Series(labels, dtype="str")
    with pytest.raises(ps.errors.LabelError):
        ps.LabelCoding.from_labels(column)
    with pytest.raises(Exception, match=f"{len(labels)} level"):
        r.call("label_levels", column)


@pytest.mark.parametrize("ties", ["na", "positive", "negative"])
def test_signs_are_those_of_r(r, ties):
    signs = r.call("predict_sign", SCORES, ties)
    np.testing.assert_array_equal(signs_of(SCORES, ties), signs.astype(float))


def test_the_sign_of_zero_is_zero_in_r(r):
    assert_same_bits(r.call("sign", SCORES[1:3]), [0.0, 0.0], "sign(0)")


@pytest.mark.parametrize("name", PAIRS)
def test_table_is_that_of_r(r, name):
    *sides, levels = PAIRS[name]
    actual, predicted = (pd.Series(labels) for labels in sides)
    for variable, value in zip(SIDES, (actual, predicted, levels), strict=True):
        r.set(variable, value)
    r.eval(f"counts <- confusion({', '.join(SIDES)})")
    theirs = table_of(r.eval("counts"), *r.eval("unname(dimnames(counts))"))
    ours = ps.confusion(actual, predicted, levels=levels)
    assert r.eval("names(dimnames(counts))").tolist() == ["Actual", "Predicted"]
    assert_same_table(ours.table.rename(index=plain, columns=plain), theirs)


def plain(label):
    """5.0 as R writes it."""
    return int(label) if isinstance(label, float) else label


# ---- Weights of the rows against R: the same sum, the same bits.

DRAWN = {
    "uniform": lambda rng, n: rng.uniform(0.0, 2.0, n),
    "wide": lambda rng, n: rng.lognormal(0.0, 4.0, n),
    "zeros": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "tenths": lambda rng, n: rng.integers(1, 9, n) / 10.0,
    "largest": lambda rng, n: rng.uniform(0.6, 1.0, n) * np.finfo(float).max,
    "smallest": lambda rng, n: rng.integers(1, 9, n) * 5e-324,
    "far apart": lambda rng, n: 10.0 ** rng.uniform(-150.0, 150.0, n),
}
LEVELS = {"a": 0.3, "b": 7.1}


@pytest.mark.parametrize("n", [2, 3, 7, 100, 2**16 + 3])
@pytest.mark.parametrize("kind", DRAWN)
def test_numbers_for_each_row(r, kind, n):
    for seed in range(20 if n < 1000 else 2):
        w = DRAWN[kind](np.random.default_rng(seed), n)
        w[:2] = w.max() or 1.0
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        theirs = r.call("row_weights", w, y)
        model = ps.SVM(y, np.arange(n, dtype=float)[:, None], weights=w, lam=1.0)
        assert_same_bits(model.problem.row_weights, theirs, kind)
        assert_same_bits(r_sum(w), r.call("sum", w), "sum")


@pytest.mark.parametrize("weights", ["balanced", {"a": 1e308, "b": 1e307}, LEVELS])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.7])
def test_weights_of_each_level(r, weights, share):
    for n in range(10, 60):
        labels = np.where(np.arange(n) < share * n, "b", "a")
        model = ps.SVM(
            labels, np.arange(n, dtype=float)[:, None], weights=weights, lam=1.0
        )
        given = weights
        if isinstance(weights, dict):
            given = {"negative": weights["a"], "positive": weights["b"]}
        theirs = r.call("row_weights", given, model.problem.y)
        assert_same_bits(model.problem.row_weights, theirs, "weights")


def test_weights_scaled_once_keep_their_bits(r):
    for seed in range(200):
        w = np.random.default_rng(seed).uniform(0.0, 2.0, 30)
        once = mean_one(w)
        assert_same_bits(mean_one(once), once, "weights")
        assert_same_bits(r.call("mean_one", once), once, "weights in R")


def test_columns_of_every_type_are_the_numbers_of_r(r):
    w = pd.Series(np.arange(1, 21) / 4.0)
    X, y = np.arange(20.0)[:, None], np.resize([-1.0, 1.0], 20)
    theirs = r.call("row_weights", w.to_numpy(), y)
    for column in (w, w.astype("Float64"), w.astype(np.float32), w.astype("category")):
        frame = pd.DataFrame({"x": X[:, 0], "w": column, "y": y})
        model = ps.svm("y ~ x", frame, weights="w", lam=1.0)
        assert_same_bits(model.problem.row_weights, theirs, str(column.dtype))


# ---- Offsets against R's ``glm()``, which has them in formulas and as an argument.

# The gap of 1e-11 and the penalty of 1e-10 move coefficients by some 1e-7.
CLOSE = 1e-6
GLM = """
function(formula, a, t, z, y, new_a, new_t, new_z) {
  data <- data.frame(a = a, t = t, z = z, y = y)
  fit <- glm(as.formula(formula), binomial, data, offset = z,
             control = list(epsilon = 1e-14, maxit = 100))
  found <- summary(fit)$coefficients
  new <- data.frame(a = new_a, t = new_t, z = new_z)
  c(found[, 1], found[, 2], as.numeric(logLik(fit)), fit$null.deviance, AIC(fit),
    predict(fit, new))
}
"""


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "t": rng.uniform(0.2, 3.0, n)})
    frame["z"] = rng.normal(size=n)
    score = 0.7 * frame["a"] - 0.5 + frame["z"] + np.log(frame["t"])
    frame["y"] = (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(float)
    return frame


@pytest.mark.parametrize(
    "right",
    [
        "a + I(a * a) + offset(log(t))",
        "a + t + offset(t) + offset(a * t)",
        "a + offset(z / t) - 1",
    ],
)
def test_without_penalty_it_is_that_of_glm(r, right):
    data, new = drawn(120, 8), drawn(5, 9)
    columns = [data[name].to_numpy() for name in ("a", "t", "z", "y")]
    columns += [new[name].to_numpy() for name in ("a", "t", "z")]
    r.eval(f"with_offset <- {GLM}\n0")
    theirs = r.call("with_offset", f"y ~ {right}", *columns)
    model = ps.logit(f"y ~ {right}", data, lam=1e-10, offset="z")
    result = model.fit(ps.Optimum(tol=1e-11, seed=1), cov_type="nonrobust")
    numbers = [result.llf, 2.0 * -result.llnull, result.aic]
    scores = result.decision_function(new)
    ours = np.concatenate([result.params, result.bse, numbers, scores])
    np.testing.assert_allclose(ours, theirs, rtol=CLOSE, atol=CLOSE)


# ---- Splines and polynomials in formulas against R's, at the fit and on new rows.

# Columns of order 1, by B-splines of another recursion; far rows go up to some 100.
SPLINES_CLOSE = 1e-10
SPLINE_COLUMNS = """
function(term, x, new) {
  library(splines)
  frame <- data.frame(x = x)
  terms <- terms(model.frame(as.formula(paste("~", term)), frame))
  beyond <- suppressWarnings(model.frame(terms, data.frame(x = new)))
  rbind(model.matrix(terms, frame), model.matrix(terms, beyond))[, -1]
}
"""
WITHIN = ["bs(x)", "bs(x, df=6)", "bs(x, degree=2, knots=c(1, 3))", "poly(x, 3)"]
BEYOND = [
    "ns(x)",
    "ns(x, 1)",
    "ns(x, df=2)",
    "ns(x, df=7)",
    "ns(x, df=3, intercept=TRUE)",
    "ns(x, knots=c(2.5, 1))",
    "ns(x, knots=c(1, 1, 2))",
    "ns(x, df=4, Boundary.knots=c(4, 0.5))",
    "ns(log(x), df=3)",
    "poly(x, 2)",
    "poly(x, 3, raw=TRUE)",
    "scale(x)",
]


def both(r, theirs, ours, far):
    rng = np.random.default_rng(len(theirs))
    x = np.round(rng.gamma(2.0, size=70), 3)  # some values stand in several rows
    new = np.array([0.01, 9.0, 30.0] if far else [x.min(), 1.7, x.max()])
    r.eval(f"spline_columns <- {SPLINE_COLUMNS}\n0")
    expected = r.call("spline_columns", theirs, x, new)
    data = pd.DataFrame({"x": np.append(x, new), "y": np.arange(len(x) + 3) % 2})
    design = ps.logit(f"y ~ {ours}", data[:70], lam=1.0).design
    found = [np.asarray(design.matrix(part).values) for part in (data[:70], data[70:])]
    return np.vstack(found).ravel(), np.asarray(expected).ravel()


@pytest.mark.parametrize("term", [*WITHIN, *BEYOND])
def test_columns_are_those_of_r(r, term):
    ours, theirs = both(r, term, term, far=term in BEYOND)
    np.testing.assert_allclose(ours, theirs, rtol=SPLINES_CLOSE, atol=SPLINES_CLOSE)


@pytest.mark.parametrize("term", WITHIN[:3])
def test_b_splines_that_are_told_to_go_on_do_so_as_in_r(r, term):
    ours, theirs = both(r, term, f"{term[:-1]}, extrapolation='extend')", far=True)
    np.testing.assert_allclose(ours, theirs, rtol=SPLINES_CLOSE, atol=SPLINES_CLOSE)


# ---- round(), which in R is neither numpy's nor Python's.


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 5, 8, 12, 14, 16, -1, -2])
def test_numbers_are_rounded_as_in_r(r, digits):
    rng = np.random.default_rng(digits + 9)
    ties = (rng.integers(-(10**6), 10**6, 2000) + 0.5) / 10.0**digits
    others = rng.normal(size=2000) * 10.0 ** rng.integers(-3, 6, 2000)
    x = np.concatenate([ties, others, [0.0, -0.0, 0.15, 2.675, np.inf]])
    expected = np.asarray(r.call("round", x, float(digits)))
    found = np.asarray(rounded(pd.Series(x), digits))
    assert_same_bits(found, expected, "rounded numbers")

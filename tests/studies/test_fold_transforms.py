"""What is learnt of predictors is learnt from the rows that are fitted alone."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError

SOLVER = ps.SDCA(tol=1e-8, epochs=500, seed=1)
FOLD_OF = pd.Series(np.arange(60) % 3)
NEAR = 1e-3  # of scores of two fits within a relative gap of 1e-8


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(8)
    data = pd.DataFrame({"x": rng.normal(size=60), "z": rng.gamma(2.0, size=60)})
    data["g"] = rng.choice(["a", "b", "c"], 60)
    signal = 2.0 * data["x"] + data["x"] ** 2 + data["z"] + (data["g"] == "b")
    data["y"] = np.where(signal + rng.normal(size=60) > 3.5, "u", "v")
    return data


def near(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=NEAR, atol=NEAR)


TERMS = [
    "scale(x)",
    "center(x) + g",
    "poly(x, 2)",
    "bs(x, df=5)",
    "cr(z, df=4)",
    "ns(x, df=3) + ns(z, knots=[1, 2])",
    "np.maximum(x - mean(x), 0) + z",
    "x / sd(x)",
    "C(cut(x, 3)) + z",
    "scale(z):g",
]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("terms", TERMS)
def test_scores_are_those_of_a_model_of_the_other_rows(frame, terms, standardize):
    given = {"lam": 0.1, "standardize": standardize}
    model = ps.svm(f"y ~ {terms}", frame, **given)
    found = ps.cross_validate(model, SOLVER, folds=FOLD_OF, seed=1)
    for fold in range(3):
        test = frame[fold == FOLD_OF]
        fit = ps.svm(f"y ~ {terms}", frame[fold != FOLD_OF], **given).fit(SOLVER)
        assert fit.coef.abs().max() > 0.1  # scores are no constant
        inside = test["x"].between(*frame["x"][fold != FOLD_OF].agg(["min", "max"]))
        expected = fit.decision_function(test[inside])
        ours = found.scores[expected.index]
        near(ours, expected)


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("terms", TERMS)
def test_extreme_held_out_rows_change_nothing_of_the_fit_that_tests_them(frame, terms):
    far = frame.copy()
    far.loc[FOLD_OF == 1, "x"] += 1000.0
    far.loc[FOLD_OF == 1, "z"] *= 50.0
    lines = []
    for data in (frame, far):
        model = ps.svm(f"y ~ {terms}", data, lam=0.1, standardize=True)
        lines.append(ps.cross_validate(model, SOLVER, folds=FOLD_OF, seed=1).by_fold)
    plain, extreme = (each.loc[1, "objective"] for each in lines)
    assert plain == pytest.approx(extreme, rel=1e-9)  # of columns scaled twice
    assert lines[0].loc[0, "objective"] != lines[1].loc[0, "objective"]


def test_splines_go_on_beyond_the_rows_that_are_fitted_and_cuts_do_not(frame):
    low = int(frame["x"].idxmin())
    spline = ps.svm("y ~ bs(x, df=4)", frame, lam=0.1)
    found = ps.cross_validate(spline, SOLVER, folds=FOLD_OF, seed=1)
    own = frame[FOLD_OF[low] != FOLD_OF]
    wide = ps.svm("y ~ bs(x, df=4, extrapolation='extend')", own, lam=0.1).fit(SOLVER)
    expected = wide.decision_function(frame.loc[[low]]).iloc[0]
    assert found.scores[low] == pytest.approx(expected, rel=NEAR)
    assert found.scores.notna().all()
    cut = ps.svm("y ~ C(cut(x, 3)) + z", frame, lam=0.1)
    found = ps.cross_validate(cut, SOLVER, folds=FOLD_OF, seed=1, metrics="error_rate")
    outside = [
        not own["x"].min() <= frame["x"][i] <= own["x"].max()
        for i in frame.index
        for own in [frame[FOLD_OF[i] != FOLD_OF]]
    ]
    missing = found.scores.isna()
    assert missing[low]
    assert set(missing.index[missing]) <= set(np.flatnonzero(outside))
    assert found.confusion().counts.sum() == 60 - missing.sum()
    line = ps.cross_validate(cut, SOLVER, folds=FOLD_OF, seed=1).by_fold.iloc[0]
    scores, y = found.scores[FOLD_OF == 0], cut.problem.y[FOLD_OF == 0]
    losses = np.maximum(0.0, 1.0 - y * scores)
    assert line["hinge_loss"] == pytest.approx(losses.mean(), rel=1e-12)  # skips NaN
    assert line["n_test"] == 20
    assert line["decided"] == scores.notna().sum()


def test_a_level_that_a_fit_lacks_has_no_part_in_its_scores(frame):
    data = frame.copy()
    data["g"] = np.where(FOLD_OF == 2, "only", data["g"])
    model = ps.svm("y ~ scale(x) + g", data, lam=0.1)
    found = ps.cross_validate(model, SOLVER, folds=FOLD_OF, seed=1)
    own = data[FOLD_OF != 2]
    fit = ps.svm("y ~ scale(x) + g", own, lam=0.1).fit(SOLVER)
    as_first = data[FOLD_OF == 2].assign(g="a")  # the level without a coefficient
    expected = fit.decision_function(as_first)
    np.testing.assert_allclose(
        found.scores[FOLD_OF == 2], expected, rtol=NEAR, atol=NEAR
    )
    plain = ps.svm("y ~ x + g", data, lam=0.1)
    found = ps.cross_validate(plain, SOLVER, folds=FOLD_OF, seed=1)
    fit = ps.svm("y ~ x + g", own, lam=0.1).fit(SOLVER)
    expected = fit.decision_function(as_first)
    np.testing.assert_allclose(
        found.scores[FOLD_OF == 2], expected, rtol=NEAR, atol=NEAR
    )


def test_counts_missing_rows_and_all_studies(frame):
    data = frame.copy()
    data.loc[[4, 30], "x"] = np.nan
    data["n"] = np.arange(60) % 3
    given = {"lam": 0.1, "freq_weights": "n"}
    model = ps.svm("y ~ scale(x) + g", data, **given)
    assert model.problem.n == 60 - data["n"][[4, 30]].sum()
    folds = ps.cross_validate(model, SOLVER, folds=3, seed=2).folds
    path = ps.lambda_path(model, [0.1], SOLVER, folds=folds)
    cv = ps.cross_validate(model, SOLVER, folds=folds)
    assert path.table["error_rate"].iloc[0] == cv.mean["error_rate"]
    rows = data.loc[np.repeat(np.arange(60), data["n"])].dropna().reset_index(drop=True)
    for train, test in folds:
        fit = ps.svm("y ~ scale(x) + g", rows.iloc[train], lam=0.1).fit(SOLVER)
        expected = fit.decision_function(rows.iloc[test])
        ours = cv.scores.iloc[test]
        near(ours, expected)
    kernel = ps.kernel_svm("y ~ scale(x) + z", frame, gamma=0.5, lam=0.1)
    found = ps.cross_validate(kernel, SOLVER, folds=FOLD_OF, seed=1)
    own = frame[FOLD_OF != 0]
    fit = ps.kernel_svm("y ~ scale(x) + z", own, gamma=0.5, lam=0.1).fit(SOLVER)
    expected = fit.decision_function(frame[FOLD_OF == 0])
    np.testing.assert_allclose(
        found.scores[FOLD_OF == 0], expected, rtol=NEAR, atol=NEAR
    )


@pytest.mark.parametrize("term", ["scale(x)", "I((x - mean(x)) / sd(x))"])
def test_a_fold_in_which_a_transform_has_no_value_is_named(frame, term):
    data = frame.assign(x=np.where(FOLD_OF == 1, frame["x"], 2.0))
    model = ps.svm(f"y ~ {term}", data, lam=0.1)
    with pytest.raises(DataError, match=r"^Fold 1 of repeat 1 has 40 rows to fit"):
        ps.cross_validate(model, SOLVER, folds=FOLD_OF, seed=1)

"""Nested selection, thresholds and paired differences against loops written by hand.

Folds are those of the package; transforms, fits, scores and choices are of numpy, scipy
and scikit-learn. Data: wine and breast cancer of scikit-learn, in groups.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import BSpline
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.studies.folds import draw_folds

GRID = [0.3, 0.03, 0.003]
EXACT = ps.Optimum(tol=1e-11, epochs=2000, seed=1)
# Gaps of 1e-11 at lambda 0.003 leave scores within sqrt(2e-11 / 0.003) = 8e-5 times the
# length of a row, some 3; and scikit-learn's own tolerances are of that order.
CLOSE = 3e-4


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    frame = X[["alcohol", "magnesium", "flavanoids"]][y > 0].reset_index(drop=True)
    frame["y"] = np.where(y[y > 0] == 2, "third", "second")
    frame["group"] = frame.index.to_numpy() * 7 % 31
    return frame


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.iloc[::4, [0, 1, 4]].set_axis(["a", "b", "c"], axis=1)
    frame["y"] = np.where(y.iloc[::4] == 1, "benign", "malignant")
    frame["group"] = frame["a"].round()
    return frame.reset_index(drop=True)


def scaled(train, column):
    return lambda rows: (rows[column] - train[column].mean()) / train[column].std()


def splined(train, column, df):
    """Of R: cubic, knots at quantiles, the first column left out, going on beyond."""
    x = train[column].to_numpy()
    inner = np.quantile(x, np.linspace(0.0, 1.0, df - 1)[1:-1])
    knots = np.concatenate([[x.min()] * 4, inner, [x.max()] * 4])
    every = BSpline(knots, np.eye(len(knots) - 4), 3)
    return lambda rows: every(rows[column].to_numpy())[:, 1:]


def logistic(X, positive, lam):
    fit = LogisticRegression(C=1.0 / (lam * len(X)), tol=1e-9, solver="newton-cholesky")
    return fit.fit(X, positive).decision_function


def hinge(X, positive, lam):
    fit = SVC(C=1.0 / (lam * len(X)), kernel="linear", tol=1e-9)
    return fit.fit(X, positive).decision_function


def log_loss(positive, scores):
    return float(np.logaddexp(0.0, np.where(positive, -scores, scores)).mean())


def error_rate(positive, scores):
    return float(((scores > 0.0) != positive).mean())


CASES = {
    "log": (ps.logit, logistic, log_loss, "scale(magnesium) + bs(alcohol, df=5)"),
    "hinge": (ps.svm, hinge, error_rate, "scale(flavanoids) + bs(alcohol, df=4)"),
}


def by_hand(loss, train, test, lam):
    """Scores of held-out rows by a fit whose transforms know the others alone."""
    _, fit, _, terms = CASES[loss]
    first = terms[6 : terms.index(")")]
    parts = [scaled(train, first), splined(train, "alcohol", 5 if loss == "log" else 4)]
    design = [np.column_stack([part(rows) for part in parts]) for rows in (train, test)]
    return fit(design[0], train["y"] == "third", lam)(design[1])


def decisions(positive, scores, cut):
    """False positives and false negatives."""
    above = scores > cut
    return np.array([(above & ~positive).sum(), (~above & positive).sum()])


def cheapest(positive, scores, costs):
    """The middle between scores that costs least; of several the nearest to 1/2."""
    sorted_scores = np.unique(scores)
    middles = (sorted_scores[:-1] + sorted_scores[1:]) / 2.0
    middles[np.searchsorted(sorted_scores, 0.5) - 1] = 0.5
    cuts = np.array([0.0, *middles, 1.0])
    paid = np.array([decisions(positive, scores, cut) @ costs for cut in cuts])
    best = np.flatnonzero(paid == paid.min())
    return cuts[best[np.argmin(abs(cuts[best] - 0.5))]]


def mean_and_error(values, sizes):
    """Of folds that count as their rows do."""
    mean = np.average(values, weights=sizes)
    spread = np.average((values - mean) ** 2, weights=sizes)
    return mean, np.sqrt(spread / (len(values) - 1))


def chosen(losses, sizes, rule):
    """The largest lambda within one standard error of the best, or the best."""
    found = [mean_and_error(np.array(each), sizes) for each in losses]
    means = np.array([mean for mean, _ in found])
    best = int(np.argmin(means))
    if rule == "min":
        return best
    return int(np.argmax(means <= means[best] + found[best][1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "rule", "grouped"),
    [("log", "1se", True), ("log", "min", False), ("hinge", "1se", True)],
)
def test_nested_selection_is_that_of_a_plain_loop(wine, loss, rule, grouped):
    make, _, measure, terms = CASES[loss]
    model = make(f"y ~ {terms}", wine)
    options = {"groups": "group"} if grouped else {}
    options |= {"folds": 3, "seed": 20, "lambda_path": GRID, "rule": rule}
    found = ps.cross_validate(model, EXACT, workers=1, **options)
    positive = (wine["y"] == "third").to_numpy()
    groups = pd.factorize(wine["group"])[0]
    rng = ps.RRandom(20)
    outer = draw_folds(positive.astype(int), 3, 1, rng, groups if grouped else None)
    assert (outer.assignment == found.folds.assignment).all()
    if grouped:
        fold_of = pd.Series(outer.assignment[0])
        assert (fold_of.groupby(groups).nunique() == 1).all()
    lines = []
    for train, test in outer:
        within = pd.factorize(wine["group"].iloc[train])[0] if grouped else None
        own = draw_folds(positive[train].astype(int), 10, 1, rng, within)
        losses, sizes = [[] for _ in GRID], []
        for a, b in own:
            fitted, held = wine.iloc[train[a]], wine.iloc[train[b]]
            sizes.append(len(b))
            for at, lam in zip(losses, GRID, strict=True):
                scores = by_hand(loss, fitted, held, lam)
                at.append(measure(held["y"] == "third", scores))
        lam = GRID[chosen(losses, sizes, rule)]
        scores = by_hand(loss, wine.iloc[train], wine.iloc[test], lam)
        apart = found.scores.iloc[test] - scores
        if loss == "hinge":  # whose best intercepts may be an interval
            assert abs(apart.mean()) < 0.01
            apart -= apart.mean()
        np.testing.assert_allclose(apart, 0.0, atol=CLOSE * (1.0 + abs(scores).max()))
        lines.append((lam, measure(positive[test], scores), len(train), len(test)))
    lams, values, fitted, tested = map(np.array, zip(*lines, strict=True))
    assert found.by_fold["lam"].tolist() == lams.tolist()
    mean, error = mean_and_error(values, tested)
    name = "log_loss" if loss == "log" else "error_rate"
    np.testing.assert_allclose(found.by_fold[name], values, atol=CLOSE)
    assert found.mean[name] == pytest.approx(mean, abs=CLOSE)
    corrected = np.sqrt(1.0 + 3 * np.mean(tested / fitted))
    assert found.std_error[name] == pytest.approx(error * corrected, abs=CLOSE)


def cancer_scores(train, test):
    """Probabilities of the second level for held-out rows, columns scaled on others."""
    parts = [scaled(train, "a"), splined(train, "b", 4), lambda rows: rows["c"] * 10.0]
    X, held = (np.column_stack([part(r) for part in parts]) for r in (train, test))
    return expit(logistic(X, train["y"] == "malignant", 0.02)(held))


@pytest.mark.parametrize("grouped", [False, True])
def test_a_threshold_is_that_of_a_plain_loop(cancer, grouped):
    costs = {"false_positive": 1, "false_negative": 4}
    model = ps.logit("y ~ scale(a) + bs(b, df=4) + I(c * 10)", cancer, lam=0.02)
    options = {"groups": "group"} if grouped else {}
    found = model.fit(EXACT).thresholds(cost=costs, folds=4, seed=3, **options)
    positive = (cancer["y"] == "malignant").to_numpy()
    rng, paid = ps.RRandom(3), np.array([1.0, 4.0])
    codes = pd.factorize(cancer["group"])[0] if grouped else None
    outer = draw_folds(positive.astype(int), 4, 1, rng, codes)
    assert (outer.assignment == found.folds.assignment).all()
    every, cuts, wrong, usual = np.empty(len(cancer)), [], [], []
    for train, test in outer:
        rows = cancer.iloc[train]
        held = cancer_scores(rows, cancer.iloc[test])
        every[test] = held
        own = pd.factorize(rows["group"])[0] if grouped else None
        inner = np.empty(len(train))
        for a, b in draw_folds(positive[train].astype(int), 5, 1, rng, own):
            inner[b] = cancer_scores(rows.iloc[a], rows.iloc[b])
        cuts.append(cheapest(positive[train], inner, paid))
        wrong.append(decisions(positive[test], held, cuts[-1]) @ paid)
        usual.append(decisions(positive[test], held, 0.5) @ paid)
    sizes = np.array([len(test) for _, test in outer])
    np.testing.assert_allclose(found.by_fold["threshold"], cuts, atol=CLOSE)
    assert found.threshold == pytest.approx(cheapest(positive, every, paid), abs=CLOSE)
    factor = np.sqrt(1.0 + 4 * np.mean(sizes / (len(cancer) - sizes)))
    for spent, (_, line) in zip((wrong, usual), found.tidy().iterrows(), strict=True):
        spent = np.array(spent)
        # The same decisions: costs are equal but for the order of sums.
        assert line["estimate"] == pytest.approx(spent.sum() / len(cancer), rel=1e-12)
        left = (spent.sum() - spent) / (len(cancer) - sizes)
        error = np.sqrt(3 / 4 * np.square(left - left.mean()).sum())
        assert line["std_error"] == pytest.approx(error * factor, rel=1e-9)

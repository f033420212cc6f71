"""What a report says in two places agrees: areas, rows, intervals, scales, steps."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.output.report import predictors

pytestmark = pytest.mark.usefixtures("empty_figures")

FORMULA = "ill ~ age + sex"


def sample(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.normal(50.0, 12.0, n).round()})
    frame["sex"] = rng.choice(["f", "m"], n)
    odds = 0.09 * (frame["age"] - 58.0) + (frame["sex"] == "m")
    frame["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return frame


TRAIN, TEST = sample(200, 1), sample(90, 2)
TEST.loc[TEST.index[TEST["ill"] == "yes"][:9], "age"] = np.nan


def rows_of(page, name):
    """The cells of the first line of a table with this name, which is left out."""
    found = re.search(rf"^\| {name} \|(.*) \|$", page, re.MULTILINE)
    assert found is not None
    return [cell.strip() for cell in found[1].split("|")]


@pytest.fixture(scope="module")
def page(empty_figures):
    return ps.logit(FORMULA, TRAIN, lam=0.01).fit().report(TEST).as_markdown()


def test_the_area_of_a_figure_is_that_of_the_table(page):
    """Rows without a score, for a missing predictor, are in neither."""
    area = rows_of(page, "Area under the ROC curve")[0]
    assert f"ROC curve of the test rows, area {area}](" in page


def test_a_level_without_scores_has_no_curve():
    lacking = TEST.assign(age=TEST["age"].where(TEST["ill"] == "no"))
    page = ps.logit(FORMULA, TRAIN, lam=0.01).fit().report(lacking).as_markdown()
    assert "ROC curve of the test rows" not in page


def test_levels_count_the_rows_that_are_used(page):
    used = TEST.dropna()["ill"].value_counts()
    lacking = rows_of(page, "Left out: a predictor is missing")
    assert lacking == ["0", "9"]
    for level, code in (("no", "−1"), ("yes", r"\+1")):
        found = rows_of(page, rf"Used, labelled \*\*{level}\*\*, coded {code}")
        assert found == [str((TRAIN["ill"] == level).sum()), str(used[level])]
    assert f"tested on {used.sum()} rows" in page


def test_recall_has_the_interval_of_sensitivity(page):
    sensitivity, recall = (
        rows_of(page, rf"{name} \(yes\)")[1] for name in ("Sensitivity", "Recall")
    )
    assert recall == sensitivity
    assert "[" in recall


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("ones", [15, 23, 129])
def test_dummies_are_counts_on_any_scale(standardize, ones):
    """Standardized and back again these are no longer 0 and 1 to the last bit."""
    x, y = (np.arange(602) < ones) * 1.0, np.where(np.arange(602) % 2, "yes", "no")
    frame = pd.DataFrame({"smoker": x})
    model = ps.SVM(y, frame, standardize=standardize, lam=0.1)
    result = model.fit(cov_type="none")
    if standardize:
        back = result.scaling.unapply(result.problem.X)[:, 0]
        np.testing.assert_allclose(back, x, atol=1e-15)
    found = rows_of(result.report().as_markdown(), "smoker")[:2]
    counts = [int(x[y == level].sum()) for level in ("no", "yes")]
    assert found == [f"{count} ({count / 301:.0%})" for count in counts]


@pytest.mark.parametrize("of", [np.asarray, csr_array])
def test_only_zeros_and_ones_are_counts(of):
    tiny = [1e-13, 0.0, -1e-13]
    columns = [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.5, 1.0], tiny, [0.0, 1.0, 2.0]]
    found = predictors.are_shares(of(np.array(columns).T))
    assert found.tolist() == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("solver", "refine", "told"),
    [
        (ps.Pegasos(epochs=2, seed=1, batch_size=10), None, True),
        (ps.SDCA(seed=1), None, False),
        (ps.Pegasos(epochs=2, seed=1), 1e-6, False),
    ],
)
def test_violations_are_told_where_steps_visit_rows(solver, refine, told):
    result = ps.svm(FORMULA, TRAIN, lam=0.01).fit(solver, refine=refine)
    if told:
        visits = result.n_iter * getattr(solver, "batch_size", 1)
        assert result.n_violations <= visits
    page = result.report().as_markdown()
    assert ("| Margin violations |" in page) == told
    assert ("| Margin violation |" in page) == told  # of the words
    assert ("Margin violations:" in str(result.summary())) == told


def test_weights_of_classes_are_told_beside_the_probabilities():
    result = ps.logit(FORMULA, TRAIN, lam=0.01, weights="balanced").fit()
    (note,) = [note.text for note in result.notes if note.topic == "probabilities"]
    page = result.report(TEST).as_markdown()
    said = note.replace("_", "\\_")
    assert page.index("## Right and wrong") < page.index(said)
    assert "Log loss | $\\log(1 + e^{-m_i})$ in the fit" in page
    plain = ps.logit(FORMULA, TRAIN, lam=0.01).fit().report(TEST).as_markdown()
    assert "Probabilities are for" not in plain


def test_p_values_that_cannot_be_adjusted_below_5_percent_are_told():
    """With 199 resamples each is 0.01 at least, times five."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    y = X[:, 0] + rng.normal(0.0, 0.3, 100) > 0.0
    for k, told in ((4, False), (5, True)):
        few = ps.Bootstrap(199, seed=1, interval="symmetric")
        result = ps.SVM(y, X[:, :k], lam=0.01).fit(cov_type=few)
        page = result.report().as_markdown()
        assert ("none can be below 0.05" in page) == told
    assert (
        "The smallest p-value of 0.01 that the resamples can give is 0.05 when" in page
    )
    assert result.coefficient_table()["p_value"].min() == pytest.approx(0.01)


def test_a_single_coefficient_may_grow_by_the_penalty(page):
    """So nothing on the page says that the penalty draws all of them towards 0."""
    assert (
        "The penalty makes the coefficients smaller as a whole; single ones may be "
        "larger than without it, or have the other sign."
    ) in page
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(500, 1))
    X = np.sqrt(0.3) * rng.normal(size=(500, 3)) + np.sqrt(0.7) * shared
    y = X @ [1.5, 0.5, -0.3] + rng.logistic(size=500) > 0.0
    strong, none = (ps.Logit(y, X, lam=lam).fit().coef["x3"] for lam in (1.0, 1e-9))
    assert none < 0.0 < strong

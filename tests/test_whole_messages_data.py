"""Errors about data, labels, files and figures in full, as `test_whole_messages`."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.labels import signs_of
from pegasos_stats.errors import PegasosStatsError

X = np.array([[0.0], [1.0], [3.0], [2.0]])
Y = ["no", "no", "yes", "yes"]
DATA = pd.DataFrame({"y": Y, "x": X[:, 0], "g": list("abab"), "k": [1, 2, 1, 2]})
VOTE = ps.LabelCoding.from_labels(pd.Series(Y), name="vote")
FORMAT = (
    "the format is 'label index:value index:value ...', indices whole numbers up to "
    "2,147,483,646."
)


def coded(values, coding="factor"):
    return ps.LabelCoding.from_labels(pd.Series(values), coding, "vote")


def fitted(formula="y ~ x", **options):
    return ps.svm(formula, DATA, lam=1.0).fit(ps.SDCA(seed=1), **options)


def weighted(weights):
    return ps.SVM(Y, X, weights=weights, lam=1.0)


def named_twice():
    named = ps.SVM(pd.Series(Y, name="x1"), X, lam=1.0).fit(ps.SDCA(seed=1))
    return named.confusion(X)


MESSAGES = [
    (
        lambda: coded(np.array([None, None], dtype=object)),
        "The outcome 'vote' has no value; it needs two levels.",
    ),
    (
        lambda: coded(["a", "a"]),
        "The outcome 'vote' has 1 level, 'a'; exactly two are needed: take data in "
        "which both classes occur.",
    ),
    (
        lambda: coded(range(7, -1, -1)),
        "The outcome 'vote' has 8 levels, 0, 1, 2, 3, 4 and 3 more; exactly two are "
        "needed. Keep two of them: keep = np.isin(y, [0, 1]), then "
        "np.asarray(y)[keep] and X[keep]. Or one against the others: "
        "np.asarray(y) == 0 for y. Or each against the others, with "
        "sklearn.multiclass and pegasos_stats.sklearn: "
        "OneVsRestClassifier(SVMClassifier()).fit(X, y).",
    ),
    (
        lambda: coded(["a", 1]),
        "The outcome 'vote' mixes values of types int, str, which have no order; "
        "convert the column to one type, or give coding=(negative, positive).",
    ),
    (
        lambda: coded(Y, "alphabet"),
        "coding='alphabet' is not known; give 'factor', 'first-seen' or a pair "
        "(negative, positive).",
    ),
    (
        lambda: coded(Y, ("no", "no")),
        "coding=('no', 'no') is not known; give 'factor', 'first-seen' or a pair of "
        "different levels (negative, positive).",
    ),
    (
        lambda: coded(Y, ("no", "maybe")),
        "The outcome 'vote' has the levels 'no', 'yes' and coding=('no', 'maybe') was "
        "given; both levels and no other must occur.",
    ),
    (
        lambda: coded([[1], [2]]),
        "The outcome 'vote' holds values of type list; labels must be text, numbers, "
        "booleans or categories.",
    ),
    (
        lambda: VOTE.encode(pd.Series(["no", "hm", "x", "hm"], index=[4, 5, 6, 7])),
        "The outcome 'vote' holds 'hm', 'x' in 3 rows (5, 6, 7); the model knows the "
        "levels 'no', 'yes' only: drop or recode these rows.",
    ),
    (
        lambda: signs_of(np.zeros(1), "up"),
        "ties='up' is not known; give one of 'na', 'positive', 'negative'.",
    ),
    (
        lambda: ps.SVM("ab", X, lam=1.0),
        "Labels are of type str and not in one column; give a Series, an array or a "
        "list with one label for each row.",
    ),
    (
        lambda: ps.SVM(Y[:3], X, lam=1.0),
        "y has 3 values and X has 4 rows; give one label for each row.",
    ),
    (
        lambda: fitted("y ~ g").predict(
            pd.DataFrame({"g": list("azqz")}, index=[7, 8, 9, 10])
        ),
        "Column 'g' holds levels that did not occur at fit, 'z', 'q', in 3 rows (8, 9, "
        "10); the model knows 'a', 'b': drop or recode these rows. "
        "unseen='missing' gives them no prediction.",
    ),
    (
        lambda: fitted("y ~ C(k)").predict(pd.DataFrame({"k": [1, 3]})),
        "Column 'k' holds levels that did not occur at fit, 3, in 1 row (1); the model "
        "knows 1, 2: drop or recode these rows. unseen='missing' gives them no "
        "prediction.",
    ),
    (
        lambda: fitted().predict(pd.DataFrame({"z": [1.0]})),
        "Column 'x' not found; the data have 'z': check the spelling or add the "
        "column.",
    ),
    (
        lambda: fitted().predict(pd.DataFrame({"x": ["u"]})),
        "Column 'x' is not numeric: it holds 'u' in 1 row (0); give numbers, or make "
        "it a factor of the model: C(...) in a formula.",
    ),
    (
        lambda: ps.SVM(Y, [[1.0], [np.inf], [2.0], [-np.inf]], lam=1.0),
        "Column 'x1' holds infinite values in 2 rows (1, 3); only finite numbers and "
        "missing values are allowed: replace them or drop the rows.",
    ),
    (
        lambda: ps.SVM(Y, pd.DataFrame(np.hstack([X, X]), columns=["a", "a"]), lam=1.0),
        "The column name 'a' occurs more than once; rename the columns.",
    ),
    (
        lambda: ps.SVM(Y, np.full((4, 1), 1e308), standardize=True, lam=1.0).fit(),
        "The sum of a column overflows, so that it has no mean; divide the predictors "
        "by a power of ten first.",
    ),
    (
        lambda: ps.svm("y ~ zz + x", DATA, lam=1.0),
        "Column 'zz' not found; the data have 'y', 'x', 'g', 'k': check the spelling "
        "or add the column.",
    ),
    (
        lambda: ps.svm(
            "readmited ~ x", DATA.rename(columns={"y": "readmitted"}), lam=1.0
        ),
        "Column 'readmited' not found (did you mean 'readmitted'?); the data have "
        "'readmitted', 'x', 'g', 'k': check the spelling or add the column.",
    ),
    (
        lambda: ps.svm("y ~ a:b", DATA.rename(columns={"x": "a:b"}), lam=1.0),
        "Columns 'a', 'b' not found; the data have 'y', 'a:b', 'g', 'k': a formula has "
        "such a name in backticks, `a:b`; or add the column.",
    ),
    (
        lambda: ps.svm("y ~ a b", DATA.rename(columns={"x": "a b"}), lam=1.0),
        "The formula 'y ~ a b' cannot be used: there is no + or other operator between "
        "`a` and `b`; a name that is no single word stands in backticks, as in `a b`.",
    ),
    (
        lambda: ps.svm("y ~ x", "rows.csv", lam=1.0),
        "data is of type str; a formula needs a data frame with named columns: read "
        "the file first, and give a path to write to as path=.",
    ),
    (
        lambda: ps.svm("y ~", DATA, lam=1.0),
        "The formula 'y ~' is not of the form 'outcome ~ terms'; write for example "
        "'y ~ .' or 'y ~ a + C(b)'.",
    ),
    (
        lambda: ps.svm("y ~ 1", DATA, lam=1.0),
        "The formula 'y ~ 1' has no predictor; add one.",
    ),
    (
        lambda: fitted().augment(DATA.assign(score=1.0, predicted=1)),
        "The data have columns called 'predicted', 'score', which augment() adds; give "
        "another beginning of the new names, such as prefix='.'.",
    ),
    (
        lambda: fitted().augment(DATA, prefix=3),
        "prefix=3 is not allowed; give text, such as prefix='.'.",
    ),
    (
        named_twice,
        "The outcome and a predictor are both called 'x1'; give the data and the "
        "labels: confusion(data, actual=labels).",
    ),
    (
        lambda: fitted().plot.roc(DATA.iloc[:2]),
        "None of 2 rows is 'yes' and has a score; a ROC curve needs rows of both "
        "levels.",
    ),
    (
        lambda: fitted().plot.margins(DATA.assign(x=np.nan)),
        "None of 4 rows has a label and a score; give data with labels and without "
        "missing values.",
    ),
    (
        lambda: fitted().plot.trace(),
        "The fit kept no trace; fit again with fit(trace=True) for this figure.",
    ),
    (
        lambda: fitted().plot.coefficient_image((2, 2)),
        "shape=(2, 2) has 4 pixels and the model 1 coefficients; give rows and columns "
        "of which these are the product.",
    ),
    (
        lambda: fitted().plot.coefficients(2.5),
        "max_terms=2.5 is not allowed; give a whole number above zero.",
    ),
    (
        lambda: weighted([1, 2]),
        "weights have the shape (2,) and there are 4 rows; give one for each row.",
    ),
    (
        lambda: weighted([1, -2, 1, np.inf]),
        "weights hold -2.0, inf in the rows 1, 3; give finite numbers, 0 or more.",
    ),
    (
        lambda: weighted({"no": 1, "yes": 2, "maybe": 1}),
        "weights name the levels 'no', 'yes', 'maybe'; give a weight for each of 'no', "
        "'yes'.",
    ),
    (
        lambda: weighted({"no": 1, "yes": np.nan}),
        "The weight of level 'yes' is missing; give a number of 0 or more.",
    ),
    (
        lambda: weighted([0, 0, 1, 1]),
        "All rows of level 'no' have weight 0; give weights above zero to some of "
        "them.",
    ),
    (
        lambda: weighted({"no": 1, "yes": 0}),
        "All rows of level 'yes' have weight 0; give weights above zero to some of "
        "them.",
    ),
    (
        lambda: weighted("balance"),
        "weights='balance' is no column of the data; give the name of one, or one "
        "number for each row, a weight for each level, or 'balanced'.",
    ),
    (
        lambda: weighted(list("abcd")),
        "weights of type list are not numbers; give one number for each row, a weight "
        "for each level, or 'balanced'.",
    ),
    (
        lambda: weighted([1e-320, 1.0, 1.0, 1e5]),
        "weights go from 1e-320 to 100000.0: beside their mean the smallest would be "
        "0; give 0 for rows that do not count, or weights nearer to each other.",
    ),
]
FILES = [
    (b"1 1:2\n\n-1 2:x 3:1\n", f"Line 3 of data holds '2:x'; {FORMAT}"),
    (b"1 1:2\nx 2:1\n", f"Line 2 of data holds 'x'; {FORMAT}"),
    (b"# 1\n1 2147483647:1\n", f"Line 2 of data holds '2147483647:1'; {FORMAT}"),
    (
        b"1 1:2\n-1 3:1 2:1 3:1\n",
        "Line 2 of data has the same index twice; each feature may stand once in a "
        "row.",
    ),
    (b"\n# nothing\n", "The file data has no rows; give one with data."),
    (None, "The file data is not there; give the path of a data file."),
]


@pytest.mark.parametrize(("call", "said"), MESSAGES, ids=range(len(MESSAGES)))
def test_an_error_says_exactly_this(call, said):
    with pytest.raises(PegasosStatsError) as caught:
        call()
    assert str(caught.value) == said


@pytest.mark.parametrize(("content", "said"), FILES, ids=range(len(FILES)))
def test_an_error_of_a_file_says_exactly_this(content, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "data").write_bytes(content)
    with pytest.raises(PegasosStatsError) as caught:
        ps.read_svmlight("data")
    assert str(caught.value) == said


def test_a_folder_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PegasosStatsError) as caught:
        ps.read_svmlight(".")
    assert str(caught.value) == (
        "The file . is a folder; give the path of a data file."
    )


def test_the_largest_index_is_taken(tmp_path):
    (tmp_path / "data").write_bytes(b"1 2147483646:0.5\n0 1:1\n")
    found = ps.read_svmlight(tmp_path / "data")
    assert found.X.shape == (2, 2147483646)
    assert found.X[0, 2147483645] == 0.5

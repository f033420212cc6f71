"""Reports with cross-validation: how lambda was chosen, errors out of fold, classes."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.report import coefficients, document, fitted, predictors
from pegasos_stats.output.report import report as reports
from pegasos_stats.output.report.origin import of_memory
from pegasos_stats.output.report.subject import (
    Subject,
    held_out_rows,
    out_of_fold,
    training_rows,
)

pytestmark = pytest.mark.usefixtures("empty_figures")

FORMULA = "ill ~ age + sex + smoker"


def sample(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.normal(50.0, 12.0, n).round()})
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["smoker"] = rng.integers(0, 2, n)
    odds = -4.5 + 0.09 * frame["age"] + 0.8 * frame["smoker"] - 1.2
    frame["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return frame


TRAIN, TEST = sample(160, 1), sample(90, 2)
TRAIN.loc[[3, 8], "age"] = np.nan
TRAIN.loc[5, "ill"] = None
TEST.loc[[1, 2, 7], "age"] = np.nan
LAMBDAS = [0.1, 0.01, 0.001]


@pytest.fixture(scope="module")
def path():
    return ps.lambda_path(ps.logit(FORMULA, TRAIN, lam=1.0), LAMBDAS, folds=4, seed=1)


@pytest.fixture(scope="module")
def logit(path):
    return path.refit("min")


@pytest.fixture(scope="module")
def said_of_test(logit, empty_figures):
    return text(logit.report(TEST))


@pytest.fixture(scope="module")
def said_without_test(logit, empty_figures):
    return text(logit.report())


def text(made):
    words = document.plain_text
    found = []
    for section in made.document.sections:
        for block in section.blocks:
            for each in getattr(block, "blocks", [block]):
                found.append(words(getattr(each, "text", "") or ""))
                found.append(words(getattr(each, "caption", "") or ""))
                for row in getattr(each, "rows", []):
                    found.append(" | ".join(map(words, row)))
                for tile in getattr(each, "tiles", []):
                    found.append(" | ".join(map(words, tile)))
    return "\n".join(found)


def test_the_page_says_how_lambda_was_chosen(path, logit, said_of_test):
    said = text(logit.report(TEST, path_of_lambda=path))
    lam = f"{path.lambda_min:g}"
    assert (
        f"\\lambda = {lam} was chosen among 3 values from 0.001 to 0.1 by "
        "cross-validation of the training rows (4 stratified folds of 157 rows)"
    ) in said
    rough = "That standard error is rough: fits of different folds share rows. "
    fixed = (
        "Standard errors, intervals and p-values take lambda as fixed, and may be too "
        "small."
    )
    assert f". {fixed}" in said
    assert rough not in said  # of the rule "min", by which no error is looked at
    assert f". {rough}{fixed}" in text(path.refit("1se").report(path_of_lambda=path))
    plain = f"\\lambda = {lam} was given. Standard errors"
    assert plain in said_of_test


def test_what_is_not_of_the_fit_is_refused(path, logit):
    other = ps.logit(FORMULA, TRAIN, lam=0.5)
    with pytest.raises(OptionError) as found:
        other.fit().report(path_of_lambda=path)
    assert str(found.value).startswith("path_of_lambda chose ")
    assert str(found.value).endswith(
        "and the fit has lam=0.5; give the path that the fit came from, as by "
        "path.refit()."
    )
    validation = ps.cross_validate(other, folds=3, seed=1)
    with pytest.raises(OptionError) as found:
        logit.report(validation=validation)
    assert str(found.value) == (
        f"validation is of lam=0.5 and the fit has lam={logit.problem.lam!r}; give "
        "that of the same model."
    )
    with pytest.raises(OptionError) as found:
        logit.report(validation=path)
    expected = "validation is of type LambdaPath; give a CrossValidation."
    assert str(found.value) == expected
    with pytest.raises(OptionError, match="path_of_lambda is of type str"):
        logit.report(path_of_lambda="path")
    elsewhere = ps.cross_validate(ps.logit(FORMULA, TEST, lam=1.0), folds=3, seed=1)
    with pytest.raises(OptionError) as found:
        logit.report(validation=elsewhere)
    assert str(found.value) == (
        "validation is of other rows than the fit; give that of the same model."
    )


def test_without_test_rows_there_is_nothing_to_infer(said_without_test):
    said = said_without_test
    assert "The fit has seen these rows, so nothing can be inferred from them" in said
    assert "There are no intervals and tests" in said
    assert "interval " not in said.split("Statistics of the rows")[0]
    assert "independent random sample" not in said
    assert "Calibration" not in said.replace("Calibration error | Distance", "")
    (line,) = [x for x in said.split("\n") if x.startswith("P-value [accuracy")]
    assert line == "P-value [accuracy > no-information rate] | "


def test_errors_out_of_fold_take_the_place_of_a_test(path):
    model = path.best_model("min")
    validation = ps.cross_validate(model, folds=4, seed=1)
    made = model.fit().report(validation=validation)
    said, table = text(made), validation.confusion()
    spread, rate = validation.std_error["error_rate"], table.error_rate
    chance = np.sqrt(rate * (1.0 - rate) / 157)
    assert spread > chance
    start = (
        f"{table.n_errors} of 157 training rows were misclassified by fits that had "
        f"not seen them, an error rate of {100 * rate:.1f}%, standard error "
    )
    end = (
        " (4 stratified folds of 157 rows). Lambda was the same in all folds. Fits of "
        "different folds share rows: a standard error is rough, and there is no exact "
        "interval."
    )
    assert f"{start}{100 * spread:.2f}%, from the folds{end}" in said
    assert "Area under the ROC curve, scores of all folds pooled | " in said
    assert "Calibration: observed shares of the out-of-fold rows" in said
    chosen = model.fit().report(validation=validation, path_of_lambda=path)
    assert "Lambda was chosen on the same rows, so this is optimistic" in text(chosen)
    nested = ps.cross_validate(model, folds=3, seed=1, lambda_path=LAMBDAS)
    said = text(model.fit().report(validation=nested, path_of_lambda=path))
    assert "Lambda was chosen anew in each fold, so that the choice is counted." in said


def test_folds_that_differ_by_less_than_rows_do_have_the_error_of_rows():
    """Each stratified fold predicts one level alone, in its share of the rows."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {"x": rng.normal(size=200), "y": np.repeat(["a", "b"], [92, 108])}
    )
    model = ps.svm("y ~ x", data, lam=5.0)
    validation = ps.cross_validate(model, folds=5, seed=1)
    rate = 92 / 200
    chance = 100.0 * np.sqrt(rate * (1.0 - rate) / 200)
    assert validation.std_error["error_rate"] < 0.02 < chance / 100.0
    said = text(model.fit().report(validation=validation))
    assert f"standard error {chance:.2f}%, that of as many independent rows" in said


def test_one_positive_class_is_in_every_label(logit, said_of_test):
    for positive, other in (("no", "yes"), ("yes", "no")):
        said = text(logit.report(TEST, positive=positive))
        table = logit.confusion(TEST, positive=positive)
        assert f"The positive class is {positive}; what is of it alone" in said
        sensitivity = table.by_class["sensitivity"]
        assert f"Sensitivity ({positive}) | " in said
        assert f"{sensitivity:.4f} [" in said
        assert f"Sensitivity ({other})" not in said
        assert f"The mean probability of {positive} is " in said
    assert said_of_test == said  # of the second level


def test_what_makes_test_rows_new_is_said(logit, said_of_test):
    assert (
        "Intervals and tests of the test rows are right if these are an independent "
        "random sample of the rows that the fit is meant for, and nothing was chosen "
        "by them: neither predictors nor \\lambda nor the model. Several rows of one "
        "person, or of one writer, are not independent."
    ) in said_of_test
    seen = text(logit.report(TRAIN))
    assert "independent random sample" not in seen
    assert "The fit has seen these rows" in seen


def test_missing_values_are_told_by_variable(said_of_test):
    said = said_of_test
    assert "age | 2 | 3" in said
    assert "ill | 1 | 0" in said
    assert "Rows with a missing value were left out." in said
    whole = ps.logit(FORMULA, TRAIN.dropna(), lam=1.0).fit()
    assert "left out. What is said" not in text(whole.report())


def test_the_predictors_are_told_by_class(logit):
    rows = TRAIN.dropna()
    low, high = (rows[rows["ill"] == level] for level in ("no", "yes"))
    apart = high["age"].mean() - low["age"].mean()
    apart /= np.sqrt((low["age"].var() + high["age"].var()) / 2)
    subject = Subject(logit, training_rows(logit), None, of_memory(None, tested=False))
    (table,) = predictors.predictors_by_class(subject)
    assert table.columns == [
        "Predictor",
        f"no, {len(low)} rows",
        f"yes, {len(high)} rows",
        "Difference",
    ]
    age, sex, smoker = table.rows
    assert age[1].split("\xa0")[0] == f"{low['age'].mean():.3g}"
    assert age[2].endswith(f"({high['age'].std():.3g})")
    assert age[3] == f"{apart:.2f}".replace("-", "−")
    assert sex[0] == "sex[T.m]"
    assert smoker[1] == f"{low['smoker'].sum()} ({low['smoker'].mean():.0%})"
    scaled = ps.logit(FORMULA, TRAIN, standardize=True, lam=1.0).fit()
    other = Subject(scaled, training_rows(scaled), None, subject.origin)
    assert predictors.predictors_by_class(other)[0].rows == table.rows


def test_sparse_predictors_have_the_same_moments():
    from scipy.sparse import csr_array

    X = np.array([[0.0, 2.0], [1.0, 0.0], [1.0, 5.0], [0.0, 0.0]])
    rows = np.array([True, False, True, True])
    for one, two in zip(
        predictors.moments(X, rows), predictors.moments(csr_array(X), rows), strict=True
    ):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    assert predictors.are_shares(X).tolist() == [True, False]
    assert predictors.are_shares(csr_array(X)).tolist() == [True, False]


def test_p_values_are_adjusted_for_all_coefficients(logit, said_without_test):
    table = logit.coefficient_table()
    expected = multipletests(table["p_value"].iloc[1:], method="holm")[1]
    found = coefficients.adjusted(table)
    assert np.isnan(found[0])
    np.testing.assert_allclose(found[1:], expected)
    assert (
        "There are 3 p-values of coefficients: if none of these differed from 0, on "
        "average 0.15 of the 3 would be below 0.05 by chance."
    ) in said_without_test


def test_effects_are_told_per_standard_deviation(logit):
    X = logit.problem.X
    subject = Subject(logit, training_rows(logit), None, of_memory(None, tested=False))
    found = logit.coef * predictors.deviations(subject)
    np.testing.assert_allclose(found, logit.coef * X.std(axis=0, ddof=1), rtol=1e-12)
    section = coefficients.coefficients(subject)
    (table,) = [b for b in section.blocks if isinstance(b, document.Table)]
    assert table.columns[-2:] == ["Holm", "Per SD"]
    assert table.rows[0][-2:] == ("", "")
    assert float(table.rows[1][-1].replace("−", "-")) == pytest.approx(
        found.iloc[0], abs=6e-4
    )


def test_rows_out_of_fold_are_judged_as_the_table_has_them():
    model = ps.svm(FORMULA, TRAIN, lam=0.01)
    validation = ps.cross_validate(model, folds=3, seed=1)
    found = out_of_fold(validation, "no")
    assert found.table.positive == "no"
    assert found.rows == 157
    assert found.error_rate == validation.confusion().error_rate
    assert not found.is_new
    assert held_out_rows(model.fit(), TEST, "no").is_new


def test_a_choice_at_an_end_of_the_path_is_told():
    path = ps.lambda_path(ps.svm(FORMULA, TRAIN, lam=1.0), [0.1, 0.09], folds=3, seed=1)
    result = path.refit("min")
    subject = Subject(
        result,
        training_rows(result),
        None,
        of_memory(None, tested=False),
        path=path,
    )
    said = document.plain_text(fitted._choice(subject))
    assert said.endswith("It is the largest of the path; a better one may lie beyond.")
    assert reports._checked_studies(result, path, None) == (path, None)


def test_nothing_is_said_of_chance_below_what_resamples_can_give():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    model = ps.svm("y ~ a + b", data.assign(y=["u", "v"] * 30), lam=1.0)
    few = ps.Bootstrap(replicates=19, seed=1, interval="symmetric")
    text = model.fit(cov_type=few).report().as_markdown()
    assert "There are 2 p-values of coefficients. Those adjusted by Holm" in text
    assert "The smallest p-value of 0.1 that the resamples can give" in text


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("ill ~ age * sex + smoker", "('age', 'sex')"),
        ("ill ~ age + I(age ** 2) + sex", "('age')"),
        ("ill ~ bs(age, df=4) + sex", "('age')"),
        ("ill ~ age + sex + smoker", ""),
        ("ill ~ C(sex) + smoker", ""),
    ],
)
def test_what_belongs_together_is_not_read_alone(formula, names):
    said = text(ps.logit(formula, TRAIN, lam=0.01).fit(ps.SDCA(seed=1)).report(TEST))
    words = "Where a variable is in several columns"
    assert (f"{words} {names}" in said) if names else (words not in said)


def test_names_of_what_belongs_together_are_no_markup():
    odd = TRAIN.rename(columns={"age": "{age} **$", "sex": "a|b"})
    made = ps.logit("ill ~ `{age} **$` * `a|b`", odd, lam=0.01).fit(ps.SDCA(seed=1))
    assert "in several columns ('a|b', '{age} **$')" in text(made.report())
    apart = TRAIN.rename(columns={"sex": "age of"})  # a name within another
    made = ps.logit("ill ~ age + `age of`", apart, lam=0.01).fit(ps.SDCA(seed=1))
    assert "in several columns" not in text(made.report())


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("ill ~ sex", "became contrasts with their first level"),
        ("ill ~ C(sex, contr.sum)", "contrasts: those that the formula names"),
    ],
)
def test_contrasts_are_those_of_the_formula(formula, words):
    result = ps.logit(formula, TRAIN, lam=0.01).fit(ps.SDCA(seed=1))
    assert words in text(result.report(TEST))


def test_intervals_of_test_rows_do_not_know_groups():
    train = TRAIN.assign(ward=np.arange(160) // 4)
    solver = ps.SDCA(seed=1)
    plain = ps.logit(FORMULA, train, lam=0.01).fit(solver)
    grouped = ps.logit(FORMULA, train, lam=0.01).fit(solver, groups="ward")
    words = "take these as independent, and are too short where they come in groups"
    assert words in text(grouped.report(TEST))
    assert words not in text(plain.report(TEST))

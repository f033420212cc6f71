"""Errors of studies in full: every word and number counts."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import PegasosStatsError
from pegasos_stats.studies.selection.folds import Folds

X = np.array([[0.0], [1.0], [3.0], [2.0], [5.0], [4.0]])
Y = np.array(["no", "no", "yes", "no", "yes", "yes"])
SVM = ps.SVM(Y, X, lam=0.5)
P = [0.1, 0.2, 0.9, 0.3, 0.8, 0.7]
LEVELS = "'no', 'yes'"
FOLDS = (
    "give a number of folds, the fold of each row, pairs (train, test) of rows, or the "
    "folds of another cross-validation"
)
SOLVERS = "{'Pegasos': ps.Pegasos(epochs=20), 'SDCA': ps.SDCA()}"


def cv(**options):
    return ps.cross_validate(SVM, **options)


def pairs(*splits):
    return cv(folds=list(splits))


def seed(y, scores):
    return 0.0


def compared(solvers):
    return ps.compare_solvers(SVM, solvers, runs=1)


MESSAGES = [
    (
        lambda: cv(folds=7),
        "folds=7 is not allowed with 6 rows; give a number from 2 to that of the rows.",
    ),
    (
        lambda: cv(folds=1),
        "folds=1 is not allowed with 6 rows; give a number from 2 to that of the rows.",
    ),
    (
        lambda: Folds.stratified(["a"], 2),
        "1 row cannot be parted into folds; give two or more.",
    ),
    (
        lambda: SVM.fit().thresholds(X[:0], Y[:0]),
        "0 rows cannot be parted into folds; give two or more.",
    ),
    (
        lambda: cv(groups=["a"] * 6),
        "groups are 'a' in all rows; give two groups at least, as folds keep each "
        "whole, or leave groups out.",
    ),
    (
        lambda: SVM.fit().thresholds(X + 1.0, Y, groups=["a"] * 6),
        "groups are 'a' in all rows; give two groups at least, as folds keep each "
        "whole, or leave groups out.",
    ),
    (
        lambda: Folds.stratified(Y, 2, groups=[1] * 6),
        "groups are 1 in all rows; give two groups at least, as folds keep each "
        "whole, or leave groups out.",
    ),
    (
        lambda: cv(groups=[1, 1, 1, 2, 2, 2], folds=2, lambda_path=[0.5, 0.1]),
        "Fold 1 of repeat 1 leaves 1 group to fit, which no folds within can part; "
        "give more folds, or more groups.",
    ),
    (lambda: cv(folds="three"), f"folds='three' is not allowed; {FOLDS}."),
    (
        lambda: cv(folds=[[1, 2], [1, 2, 3], [1]]),
        f"folds are lists of different lengths; {FOLDS}.",
    ),
    (
        lambda: cv(folds=np.ones(6)),
        "folds hold 1.0 only; give at least two different ones.",
    ),
    (
        lambda: cv(folds=[1, 2, 1, 2]),
        "folds have 4 values and the model uses 6 rows; give one for each row.",
    ),
    (
        lambda: cv(folds=pd.Series([1.0, 2.0, np.nan, 1.0, 2.0, 1.0])),
        "folds are missing in the rows 2; fill them.",
    ),
    (
        lambda: cv(folds=pd.Series([1, 2] * 3, index=range(1, 7))),
        "The row labels of folds and data differ; align them (folds.loc[data.index]) "
        "or give folds.to_numpy() to match by position.",
    ),
    (
        lambda: cv(folds=Folds.stratified([0, 1] * 4, 2, seed=1)),
        "The folds are of 8 rows and the model uses 6 rows; give folds of these rows.",
    ),
    (
        lambda: pairs(([0, 1, 2], [2, 3]), ([3, 4], [0])),
        "The rows 2 of a fold are both fitted and held out; give pairs (train, test) "
        "without a common row.",
    ),
    (
        lambda: pairs(([0, 1, 2], [6]), ([3, 4], [0])),
        "folds hold rows from 6 to 6 and the model uses 6 rows, counted from zero; the "
        "last is 5.",
    ),
    (
        lambda: pairs(([0, 1, 2], [-1]), ([3, 4], [0])),
        "folds hold rows from -1 to -1 and the model uses 6 rows, counted from zero; "
        "the last is 5.",
    ),
    (
        lambda: pairs(([0, 0, 2], [4]), ([3, 4], [0])),
        "A fold holds a row twice; give each row once.",
    ),
    (
        lambda: pairs(([0, 1], []), ([3, 4], [0])),
        "A fold has no rows to fit or to hold out; give pairs (train, test) of rows "
        "counted from zero.",
    ),
    (
        lambda: pairs(([0, 1, 3], [2, 4]), ([2, 4, 5, 0], [1, 3])),
        "Fold 1 of repeat 1 leaves no row of level 'yes' to fit; give folds that leave "
        "both levels, of which each needs two rows or more.",
    ),
    (
        lambda: cv(folds=[1, 2, 1, 2, 1, 2], repeats=2),
        "repeats=2 goes with a number of folds; those given say themselves how often "
        "each row is tested.",
    ),
    (
        lambda: Folds.stratified([0, 1, None], 2),
        "y has 3 values, 1 of them missing; give a label for every row.",
    ),
    (
        lambda: cv(metrics=["auc", "auc"]),
        "metrics are 'auc', 'auc'; give different ones of 'error_rate', 'hinge_loss', "
        "'auc', or functions with names of their own.",
    ),
    (
        lambda: cv(metrics=[]),
        "metrics are none; give different ones of 'error_rate', 'hinge_loss', 'auc', "
        "or functions with names of their own.",
    ),
    (
        lambda: cv(metrics="r2"),
        "The metric 'r2' is not known for the hinge loss; give one of 'error_rate', "
        "'hinge_loss', 'auc', or a function of labels -1, +1 and scores that has a "
        "name.",
    ),
    (
        lambda: cv(metrics="AUC"),
        "The metric 'AUC' is not known for the hinge loss (did you mean 'auc'?); give "
        "one of 'error_rate', 'hinge_loss', 'auc', or a function of labels -1, +1 and "
        "scores that has a name.",
    ),
    (
        lambda: cv(metrics=["auc", seed]),
        "A metric is called 'seed', as a column of the lines of the folds is; give the "
        "function another name.",
    ),
    (
        lambda: cv(metrics="brier_score"),
        "'brier_score' needs probabilities, which the hinge loss does not give; take "
        "ps.logit(), or ps.calibrate() for probabilities of this model.",
    ),
    (
        lambda: ps.cross_validate(3),
        "model is of type int; give a model such as ps.svm(formula, data), not yet "
        "fitted.",
    ),
    (
        lambda: cv(solver=ps.Pegasos(order=[0, 1])),
        "order names rows of the whole data, and each fold fits a part of them; give "
        "'shuffle', 'sequential' or 'replace'.",
    ),
    (
        lambda: ps.lambda_grid(
            ps.SVM([0, 1, 0, 1], [[1.0], [1.0], [2.0], [2.0]], lam=1.0)
        ),
        "The predictors have the same mean in both levels, so that no largest lambda "
        "can be told; give lambdas.",
    ),
    (
        lambda: ps.lambda_grid(SVM, ratio=1.0),
        "ratio=1.0 is not allowed; give a number below 1.",
    ),
    (
        lambda: ps.calibrate(SVM, folds=[([0, 2, 3, 4], [1, 5])]),
        "A repeat has one fold only, so that no other gives the sigmoid for its rows; "
        "give at least two folds.",
    ),
    (
        lambda: ps.reliability(Y, P, [0.0, 0.5]),
        "bins=[0.0, 0.5] is not allowed; give a number of bins, or their ends "
        "increasing from 0 to 1.",
    ),
    (
        lambda: ps.reliability(list("abcabc"), P),
        "There are the levels 'a', 'b', 'c'; give probabilities of two, or those of "
        "one level and positive=.",
    ),
    (
        lambda: compared([ps.SDCA()]),
        f"solvers is of type list; give names and solvers, such as {SOLVERS}.",
    ),
    (
        lambda: compared({}),
        f"solvers is empty; give at least one, such as {SOLVERS}.",
    ),
    (
        lambda: compared({" ": ps.SDCA()}),
        "' ' does not name a solver; give text that is not blank.",
    ),
    (
        lambda: compared({"one": 1}),
        "solvers['one'] is of type int; give a solver, such as ps.Pegasos(epochs=20).",
    ),
    (
        lambda: ps.compare_solvers("model", {"a": ps.SDCA()}),
        "model is of type str; give a model that is not fitted yet, such as "
        "ps.svm('y ~ .', data).",
    ),
]


@pytest.mark.parametrize(
    ("call", "message"), MESSAGES, ids=[message[:40] for _, message in MESSAGES]
)
def test_every_word_of_it_is_there(call, message):
    with pytest.raises(PegasosStatsError) as caught:
        call()
    assert str(caught.value) == message

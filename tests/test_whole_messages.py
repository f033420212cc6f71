"""Errors in full: what was got, what is allowed, what to do, in one sentence each.

Other tests match a few words of a message; here every word and number of it counts.
"""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.foreign import limit
from pegasos_stats.data.language.hypotheses import constraints
from pegasos_stats.errors import PegasosStatsError, listing
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.solvers.pegasos_run import run_pegasos

X = np.array([[0.0], [1.0], [3.0], [2.0], [5.0], [4.0]])
Y = np.array(["no", "no", "yes", "no", "yes", "yes"])
SVM = ps.SVM(Y, X, lam=0.5)
LEVELS = "'no', 'yes'"


def hypotheses(given):
    return constraints(given, ["a", "b", 7])


def table(**options):
    return ps.confusion(Y, Y, **options)


MESSAGES = [
    (
        lambda: hypotheses("a = d"),
        "The hypothesis 'a = d' cannot be read; give a linear one, such as 'x1 = x2' "
        "or '2 * x1 - x2 = 1', in 'a', 'b', 7; in backticks where a name is no word: "
        "`7`.",
    ),
    (
        lambda: hypotheses("2 = 1"),
        "hypotheses='2 = 1' name no coefficient; give at least one in each.",
    ),
    (
        lambda: hypotheses("a = 0, a = 1"),
        "hypotheses='a = 0, a = 1' contradict each other; give ones that can hold "
        "together.",
    ),
    (
        lambda: hypotheses(([[1, 0, 0]], [np.inf])),
        "hypotheses=([[1, 0, 0]], [inf]) hold numbers that are not finite, or too far "
        "from 1; give 0 or numbers between 1e-100 and 1e+100 in size.",
    ),
    (
        lambda: hypotheses([1, 0, 1e-101]),
        "hypotheses=[1, 0, 1e-101] hold numbers that are not finite, or too far from "
        "1; give 0 or numbers between 1e-100 and 1e+100 in size.",
    ),
    (
        lambda: hypotheses([1, 0]),
        "hypotheses=[1, 0] cannot be read; give text such as 'x1 = x2', a matrix with "
        "3 columns, one for each coefficient, or a pair of such a matrix and the "
        "values of its rows.",
    ),
    (
        lambda: Bootstrap(tol=1.0),
        "tol=1.0 is not allowed: every fit is within it; give a relative gap below 1.",
    ),
    (
        lambda: table(positive="maybe"),
        f"positive='maybe' is not among the levels; give one of {LEVELS}.",
    ),
    (
        lambda: ps.confusion(list("abc"), list("abc"), positive="a"),
        "positive='a' makes no sense with 3 levels: each is compared with all others; "
        "leave it out.",
    ),
    (
        lambda: ps.confusion(list("abc"), list("abc"), prevalence=0.5),
        "prevalence=0.5 is not allowed with 3 levels; give a dict or Series with a "
        "number for each of them.",
    ),
    (
        lambda: table(prevalence=1.5),
        "prevalence=1.5 is not allowed; give a number from 0 to 1.",
    ),
    (
        lambda: ps.confusion(Y, Y[:5]),
        "There are 6 actual and 5 predicted labels; give one of each for every row.",
    ),
    (
        lambda: ps.confusion(["a", "b", "c"], ["a", "b", "b"], levels=["a", "b"]),
        "The actual labels hold 'c' in 1 row (2); known are 'a', 'b': drop or recode "
        "these rows.",
    ),
    (
        lambda: ps.confusion(Y, Y, levels=["no", "no"]),
        "levels=['no', 'no'] is not allowed; give a list of different labels.",
    ),
    (
        lambda: table().error_interval("wald"),
        "method='wald' is not known; give 'exact' or 'wilson'.",
    ),
    (
        lambda: table().error_interval("exact", 95),
        "level=95 is not allowed; give a number between 0 and 1.",
    ),
    (
        lambda: ps.compare_predictions(Y, Y, Y, names=("A", "A")),
        "names=('A', 'A') is not allowed; give two different texts, such as ('hinge', "
        "'log').",
    ),
    (
        lambda: SVM.fit(ps.Pegasos(order=[0, 6])),
        "order holds the row 6 and the fit uses 6 rows, counted from zero; the last is "
        "5.",
    ),
    (
        lambda: ps.Pegasos(order="random"),
        "order='random' is not known; give one of 'shuffle', 'sequential', 'replace', "
        "or an array of rows counted from zero.",
    ),
    (
        lambda: ps.Pegasos(order=[0.5]),
        "order is an array of shape (1,) and type float64; give rows as whole numbers "
        "counted from zero, in one list or one list per epoch.",
    ),
    (
        lambda: ps.Pegasos(average=21),
        "average=21 asks for more epochs than the run has; give 'all', 'none' or a "
        "smaller number of last epochs.",
    ),
    (
        lambda: ps.Pegasos(average=2, tol=0.1),
        "average=2 asks for the last epochs, and with a tolerance a run does not "
        "know which are the last; give 'all' or 'none'.",
    ),
    (
        lambda: ps.Pegasos(tol=1.0),
        "tol=1.0 is not allowed: every fit is within it; give a relative gap below 1.",
    ),
    (
        lambda: ps.Pegasos(change_tol=1),
        "change_tol=1.0 is not allowed: every fit is within it; give a share below 1.",
    ),
    (
        lambda: ps.Pegasos(change_tol=-0.5),
        "change_tol=-0.5 is not allowed; give a finite number, 0 or more.",
    ),
    (
        lambda: ps.Pegasos(first_step=0),
        "first_step=0 is not allowed; give a whole number above zero.",
    ),
    (
        lambda: ps.Pegasos(step="1/t"),
        "step='1/t' is not known; give one of 'pegasos', '1/(lambda n)', '1/sqrt(t)', "
        "a number, or one number for each step.",
    ),
    (
        lambda: ps.Pegasos(step=0),
        "step=0 is not allowed; give a finite number above zero.",
    ),
    (
        lambda: ps.Pegasos(step=SVM),
        "step is of type SVM; give a name such as '1/sqrt(t)', a number above "
        "zero, or one such number for each step.",
    ),
    (
        lambda: ps.Pegasos(step=[[1.0, 0.5]]),
        "step is an array of shape (1, 2); give one number above zero for each step, "
        "in one list.",
    ),
    (
        lambda: ps.Pegasos(step=[1.0, -0.5, 0.0]),
        "step holds the size -0.5; give finite numbers above zero.",
    ),
    (
        lambda: SVM.fit(ps.Pegasos(epochs=2, step=np.ones(11))),
        "step holds 11 sizes and the run takes 12 steps; give one size for each step.",
    ),
    (
        lambda: SVM.fit(ps.Pegasos(order="replace", steps=3, step=[1.0])),
        "step holds 1 size and the run takes 3 steps; give one size for each step.",
    ),
    (
        lambda: ps.Pegasos(start="sgd"),
        "start='sgd' is not known; give one of 'zero', 'random', a fit to go on from, "
        "or its coefficients.",
    ),
    (
        lambda: ps.Pegasos(start=SVM),
        "start is of type SVM; give 'zero', 'random', a fit to go on from, or "
        "coefficients, the intercept first.",
    ),
    (
        lambda: ps.Pegasos(start=2.0),
        "start is an array of shape (); give coefficients in one list, the intercept "
        "first.",
    ),
    (
        lambda: ps.Pegasos(start=[0.0, np.inf]),
        "start holds inf; give finite numbers.",
    ),
    (
        lambda: ps.Pegasos(start={"a": None}),
        "start['a'] is None; give finite numbers.",
    ),
    (
        lambda: ps.Pegasos(start=pd.Series([1.0, 2.0], index=["a", "a"])),
        "start has a name twice; give one coefficient for each.",
    ),
    (
        lambda: SVM.fit(ps.Pegasos(start=[0.0] * 5)),
        "start has 5 numbers and the model 2: the intercept, then 1 coefficient; give "
        "as many.",
    ),
    (
        lambda: SVM.fit(ps.Pegasos(start={"one": 1.0})),
        f"start has no coefficient of {listing(['Intercept', *SVM.names])}; give one "
        "for each of the params of the model.",
    ),
    (
        lambda: SVM.fit(
            ps.Pegasos(start={"Intercept": 0, "b": 1, **dict.fromkeys(SVM.names, 0)})
        ),
        "start has coefficients that the model has not, of 'b'; leave them out.",
    ),
    (
        lambda: run_pegasos(SVM.problem, ps.Pegasos(start={"a": 1.0})),
        "start has names, and the rows of this problem have none; give its "
        "coefficients in the order of the columns, the intercept first.",
    ),
    (
        lambda: ps.RRandom(1).runif(2, 1.0, 0.0),
        "max is 0.0, where a number of at least min = 1.0 is allowed; correct max.",
    ),
    (
        lambda: ps.RRandom(1).sample_int(3, 4),
        "size is 4, where at most n = 3 (more if replace=True and n > 0) is allowed; "
        "correct size.",
    ),
    (
        lambda: ps.RRandom(1).sample_int(3, 3, prob=[0, 1, 1]),
        "prob is [0, 1, 1], where a list with 3 or more numbers above 0 is allowed; "
        "correct prob.",
    ),
    (
        lambda: ps.RRandom(1).sample_int(3, prob=[1, 1]),
        "prob is [1, 1], where a list of 3 finite numbers of 0 or more is allowed; "
        "correct prob.",
    ),
    (
        lambda: ps.RRandom(1).sample_int(2, prob=[1e308, 1e308]),
        "prob is [1e+308, 1e+308], where a list of numbers with a finite sum is "
        "allowed; correct prob.",
    ),
    (
        lambda: table(beta=1e101),
        "beta=1e+101 is not allowed; give a number above zero, 1e+100 at most.",
    ),
    (
        lambda: ps.lambda_grid(SVM, ratio=5e-324),
        "ratio=5e-324 of the largest lambda, 3.75, is too small; give a larger one, "
        "such as 1e-4.",
    ),
    (
        lambda: ps.cross_validate(SVM, folds=np.zeros((0, 6))),
        "folds are empty; give a number of folds, the fold of each row, pairs (train, "
        "test) of rows, or the folds of another cross-validation.",
    ),
    (
        lambda: ps.cross_validate(SVM, folds=3, metrics=len),
        "The metric len raised TypeError: 'len() takes exactly one argument (2 "
        "given)'; give a function of labels -1, +1 and scores.",
    ),
    (
        lambda: SVM.fit(ps.Pegasos.paper(steps=1, batch_size=2**63, seed=1)),
        f"A batch of 9.22e+18 rows takes about 295,147,905,179.4 GB of memory, and "
        f"this process may use {limit() / 1e9:,.1f} GB; give a smaller one.",
    ),
    (
        lambda: SVM.fit(ps.Pegasos.paper(steps=1, batch_size=10**5000, seed=1)),
        f"A batch of 1e+300 rows takes about 3.2e+292 GB of memory, and "
        f"this process may use {limit() / 1e9:,.1f} GB; give a smaller one.",
    ),
    (
        lambda: ps.RRandom(1).rexp(1, 0.0),
        "rate is 0.0, where a number above 5.6e-309 is allowed; correct rate.",
    ),
    (
        lambda: ps.RRandom(1, sample_kind="old"),
        "sample_kind is 'old', where 'rejection' (R since 3.6) or 'rounding' (before) "
        "is allowed; correct sample_kind.",
    ),
]


@pytest.mark.parametrize(
    ("call", "message"), MESSAGES, ids=[message[:40] for _, message in MESSAGES]
)
def test_every_word_of_it_is_there(call, message):
    with pytest.raises(PegasosStatsError) as caught:
        call()
    assert str(caught.value) == message


NUMBERS = f"array([ {', '.join(f'{i}.' for i in range(400))}"[:117]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (
            np.arange(8.0).reshape(4, 2),
            "array([[0., 1.], [2., 3.], [4., 5.], [6., 7.]])",
        ),
        (np.arange(400.0), f"{NUMBERS}..."),
        (pd.Series([1.5], dtype=object), "0 1.5 dtype: object"),
        (pd.DataFrame({"a": range(40)}), "an object of type DataFrame"),
        ("b" * 118, f"'{'b' * 118}'"),
        ("b" * 119, f"'{'b' * 116}..."),
    ],
)
def test_a_value_is_shown_in_120_characters_and_a_long_table_by_its_type(value, shown):
    with pytest.raises(PegasosStatsError) as caught:
        ps.Pegasos(epochs=value)
    assert len(shown) <= 120
    assert str(caught.value) == (
        f"epochs={shown} is not allowed; give a whole number above zero."
    )

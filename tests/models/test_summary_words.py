"""What summaries say, every word: header and notes of small fits of every kind."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.models.inference.estimating import why_left_out
from pegasos_stats.models.inference.options import SANDWICH
from pegasos_stats.models.summaries import errors_of, largest
from pegasos_stats.solvers.problem import Problem

X = np.array([[0.0, 1.0, 3.0, 2.0, 5.0, 4.0, 9.0], [2, -1, 0.5, -2, 1, 0.25, -3]]).T
Y = np.array(["no", "no", "yes", "no", "yes", "yes", "no"])
WEIGHTS = np.array([1.0, 2.0, 1.0, 4.0, 0.5, 1.0, 1.0])
ONE = ps.Pegasos(epochs=1, seed=2)
OPTIMUM = ps.SDCA(tol=1e-8, seed=3)

SIGNS = "A positive score predicts 'yes', a negative one 'no'."
RAN_AWAY = (
    "WARNING: the objective is above 1, that of the model that is all zero: the "
    "{} ran away in the first, large steps.{}"
)
SEED = "The seed{} repeats this fit"
LENGTH = "The length of the function is penalised"
EXACT = "Try SDCA() or fit(solver, refine=1e-6)."
TRAIN = {
    "Outcome:": "y",
    "Negative (-1):": "no (4 rows)",
    "Positive (+1):": "yes (3 rows)",
    "No. Observations:": "7",
    "Rows dropped (NA):": "0",
}


def header(result):
    shown = result.summary()
    return dict(shown.left), dict(shown.right)


def test_the_header_of_a_weighted_and_standardized_fit():
    model = ps.SVM(Y, X, lam=0.1234567, weights=WEIGHTS, standardize=True)
    result = model.fit(ps.Pegasos(epochs=3, seed=5))
    errors = int((result.predict() != Y).sum())
    left, right = header(result)
    assert left == TRAIN | {
        "Loss:": "hinge",
        "lambda:": "0.123457",
        "Intercept:": "free",
        "Predictors:": "standardized",
        # the mean of the weights is 1.5
        "Row weights:": "0.3333 to 2.667",
        "Training errors:": f"{errors} ({errors / 7:.2%})",
    }
    assert right == {
        "Solver:": "Pegasos",
        "Order:": "shuffle, 3 epochs",
        "Form:": "plain",
        "Steps:": "21",
        "Margin violations:": str(result.n_violations),
        "Support rows:": str(result.n_support),
        "Seed:": "5",
        "RNG:": "Mersenne-Twister, Rejection",
        "Objective:": f"{result.objective:.6g}",
        "Duality gap:": f"{result.gap:.3g}",
        "Relative gap:": f"{result.relative_gap:.3g}",
    }
    assert 0 < errors < 7
    assert result.n_support != result.n_violations


def test_the_header_of_a_fit_without_intercept_or_random_numbers():
    order = ps.Pegasos(order=np.arange(7))
    result = ps.Logit(Y, X, lam=0.5, intercept=False).fit(order)
    left, right = header(result)
    found = {name: left[name] for name in ("Loss:", "lambda:", "Intercept:")}
    assert found == {"Loss:": "log", "lambda:": "0.5", "Intercept:": "none"}
    assert not {"Predictors:", "Row weights:"} & set(left)
    assert right["Form:"] == "plain"
    assert (right["Seed:"], right["RNG:"]) == ("none needed", "-")
    assert "Support rows:" not in right
    assert not any("seed" in note for note in result.summary().notes)


@pytest.mark.parametrize(
    ("model", "solver", "notes"),
    [
        (
            ps.KernelSVM(Y, X, lam=0.5, standardize=True),
            ps.Pegasos(epochs=3, seed=2),
            [
                f"{LENGTH}, the intercept is not. It is a function of standardized "
                "predictors.",
                SEED.format("") + ", in R too.",
            ],
        ),
        (
            ps.KernelSVM(Y, X, lam=0.5, intercept=False),
            ps.Pegasos(epochs=3),
            [
                f"{LENGTH}; there is no intercept.",
                SEED.format(" was drawn; it") + ", in R too.",
            ],
        ),
        (
            ps.SVM(Y, X, lam=0.5, standardize=True),
            OPTIMUM,
            [
                "Coefficients are penalised, the intercept is not. They are those of "
                "standardized predictors; params_original has those of the predictors "
                "as they were.",
                SEED.format("") + ".",
            ],
        ),
        (
            ps.Logit(Y, X, lam=0.5, intercept=False),
            ps.SDCA(tol=1e-8),
            [
                "Coefficients are penalised; there is no intercept.",
                SEED.format("") + ".",
            ],
        ),
    ],
    ids=["kernel, standardized", "kernel", "standardized", "log"],
)
def test_what_is_penalised_and_what_repeats_the_fit(model, solver, notes):
    found = [note for note in model.fit(solver).summary().notes if "WARN" not in note]
    assert found[0].startswith("Certified by duality: the objective is ")
    assert found[1:4] == [SIGNS, *notes]


@pytest.mark.parametrize(
    ("model", "solver", "what", "cure"),
    [
        (ps.KernelSVM, ONE, "intercept", " Try SDCA()."),
        (ps.SVM, ONE, "intercept", f" {EXACT}"),
        (
            ps.SVM,
            ps.Pegasos(epochs=1, seed=2, refit_intercept=True),
            "coefficients",
            f" {EXACT}",
        ),
    ],
)
def test_a_fit_that_is_worse_than_none_says_what_helps(model, solver, what, cure):
    result = model(Y, X, lam=1e-3).fit(solver)
    assert result.objective > 10.0
    refitted = solver.refit_intercept
    assert header(result)[1]["Form:"] == ("intercept refitted" if refitted else "plain")
    assert result.summary().notes[0] == RAN_AWAY.format(what, cure)
    assert result.summary().notes.count(result.summary().notes[0]) == 1


def test_without_an_intercept_it_is_the_coefficients_that_ran_away():
    result = ps.SVM(Y, X, lam=1e-3, intercept=False).fit(ONE)
    expected = RAN_AWAY.format("coefficients", f" {EXACT}")
    assert result.summary().notes[0] == expected


def test_a_certificate_in_words():
    near, far = ps.SVM(Y, X, lam=0.5).fit(OPTIMUM), ps.SVM(Y, X, lam=0.5).fit(ONE)

    def said(result):
        (note,) = (n for n in result.summary().notes if n.startswith("Certified"))
        return note

    below = "Certified by duality: the objective is {} above its minimum, which is not "
    below += "below {:.6g}."
    assert said(near) == below.format("less than 0.01%", near.dual_objective)
    known = far.shortfall
    assert far.dual_objective < known.lower <= near.objective <= known.upper
    assert f"{known.at_least:.4g}" == f"{known.at_most:.4g}"
    assert said(far) == below.format(f"{known.at_least:.4g}", known.lower)


def test_errors_are_counted_apart_from_undecided_rows():
    levels = {"levels": ["a", "b"]}
    table = ps.confusion(list("aabbb"), ["a", "b", "b", "a", None], **levels)
    assert errors_of(table) == "2 (50.00%), 1 undecided"
    assert errors_of(ps.confusion(list("ab"), list("ab"), **levels)) == "0 (0.00%)"


@pytest.mark.parametrize(("limit", "which"), [(1, "largest"), (2, "2 largest")])
def test_what_is_left_out_of_a_summary_is_said(limit, which):
    wide = np.column_stack([X, X[:, 0] * -0.5])
    tidy = ps.SVM(Y, wide, lam=0.5).fit(OPTIMUM).tidy()
    shown, (note,) = largest(tidy, limit)
    word = "is" if limit == 1 else "are"
    assert note.text == (
        f"The {which} of 3 coefficients by absolute value {word} shown; all are in "
        "params and tidy()."
    )
    kept = tidy["estimate"].abs()[1:].nlargest(limit).index
    assert shown["term"].tolist() == ["Intercept", *tidy["term"][sorted(kept)]]
    for all_of in (largest(tidy, 3), largest(tidy, None)):
        assert all_of[0].equals(tidy)
        assert all_of[1] == []


def test_why_there_are_no_standard_errors():
    problem = Problem(X, np.where(Y == "yes", 1.0, -1.0), lam=1.0)
    assert why_left_out(problem, SANDWICH) == []
    (none,) = why_left_out(problem, None)
    assert none.text == (
        "There are no standard errors: cov_type='none'; "
        "result.with_covariance('sandwich') gives the same fit with them."
    )
    wide = Problem(np.zeros((7, 2001)), problem.y, lam=1.0)
    (slow,) = why_left_out(wide, SANDWICH)
    assert slow.text == (
        "Standard errors are left out, as they take a while for 7 rows and 2,001 "
        "coefficients: result.conf_int() computes them, and the summary then shows "
        "them."
    )
    assert why_left_out(wide, None) == why_left_out(problem, None)

"""The same cases, and more, against R as it runs."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from tests.parity.cases import (
    REFERENCE,
    Case,
    case_data,
    fit,
    fit_of_r,
    read_cases,
    rows_drawn,
)
from tests.parity.equality import DUAL_RTOL, LOG_RTOL, assert_same_bits, assert_same_fit

SEEDS = [0, 1, 42, 443, -1, 2147483647]
LAMBDAS = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0]

# Options of the solver, named alike in R; rows are counted from zero.
OPTIONS = {
    "sequential": {"epochs": 3, "order": "sequential"},
    "replace": {"order": "replace", "steps": 500, "batch_size": 3},
    "given rows": {"order": np.arange(700) ** 2 % 199, "batch_size": 2, "epochs": 2},
    "given epochs": {"order": np.arange(600).reshape(3, 200) ** 2 % 200, "average": 2},
    "batches": {"epochs": 4, "batch_size": 30},
    "project": {"epochs": 4, "project": True},
    "average": {"epochs": 4, "average": "all"},
    "refit": {"epochs": 4, "refit_intercept": True},
    "all": {
        "epochs": 5,
        "batch_size": 7,
        "project": True,
        "average": 3,
        "refit_intercept": True,
    },
}


@pytest.fixture(scope="module")
def r_cases(r):
    r.set("path", str(REFERENCE / "cases.csv"))
    r.eval("cases <- read_cases(path)")
    return r


def in_r(r, case: Case) -> dict:
    return r.eval(f"run_case(cases[['{case.name}']])")


def test_the_list_of_cases_is_the_same(r_cases):
    names = [case.name for case in read_cases()]
    assert r_cases.eval("names(cases)").tolist() == names


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
def test_data_rows_and_fit_are_those_of_r(r_cases, case):
    X, labels = case_data(case)
    data = r_cases.eval(f"data <- case_data(cases[['{case.name}']])")
    assert_same_bits(X.to_numpy(), data["X"], "X")
    assert labels.tolist() == data["labels"].tolist()
    assert list(X.columns) == r_cases.eval("colnames(data$X)").tolist()
    found = in_r(r_cases, case)
    assert rows_drawn(case).tolist() == found["rows"].tolist()
    assert_same_fit(case, fit(case), fit_of_r(found))


@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("seed", SEEDS)
def test_digits56_from_python_to_r(r, seed, lam):
    train, test = ps.datasets.load_digits56()
    result = ps.svm("digit ~ .", train, lam=lam).fit(ps.Pegasos(epochs=3, seed=seed))
    X, new = (frame.drop(columns="digit").to_numpy() for frame in (train, test))
    r.call("seed_generator", seed)
    y = np.where(train["digit"] == 5, -1, 1)
    theirs = r.call("pegasos", X=X, y=y, lambda_=lam, epochs=3)
    assert result.n_violations == theirs["violations"]
    assert_same_bits(result.params, [*theirs["alpha"], *theirs["beta"]], "params")
    scores = r.call("scores", new, theirs["beta"], theirs["alpha"])
    assert_same_bits(result.decision_function(test), scores, "scores")


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("name", OPTIONS)
def test_digits56_with_every_option(r, name, lam, loss, storage):
    train, _ = ps.datasets.load_digits56()
    X = train.drop(columns="digit").to_numpy(dtype=np.float64)
    y = np.where(train["digit"] == 5, -1, 1)
    rows = X if storage == "dense" else csr_array(X)
    model = {"hinge": ps.SVM, "log": ps.Logit}[loss](y, rows, lam=lam)
    ours = model.fit(ps.Pegasos(seed=443, **OPTIONS[name]))
    theirs = digits_in_r(r, X, y, lam, loss, storage, OPTIONS[name])
    assert ours.n_iter == theirs["n_iter"]
    assert ours.n_violations == theirs["violations"]
    params = [*theirs["alpha"], *theirs["beta"]]
    if loss == "hinge":
        assert_same_bits(ours.params, params, "params")
    else:
        distance = np.linalg.norm(ours.params - params)
        assert distance <= LOG_RTOL * np.linalg.norm(params)
    scale = theirs["objective"]
    assert abs(ours.objective - scale) <= DUAL_RTOL * scale
    assert abs(ours.dual_objective - theirs["dual_objective"]) <= DUAL_RTOL * scale


def digits_in_r(r, X, y, lam, loss, storage, options):
    given = dict(options)
    if isinstance(given.get("order"), np.ndarray):
        given["order"] = given["order"] + 1
    r.set("data", {"X": X, "y": y})
    r.set("asked", {**given, "lambda": lam, "loss": loss})
    r.eval("rows <- data$X" if storage == "dense" else "rows <- sparse_rows(data$X)")
    r.call("seed_generator", 443)
    r.eval("found <- do.call(pegasos, c(list(X = rows, y = data$y), asked))")
    r.eval(
        "at <- certificate(rows, data$y, found$beta, found$alpha, found$a, "
        "asked$lambda, asked$loss)"
    )
    return r.eval("c(found, at)")

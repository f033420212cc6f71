"""The same cases, and more, against R as it runs."""

import functools

import numpy as np
import pytest

import pegasos_stats as ps
from tests.parity.cases import (
    REFERENCE,
    Case,
    Fit,
    assert_same_bits,
    assert_same_fit,
    case_data,
    fit,
    read_cases,
    rows_drawn,
    table_of,
)

EACH = pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
SEEDS = [0, 1, 42, 443, -1, 2147483647]
LAMBDAS = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0]


@pytest.fixture(scope="module")
def r_cases(r):
    r.set("path", str(REFERENCE / "cases.csv"))
    r.eval("cases <- read_cases(path)")
    return r


@functools.cache
def in_r(r, case: Case) -> dict:
    return r.eval(f"run_case(cases[['{case.name}']])")


def as_fit(found: dict) -> Fit:
    return Fit(
        violations=int(found["violations"][0]),
        n_iter=int(found["n_iter"][0]),
        alpha=found["alpha"][0],
        beta=found["beta"],
        table=table_of(found["table"], found["actual"], found["predicted"]),
        objective=found["objective"][0],
    )


def test_the_list_of_cases_is_the_same(r_cases):
    names = [case.name for case in read_cases()]
    assert r_cases.eval("names(cases)").tolist() == names


@EACH
def test_data_are_those_of_r_in_every_bit(r_cases, case):
    X, labels = case_data(case)
    data = r_cases.eval(f"case_data(cases[['{case.name}']])")
    assert_same_bits(X.to_numpy(), data["X"], "X")
    assert labels.tolist() == data["labels"].tolist()
    assert (
        list(X.columns)
        == r_cases.eval(f"colnames(case_data(cases[['{case.name}']])$X)").tolist()
    )


@EACH
def test_rows_are_those_of_r(r_cases, case):
    assert rows_drawn(case).tolist() == in_r(r_cases, case)["rows"].tolist()


@EACH
def test_fit_is_that_of_r_in_every_bit(r_cases, case):
    assert_same_fit(fit(case), as_fit(in_r(r_cases, case)))


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

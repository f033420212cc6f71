"""Handwritten fives against sixes, 16 x 16 pixels: numbers found twice before.

The files are coding5_train.csv (200 rows) and coding5_test.csv (600 rows) of the
folder that PEGASOS_STATS_DATA names. R 4.2.2, with the reference BLAS, gave the
numbers: lambda = 1, 20 epochs, ``set.seed(443)``.
"""

import hashlib

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from tests.parity.equality import assert_same_bits

MD5 = {
    "coding5_train.csv": "50d9b6682e2a1bc9d0eff2070c4df881",
    "coding5_test.csv": "963773af2bb6e3cdbcb86603e1e4a4b7",
}
PIXELS = [f"V{j}" for j in range(1, 257)]

# alpha and the norm were published to 8 digits
ALPHA, NORM, HALF_A_DIGIT = -0.69526668, 0.43860322, 5e-9
COEFFICIENTS = {
    50: -0.005142500000000003,
    100: 0.0087872500000000207,
    150: 0.023348749999999974,
}

# sums in another order, and v = lam t beta for beta
FAST_RTOL = 1e-10

RUNS = [(443, 1.0, 20), (1, 1.0, 20), (0, 0.1, 5), (42, 0.01, 5), (-1, 1e-4, 3)]
RUNS += [(2147483647, 10.0, 3)]


def frame(folder, name):
    content = (folder / name).read_bytes()
    assert hashlib.md5(content).hexdigest() == MD5[name], f"{name} has other content"
    return pd.read_csv(folder / name)


@pytest.fixture(scope="module")
def train(data_folder):
    return frame(data_folder, "coding5_train.csv")


@pytest.fixture(scope="module")
def test(data_folder):
    return frame(data_folder, "coding5_test.csv")


@pytest.fixture(scope="module")
def result(train):
    return fit(train, *RUNS[0])


def fit(train, seed, lam, epochs):
    model = ps.svm("Y ~ .", data=train, lam=lam)
    return model.fit(ps.Pegasos(epochs=epochs, seed=seed))


def fit_in_r(r, train, seed, lam, epochs):
    r.set("train", {"X": train[PIXELS].to_numpy(), "Y": train["Y"]})
    r.call("seed_generator", seed)
    r.eval("y <- encode_labels(train$Y, label_levels(train$Y))")
    r.set("options", {"lambda": lam, "epochs": epochs})
    return r.eval("pegasos(train$X, y, options$lambda, options$epochs)")


def test_the_files_hold_200_and_600_rows_half_of_each_digit(train, test):
    assert train.columns.tolist() == test.columns.tolist() == [*PIXELS, "Y"]
    assert train["Y"].value_counts().to_dict() == {5: 100, 6: 100}
    assert test["Y"].value_counts().to_dict() == {5: 300, 6: 300}


def test_tables_of_both_files_and_1028_of_4000_steps_violate_the_margin(result, test):
    assert result.coding.levels == (5, 6)
    assert result.confusion().table.to_numpy().tolist() == [[98, 2], [0, 100]]
    matrix = result.confusion(test)
    assert matrix.table.index.tolist() == matrix.table.columns.tolist() == [5, 6]
    assert matrix.table.to_numpy().tolist() == [[285, 15], [8, 292]]
    assert (matrix.n_errors, matrix.error_rate) == (23, 23 / 600)
    assert (result.n_violations, result.n_iter, result.nobs) == (1028, 4000, 200)


def test_intercept_and_norm(result):
    assert result.intercept == pytest.approx(ALPHA, abs=HALF_A_DIGIT)
    assert np.linalg.norm(result.coef) == pytest.approx(NORM, abs=HALF_A_DIGIT)


def test_coefficients_to_the_last_bit(result):
    assert {place: result.coef[f"V{place}"] for place in COEFFICIENTS} == COEFFICIENTS
    assert result.coef.index.tolist() == PIXELS


@pytest.mark.parametrize(("seed", "lam", "epochs"), RUNS)
def test_runs_are_those_of_r_in_every_bit(r, train, test, seed, lam, epochs):
    ours = fit(train, seed, lam, epochs)
    theirs = fit_in_r(r, train, seed, lam, epochs)
    assert ours.n_violations == theirs["violations"]
    assert_same_bits(ours.params, [*theirs["alpha"], *theirs["beta"]], "params")
    scores = r.call("scores", test[PIXELS].to_numpy(), theirs["beta"], theirs["alpha"])
    assert_same_bits(ours.decision_function(test), scores, "scores")


@pytest.mark.parametrize("sparse", [False, True])
def test_fast_arithmetic_gives_the_same_numbers(result, train, test, sparse):
    X, new = (frame[PIXELS].to_numpy() for frame in (train, test))
    if sparse:
        X, new = csr_array(X), csr_array(new)
    solver = ps.Pegasos(epochs=20, seed=443, arithmetic="fast")
    other = ps.SVM(train["Y"].to_numpy(), X, lam=1.0).fit(solver)
    expected = result.params.to_numpy()
    distance = np.linalg.norm(other.params.to_numpy() - expected)
    assert distance <= FAST_RTOL * np.linalg.norm(expected)
    assert other.n_violations == result.n_violations
    table = other.confusion(new, test["Y"].to_numpy()).table
    assert table.to_numpy().tolist() == [[285, 15], [8, 292]]

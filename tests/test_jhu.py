"""Four sets of a course on machine learning: numbers that two programs found before.

The files jhu_*.train and jhu_*.dev are in the folder that PEGASOS_STATS_DATA names.
Pegasos visits the rows in order, five epochs, lambda = 1e-4, without intercept and
projection; a score of 0 counts as positive.
"""

import dataclasses

import numpy as np
import pytest

import pegasos_stats as ps

# name: correct on dev, rows of dev, norm of the coefficients, half of its last digit
RESULTS = {
    "easy": (100, 100, 31.0462, 5e-5),
    "bio": (194, 200, 112.827, 5e-4),
    "speech": (85, 100, 852.853, 5e-4),
    "nlp": (232, 300, 565.148, 5e-4),
}
SHAPES = {
    "easy": (900, 10),
    "bio": (2000, 284),
    "speech": (400, 617),
    "nlp": (1000, 54471),
}
LAMBDA, EPOCHS = 1e-4, 5


@pytest.fixture(scope="module", params=RESULTS)
def data(request, data_folder):
    """Name of the set, training rows and labels, the same of dev."""
    load = pytest.importorskip("sklearn.datasets").load_svmlight_file
    name = request.param
    path = data_folder / f"jhu_{name}.train"
    X, y = load(str(path if path.exists() else f"{path}.gz"))
    new, actual = load(str(data_folder / f"jhu_{name}.dev"))
    return name, X, y, widened(new, X.shape[1]), actual


def widened(X, p):
    """The same rows with `p` features: those above are dropped, missing ones are 0."""
    wide = X[:, :p]
    wide.resize(X.shape[0], p)
    return wide


def fit(X, y, arithmetic="reference"):
    solver = ps.Pegasos.homework(epochs=EPOCHS)
    solver = dataclasses.replace(solver, arithmetic=arithmetic)
    return ps.SVM(y, X, lam=LAMBDA, intercept=False).fit(solver)


def test_the_files_are_the_ones_that_the_numbers_belong_to(data):
    name, X, y, new, _ = data
    assert X.shape == SHAPES[name]
    assert new.shape == (RESULTS[name][1], SHAPES[name][1])
    assert sorted(set(y)) == [0.0, 1.0]


@pytest.mark.parametrize("arithmetic", ["reference", "fast"])
def test_correct_on_dev_and_norm(data, arithmetic):
    name, X, y, new, actual = data
    n_correct, n, norm, half_a_digit = RESULTS[name]
    forms = [(X, new)]
    if name != "nlp":  # dense it is of 54,471 columns
        forms.append((X.toarray(), new.toarray()))
    for rows, new_rows in forms:
        result = fit(rows, y, arithmetic)
        matrix = result.confusion(new_rows, actual)
        assert n - matrix.n_errors == n_correct
        assert matrix.table.to_numpy().sum() == n
        assert abs(np.linalg.norm(result.coef) - norm) <= half_a_digit
        assert result.intercept == 0.0

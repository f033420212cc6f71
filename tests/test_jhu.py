"""Four sets of a course on machine learning: numbers that two programs found before.

The files jhu_*.train and jhu_*.dev are in the folder that PEGASOS_STATS_DATA names.
Pegasos visits the rows in order, five epochs, lambda = 1e-4, without intercept and
projection; a score of 0 counts as positive.
"""

from dataclasses import replace

import numpy as np
import pytest

import pegasos_stats as ps

# name: shape, correct on dev, rows of dev, norm of beta, half of its last digit
RESULTS = {
    "easy": ((900, 10), 100, 100, 31.0462, 5e-5),
    "bio": ((2000, 284), 194, 200, 112.827, 5e-4),
    "speech": ((400, 617), 85, 100, 852.853, 5e-4),
    "nlp": ((1000, 54471), 232, 300, 565.148, 5e-4),
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
    # The same rows with p features: those above are dropped, missing ones are 0.
    wide = new[:, : X.shape[1]]
    wide.resize(new.shape[0], X.shape[1])
    return name, X, y, wide, actual


def test_the_files_are_the_ones_that_the_numbers_belong_to(data):
    name, X, y, new, _ = data
    shape, _, n, *_ = RESULTS[name]
    assert X.shape == shape
    assert new.shape == (n, shape[1])
    assert sorted(set(y)) == [0.0, 1.0]


@pytest.mark.parametrize("arithmetic", ["reference", "fast"])
def test_correct_on_dev_and_norm(data, arithmetic):
    name, X, y, new, actual = data
    _, n_correct, n, norm, half_a_digit = RESULTS[name]
    forms, homework = [(X, new)], ps.Pegasos.homework(epochs=EPOCHS)
    if name != "nlp":  # dense it is of 54,471 columns
        forms.append((X.toarray(), new.toarray()))
    for rows, new_rows in forms:
        model = ps.SVM(y, rows, lam=LAMBDA, intercept=False)
        result = model.fit(replace(homework, arithmetic=arithmetic))
        matrix = result.confusion(new_rows, actual)
        assert n - matrix.n_errors == n_correct
        assert matrix.table.to_numpy().sum() == n
        assert abs(np.linalg.norm(result.coef) - norm) <= half_a_digit
        assert result.intercept == 0.0

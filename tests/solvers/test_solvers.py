"""Options of Pegasos: orders, batches, averages, profiles, and what is refused."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError


@pytest.fixture(scope="module")
def digits():
    return ps.datasets.load_digits56()[0]


@pytest.fixture(scope="module", params=["svm", "logit"])
def model(request, digits):
    return getattr(ps, request.param)("digit ~ .", digits, lam=0.1)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_the_order_replace_draws_step_by_step(model, batch_size):
    rng = ps.RRandom(7)
    draws = [rng.sample_int(200, batch_size, replace=True) - 1 for _ in range(500)]
    given = ps.Pegasos(order=np.concatenate(draws), batch_size=batch_size)
    drawn = ps.Pegasos.paper(steps=500, batch_size=batch_size, seed=7)
    left, right = model.fit(given), model.fit(drawn)
    assert left.params.equals(right.params)
    assert right.n_iter == 500


def test_profiles_are_what_they_say():
    paper = ps.Pegasos.paper(steps=10, project=True, seed=1)
    assert (paper.order, paper.steps, paper.project) == ("replace", 10, True)
    homework = ps.Pegasos.homework()
    assert (homework.order, homework.ties) == ("sequential", "positive")
    assert homework.epochs == 5
    assert ps.Pegasos.minibatch().batch_size == 100
    assert ps.Pegasos.r_script().epochs == 20


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": [0.5, 1.0]}, "type float64"),
        ({"order": []}, "shape"),
        ({"order": [-1, 2]}, "row -1"),
        ({"order": np.array([2**64 - 1], dtype=np.uint64)}, "counted from zero"),
        ({"order": [[0, 1], [2]]}, "no list of rows"),
        ({"intercept": True}, "give it to the model"),
        ({"order": "replace"}, "steps=None"),
        ({"order": "replace", "steps": 10, "epochs": 2}, "epochs=2 makes no sense"),
        ({"steps": 10}, "order='replace' only"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"average": 21}, "more epochs than the run has"),
        ({"average": 2, "order": "replace", "steps": 9}, "more epochs"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(OptionError, match=words):
        ps.Pegasos(**options)


def test_homework_wants_a_model_without_intercept(digits):
    with pytest.raises(OptionError, match="intercept=False"):
        ps.svm("digit ~ .", digits, lam=1.0).fit(ps.Pegasos.homework())
    result = ps.svm("digit ~ . - 1", digits, lam=1.0).fit(ps.Pegasos.homework())
    assert (result.intercept, result.n_iter) == (0.0, 1000)
    blank = digits.iloc[:2].assign(**dict.fromkeys(result.coef.index, 0))
    assert result.predict(blank).tolist() == [6, 6]

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


@pytest.mark.parametrize("arithmetic", ["reference", "fast"])
def test_the_order_subset_draws_different_rows_step_by_step(model, arithmetic):
    rng = ps.RRandom(7)
    draws = [np.sort(rng.sample_int(200, 30)) - 1 for _ in range(50)]
    given, drawn = {"order": np.concatenate(draws)}, {"order": "subset", "steps": 50}
    left, right = (
        model.fit(ps.Pegasos(**rows, batch_size=30, arithmetic=arithmetic, seed=7))
        for rows in (given, drawn)
    )
    assert left.params.equals(right.params)
    assert (left.n_iter, left.n_violations) == (right.n_iter, right.n_violations)


def test_subsets_of_all_rows_depend_on_no_seed(model):
    """A subset is summed in the order of the data, and here there is only one."""
    options = {"steps": 40, "batch_size": 200}
    first, other, sequential = (
        model.fit(solver)
        for solver in (
            ps.Pegasos(order="subset", seed=1, **options),
            ps.Pegasos(order="subset", seed=2, **options),
            ps.Pegasos(order="sequential", epochs=40, batch_size=200),
        )
    )
    assert first.params.equals(other.params)
    assert first.params.equals(sequential.params)
    replaced = model.fit(ps.Pegasos(order="replace", seed=1, **options))
    assert not first.params.equals(replaced.params)


def test_a_subset_has_no_more_rows_than_the_data(model):
    solver = ps.Pegasos(order="subset", steps=3, batch_size=201)
    with pytest.raises(OptionError, match="batch_size=201 exceeds the 200 rows"):
        model.fit(solver)


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
        ({"order": np.array([2**64 - 1], dtype=np.uint64)}, "numbered from 0"),
        ({"order": [[0, 1], [2]]}, "not an array of rows"),
        ({"intercept": True}, "give it to the model"),
        ({"order": "replace"}, "steps=None"),
        ({"order": "replace", "steps": 10, "epochs": 2}, "epochs=2 makes no sense"),
        ({"order": "subset", "batch_size": 3}, "steps=None"),
        ({"order": "subset", "steps": 10, "epochs": 2}, "epochs=2 makes no sense"),
        ({"steps": 10}, "order='replace' and 'subset' only"),
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

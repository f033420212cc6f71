"""Options of Pegasos: orders, batches, averages, profiles, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.objective import best_intercept


@pytest.fixture(scope="module")
def digits():
    return ps.datasets.load_digits56()[0]


@pytest.fixture(scope="module", params=["svm", "logit"])
def model(request, digits):
    return getattr(ps, request.param)("digit ~ .", digits, lam=0.1)


def literal(problem, steps, project=False):
    """Pegasos in plain numpy, from the definition; every iterate is kept."""
    beta, alpha, iterates = np.zeros(problem.p), 0.0, []
    for t, batch in enumerate(steps, 1):
        X, y, eta = problem.X[batch], problem.y[batch], 1.0 / (problem.lam * t)
        m = y * (X @ beta + alpha)
        s = (m < 1) * 1.0 if problem.loss == "hinge" else expit(-m)
        beta = beta - eta * (problem.lam * beta - (s * y) @ X / len(batch))
        alpha = alpha + eta * (s * y).mean()
        if project and np.linalg.norm(beta) > 0:
            beta *= min(1.0, 1.0 / (np.sqrt(problem.lam) * np.linalg.norm(beta)))
        iterates.append(np.concatenate([[alpha], beta]))
    return np.array(iterates)


# numpy sums in another order: 1e-9 of the largest coefficient covers 4,000 steps; the
# margins of these data are never so near 1 that a decision changes.
SAME = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("arithmetic", ["reference", "fast"])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("batch_size", [1, 7, 200, 1000])
def test_batches_and_projection(model, batch_size, project, arithmetic):
    rng = np.random.default_rng(5)
    rows = np.array([rng.permutation(200) for _ in range(3)])
    result = model.fit(
        ps.Pegasos(
            order=rows, batch_size=batch_size, project=project, arithmetic=arithmetic
        )
    )
    steps = [epoch[k : k + batch_size] for epoch in rows for k in starts(batch_size)]
    expected = literal(model.problem, steps, project)[-1]
    np.testing.assert_allclose(result.params, expected, **SAME)


def starts(batch_size):
    return range(0, 200, batch_size)


@pytest.mark.parametrize("arithmetic", ["reference", "fast"])
@pytest.mark.parametrize(("average", "last"), [("all", 600), (2, 400), (1, 200)])
def test_averages_are_means_of_iterates(model, average, last, arithmetic):
    rows = np.random.default_rng(6).permutation(200)
    result = model.fit(
        ps.Pegasos(order=rows, epochs=3, average=average, arithmetic=arithmetic)
    )
    iterates = literal(model.problem, np.tile(rows, 3)[:, None])
    np.testing.assert_allclose(result.params, iterates[-last:].mean(axis=0), **SAME)


def test_the_order_shuffle_is_sample_of_r(model):
    rng = ps.RRandom(443)
    rows = np.array([rng.sample_int(200) - 1 for _ in range(2)])
    given = model.fit(ps.Pegasos(order=rows))
    drawn = model.fit(ps.Pegasos(epochs=2, seed=443))
    assert given.params.equals(drawn.params)
    assert given.seed is None


@pytest.mark.parametrize("batch_size", [1, 3])
def test_the_order_replace_draws_step_by_step(model, batch_size):
    rng = ps.RRandom(7)
    draws = [rng.sample_int(200, batch_size, replace=True) - 1 for _ in range(500)]
    given = ps.Pegasos(order=np.concatenate(draws), batch_size=batch_size)
    drawn = ps.Pegasos.paper(steps=500, batch_size=batch_size, seed=7)
    left, right = model.fit(given), model.fit(drawn)
    assert left.params.equals(right.params)
    assert right.n_iter == 500


def test_sequential_visits_the_rows_as_they_stand(model):
    given = model.fit(ps.Pegasos(order=np.arange(200), epochs=2))
    assert given.params.equals(
        model.fit(ps.Pegasos(order="sequential", epochs=2)).params
    )


def test_refit_gives_the_best_intercept(model):
    plain = model.fit(ps.Pegasos(epochs=3, seed=1))
    refitted = model.fit(ps.Pegasos(epochs=3, seed=1, refit_intercept=True))
    assert refitted.coef.equals(plain.coef)
    assert refitted.objective <= plain.objective


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_no_intercept_is_better_than_the_best(loss):
    rng = np.random.default_rng(8)
    losses = {
        "hinge": lambda m: np.maximum(0.0, 1.0 - m),
        "log": lambda m: np.logaddexp(0.0, -m),
    }
    for _ in range(50):
        n = int(rng.integers(2, 40))
        scores, y = 3.0 * rng.standard_normal(n), rng.choice([-1.0, 1.0], n)
        y[:2] = [-1.0, 1.0]

        def risk(alpha, scores=scores, y=y):
            return losses[loss](y * (scores + alpha)).mean()

        peer = minimize_scalar(risk, bounds=(-20, 20), options={"xatol": 1e-10})
        # the peer stops 1e-10 from the minimiser, where a hinge still has a slope of 1
        assert risk(best_intercept(scores, y, loss)) <= peer.fun + 1e-12


def test_profiles_are_what_they_say():
    paper = ps.Pegasos.paper(steps=10, project=True, seed=1)
    assert (paper.order, paper.steps, paper.project) == ("replace", 10, True)
    homework = ps.Pegasos.homework()
    assert (homework.order, homework.ties, homework.epochs) == (
        "sequential",
        "positive",
        5,
    )
    assert ps.Pegasos.minibatch().batch_size == 100
    assert ps.Pegasos.r_script().epochs == 20


def test_homework_wants_a_model_without_intercept(digits):
    with pytest.raises(OptionError, match="intercept=False"):
        ps.svm("digit ~ .", digits, lam=1.0).fit(ps.Pegasos.homework())
    result = ps.svm("digit ~ . - 1", digits, lam=1.0).fit(ps.Pegasos.homework())
    assert (result.intercept, result.n_iter) == (0.0, 1000)
    blank = digits.iloc[:2].assign(**dict.fromkeys(result.coef.index, 0))
    assert result.predict(blank).tolist() == [6, 6]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": "random"}, "order='random'"),
        ({"order": [0.5, 1.0]}, "type float64"),
        ({"order": []}, "shape"),
        ({"order": [-1, 2]}, "row -1"),
        ({"order": 5}, "shape"),
        (
            {"order": np.array([2**63 + 5, 2**64 - 1], dtype=np.uint64)},
            "rows are counted from zero",
        ),
        ({"order": [[0, 1], [2]]}, "different lengths"),
        ({"intercept": True}, "give it to the model"),
        ({"order": "replace"}, "steps=None"),
        ({"order": "replace", "steps": 0}, "steps=0"),
        ({"order": "replace", "steps": 10, "epochs": 2}, "epochs=2 makes no sense"),
        ({"steps": 10}, "order='replace' only"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": 2.0}, "batch_size=2.0"),
        ({"project": "yes"}, "project='yes'"),
        ({"refit_intercept": 1}, "refit_intercept=1"),
        ({"average": "last"}, "average='last'"),
        ({"average": 0}, "average=0"),
        ({"average": 21}, "more epochs than the run has"),
        ({"average": 2, "order": "replace", "steps": 9}, "more epochs"),
        ({"arithmetic": "exact"}, "arithmetic='exact'"),
        ({"ties": None}, "ties=None"),
        ({"sample_kind": "old"}, "sample_kind is 'old'"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(OptionError, match=words):
        ps.Pegasos(**options)


def test_rows_beyond_the_data_are_refused(model):
    with pytest.raises(OptionError, match=r"row 200 .* the last is 199"):
        model.fit(ps.Pegasos(order=[0, 200]))


def test_refitting_needs_an_intercept(digits):
    model = ps.svm("digit ~ .", digits, intercept=False, lam=1.0)
    with pytest.raises(OptionError, match="refit_intercept"):
        model.fit(ps.Pegasos(refit_intercept=True))


def test_a_batch_larger_than_the_data_needs_no_room(model):
    huge = model.fit(ps.Pegasos(epochs=2, seed=1, batch_size=10**30))
    assert huge.params.equals(
        model.fit(ps.Pegasos(epochs=2, seed=1, batch_size=200)).params
    )
    assert huge.n_iter == 2

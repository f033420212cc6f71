"""Where Pegasos begins, and how long its steps are."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.solvers.few_pixels import TRAIN, N, logit, same_bits, sparse, svm

# beta = v / (lam t) anew in the middle of a run rounds once more: a few last places.
ROUNDED = 1e-13


def permutations(count, seed=443):
    rng = ps.RRandom(seed)
    return np.array([rng.permutation(N) for _ in range(count)])


@pytest.mark.parametrize("model", [svm, logit])
@pytest.mark.parametrize("options", [{}, {"batch_size": 7}, {"project": True}])
def test_a_run_in_two_parts_is_one_run(model, options):
    made, rows = model(weights=TRAIN["digit"].map({5: 1.0, 6: 2.5})), permutations(5)
    whole = made.fit(ps.Pegasos(order=rows, **options))
    shuffled = made.fit(ps.Pegasos(5, seed=443, **options))
    assert same_bits(whole.params, shuffled.params)
    first = made.fit(ps.Pegasos(order=rows[:2], **options))
    second = ps.Pegasos(order=rows[2:], start=first, **options)
    steps = 2 * -(-N // options.get("batch_size", 1))
    assert second.first_step == steps + 1
    then = made.fit(second)
    assert same_bits(then.params, whole.params)
    assert then.n_iter + steps == whole.n_iter
    assert then.n_violations + first.n_violations == whole.n_violations
    # a third part counts on from both before it
    third = ps.Pegasos(order=rows, start=then, **options)
    assert third.first_step == whole.n_iter + 1


@pytest.mark.parametrize(
    ("model", "options"), [(sparse, {}), (sparse, {"project": True}), (svm, {})]
)
def test_a_run_in_two_parts_is_one_run_to_rounding(model, options):
    made, rows = model(), permutations(4)
    options = options | {"arithmetic": "fast"} if model is svm else options
    whole = made.fit(ps.Pegasos(order=rows, **options))
    first = made.fit(ps.Pegasos(order=rows[:2], **options))
    then = made.fit(ps.Pegasos(order=rows[2:], start=first, **options))
    apart = np.abs(then.params - whole.params).max()
    assert apart <= ROUNDED * np.abs(whole.params).max()
    assert then.n_violations + first.n_violations == whole.n_violations


def test_a_given_start_is_known_to_the_first_step_by_its_margins_alone():
    made = svm(lam=2.0)
    row = TRAIN[["p34", "p43", "p20", "p21"]].iloc[3].to_numpy(dtype=float)
    y = 1.0 if TRAIN["digit"].iloc[3] == 6 else -1.0
    beta = np.array([0.25, -0.5, 1.0, 0.125])
    for alpha in (0.5, 50.0 - y * (row @ beta), -50.0 - y * (row @ beta)):
        start = [alpha, *beta]
        found = made.fit(ps.Pegasos(order=[3], start=start))
        wrong = y * (row @ beta + alpha) < 1.0
        expected = [alpha + 0.5 * y * wrong, *(0.5 * y * row * wrong)]
        np.testing.assert_array_equal(found.params, expected)
        assert found.n_violations == wrong


def test_a_random_start_has_length_one_over_root_lambda():
    made = svm(lam=0.25)
    solver = ps.Pegasos(order=[0], step=1e-300, start="random", seed=7)
    z = ps.RRandom(7).rnorm(4)
    found = made.fit(solver)
    assert found.intercept == pytest.approx(0.0, abs=1e-299)
    np.testing.assert_allclose(found.coef, 2.0 * z / np.linalg.norm(z), rtol=1e-15)
    assert found.seed == 7
    drawn = ps.Pegasos(order="sequential", start="random", epochs=1)
    assert made.fit(drawn).seed is not None
    assert made.fit(ps.Pegasos(order="sequential", epochs=1)).seed is None


def test_a_start_by_name_is_brought_into_order():
    made = svm()
    by_name = pd.Series({"p20": 3.0, "Intercept": 0.5, "p34": 1.0, "p21": 4.0})
    by_name["p43"] = 2.0
    solver = ps.Pegasos(2, seed=1, first_step=50, start=by_name)
    by_name["p43"] = 1e6  # the solver keeps a copy
    named = made.fit(solver)
    in_order = ps.Pegasos(2, seed=1, first_step=50, start=[0.5, 1.0, 2.0, 3.0, 4.0])
    assert same_bits(named.params, made.fit(in_order).params)
    np.testing.assert_array_equal(named.solver.start, [0.5, 1.0, 2.0, 3.0, 4.0])
    without = svm(intercept=False)
    part = {"p34": 1.0, "p43": 2.0, "p20": 3.0, "p21": 4.0}
    named = without.fit(ps.Pegasos(2, seed=1, first_step=50, start=part))
    listed = ps.Pegasos(2, seed=1, first_step=50, start=[1.0, 2.0, 3.0, 4.0])
    assert same_bits(named.params, without.fit(listed).params)
    message = "start lacks 'p21' and contains 'p99', which the model lacks"
    del part["p21"]
    with pytest.raises(ps.errors.OptionError, match=message):
        without.fit(ps.Pegasos(2, seed=1, start=part | {"p99": 1.0}))


@pytest.mark.parametrize("model", [svm, sparse])
@pytest.mark.parametrize("options", [{}, {"batch_size": 3, "average": "all"}])
def test_named_sizes_are_the_sizes_they_name(model, options):
    made, steps = model(lam=0.3), -(-N // options.get("batch_size", 1)) * 3
    t = np.arange(1, steps + 1) + 9.0
    sizes = {
        "1/(lambda n)": np.full(steps, 1.0 / (0.3 * N)),
        "1/sqrt(t)": 1.0 / np.sqrt(t),
        0.02: np.full(steps + 5, 0.02),
    }
    for step, each in sizes.items():
        given = {"epochs": 3, "seed": 5, "first_step": 10, **options}
        named = made.fit(ps.Pegasos(**given, step=step))
        listed = made.fit(ps.Pegasos(**given, step=each))
        assert same_bits(named.params, listed.params)
        assert named.solution.dual.tobytes() == listed.solution.dual.tobytes()


@pytest.mark.parametrize("options", [{}, {"project": True, "average": "all"}])
@pytest.mark.parametrize("model", [svm, logit])
def test_pegasos_is_descent_with_steps_of_its_sizes(model, options):
    made = model(lam=0.3, weights=TRAIN["digit"].map({5: 1.0, 6: 4.0}))
    sizes = 1.0 / (0.3 * np.arange(1, 3 * N + 1))
    plain = made.fit(ps.Pegasos(3, seed=5, **options))
    listed = made.fit(ps.Pegasos(3, seed=5, step=sizes, **options))
    assert same_bits(plain.params, listed.params)
    # The dual weights are products of 1 - eta lam here, and one division there.
    np.testing.assert_allclose(
        listed.solution.dual, plain.solution.dual, rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("first_step", [1, 2, 5, 1024])
def test_margins_of_1_are_those_of_steps_by_their_sizes(first_step):
    made = svm(lam=0.25)  # whole numbers, and margins of exactly 1 at first
    sizes = 1.0 / (0.25 * np.arange(first_step, first_step + 2 * N))
    given = {"first_step": first_step, "start": [1.0, 0.0, 0.0, 0.0, 0.0]}
    for seed in range(3):
        plain = made.fit(ps.Pegasos(2, seed=seed, **given))
        literal = made.fit(ps.Pegasos(2, seed=seed, step=sizes, **given))
        assert same_bits(plain.params, literal.params)
        assert plain.n_violations == literal.n_violations


def test_one_step_by_hand():
    X, y = np.array([[1.0, 2.0], [3.0, -1.0]]), ["a", "b"]
    made = ps.SVM(y, X, lam=0.5)
    solver = ps.Pegasos(order=[[0, 1]], step=[0.25, 0.5], start=[1.0, 1.0, -2.0])
    # row 0, y = -1: score 1 - 4 + 1 = -2, margin 2, no violation: beta * 0.875
    # row 1, y = +1: score 2.625 + 1.75 + 1 > 1, no violation: beta * 0.75
    found = made.fit(solver)
    np.testing.assert_array_equal(found.params, [1.0, 0.65625, -1.3125])
    solver = ps.Pegasos(order=[0], step=0.25, start=[4.0, 1.0, -2.0])
    # score 1: margin -1: beta - 0.25 * (0.5 beta + x), alpha - 0.25
    np.testing.assert_array_equal(made.fit(solver).params, [3.75, 0.625, -2.25])

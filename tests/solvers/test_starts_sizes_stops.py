"""Where Pegasos begins, how long its steps are, when it ends."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning, OptionError
from pegasos_stats.solvers.objective import certificate
from tests.models.saved_models import put_together, taken_apart

TRAIN, TEST = ps.datasets.load_digits56()
SOME = "digit ~ p34 + p43 + p20 + p21"
N, K = len(TRAIN), 5

# beta = v / (lam t) anew in the middle of a run rounds once more: a few last places.
ROUNDED = 1e-13


def svm(lam=0.5, **options):
    return ps.svm(SOME, TRAIN, lam=lam, **options)


def logit(lam=0.5, **options):
    return ps.logit(SOME, TRAIN, lam=lam, **options)


def sparse(lam=0.5, **options):
    X = csr_array(TRAIN[["p34", "p43", "p20", "p21"]].to_numpy(dtype=float))
    return ps.SVM(TRAIN["digit"], X, lam=lam, **options)


def permutations(count, seed=443):
    rng = ps.RRandom(seed)
    return np.array([rng.permutation(N) for _ in range(count)])


def same_bits(left, right):
    return left.to_numpy().tobytes() == right.to_numpy().tobytes()


def quietly(model, solver, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(solver, **options)


@pytest.mark.parametrize("model", [svm, logit])
@pytest.mark.parametrize("options", [{}, {"batch_size": 7}, {"project": True}])
def test_a_run_in_two_parts_is_one_run(model, options):
    made, rows = model(weights=TRAIN["digit"].map({5: 1.0, 6: 2.5})), permutations(5)
    whole = made.fit(ps.Pegasos(order=rows, **options))
    assert same_bits(whole.params, made.fit(ps.Pegasos(5, seed=443, **options)).params)
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


def test_rows_are_drawn_after_a_random_start():
    made, rng = svm(), ps.RRandom(11)
    rng.rnorm(4)
    rows = np.array([rng.permutation(N) for _ in range(2)])
    drawn = made.fit(ps.Pegasos(2, seed=11, start="random"))
    given = made.fit(ps.Pegasos(order=rows, seed=11, start="random"))
    assert same_bits(drawn.params, given.params)
    assert not same_bits(drawn.params, made.fit(ps.Pegasos(2, seed=11)).params)


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


def test_studies_take_a_start_by_name_too():
    made = svm()
    start = made.fit(ps.Pegasos(2, seed=1))
    named = ps.Pegasos(2, seed=3, start=start)
    listed = ps.Pegasos(2, seed=3, first_step=401, start=start.params.to_numpy())
    left, right = (
        ps.cross_validate(made, solver, folds=3, seed=1) for solver in (named, listed)
    )
    pd.testing.assert_frame_equal(left.by_fold, right.by_fold)
    study = ps.compare_solvers(made, {"a": named, "b": listed}, runs=2, seed=1)
    last = study.runs.groupby(["run", "solver"], observed=True)["objective"].last()
    assert last.groupby("run").nunique().tolist() == [1, 1]


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


@pytest.mark.parametrize("model", [svm, logit, sparse])
@pytest.mark.parametrize(
    "form",
    [
        {"step": 0.05},
        {"step": "1/(lambda n)", "average": "all"},
        {"step": "1/sqrt(t)", "project": True},
        {"step": 3.0},  # eta lam > 1: slope weights of both signs, clipped
        {"start": "random", "first_step": 3},
        {"start": "random", "step": 0.1},
        {"first_step": 5000},
    ],
)
def test_no_certificate_of_any_form_is_above_the_optimum(model, form):
    made = model(lam=0.5)
    least = made.fit(ps.SDCA(tol=1e-9, seed=1))
    found = made.fit(ps.Pegasos(6, seed=2, **form))
    assert found.dual_objective <= least.objective * (1.0 + 1e-12)  # sums of 200 terms
    assert found.gap >= (found.objective - least.objective) * (1.0 - 1e-9)


@pytest.mark.parametrize("form", [{"step": 0.01}, {"step": "1/(lambda n)"}])
def test_dual_weights_of_a_run_from_zero_give_its_coefficients(form):
    made = svm(weights=TRAIN["digit"].map({5: 1.0, 6: 2.0}))
    found = made.fit(ps.Pegasos(5, seed=3, batch_size=4, **form))
    problem, a = made.problem, found.solution.dual
    beta = problem.X.T @ (a * problem.y) / (problem.lam * problem.n)
    np.testing.assert_allclose(beta, found.coef, rtol=1e-12)


@pytest.mark.parametrize("model", [svm, sparse])
def test_a_run_ends_after_the_first_epoch_with_so_small_a_gap(model):
    made = model(lam=20.0)
    plain = made.fit(ps.Pegasos(30, seed=4), trace=True).trace
    relative = plain["gap"] / plain["objective"]
    for tol in (0.5, 0.2, 0.1):
        epochs = int(np.argmax(relative <= tol)) + 1
        assert relative.min() <= tol
        found = made.fit(ps.Pegasos(30, seed=4, tol=tol), trace=True)
        assert found.n_epochs == len(found.trace) == epochs
        assert found.n_iter == epochs * N
        assert found.converged is True
        same = made.fit(ps.Pegasos(epochs, seed=4))
        assert same_bits(found.params, same.params)


@pytest.mark.parametrize("average", ["none", "all"])
def test_a_run_ends_after_the_first_epoch_that_changes_little(average):
    made, seen = svm(lam=5.0), []
    options = {"seed": 4, "average": average, "refit_intercept": True}
    made.solve(ps.Pegasos(40, **options), lambda m: seen.append(m.solution))
    params = np.array([[0.0] * K, *([s.alpha, *s.beta] for s in seen)])
    change = np.abs(np.diff(params, axis=0)).max(axis=1) / np.abs(params[1:]).max(
        axis=1
    )
    for change_tol in (0.2, 0.05, float(change[5])):
        epochs = int(np.argmax(change <= change_tol)) + 1
        found = made.fit(ps.Pegasos(change_tol=change_tol, **options))
        assert found.n_epochs == epochs < 1000
        assert found.converged is True
        assert made.fit(ps.Pegasos(epochs, **options)).converged is None


def test_drawn_steps_end_after_a_portion_of_about_n():
    made = svm(lam=20.0)
    solver = ps.Pegasos(order="replace", steps=900, batch_size=3, tol=0.9, seed=1)
    found = made.fit(solver)
    assert found.n_epochs >= 1
    assert found.n_iter == found.n_epochs * (N // 3) < 900
    capped = quietly(made, ps.Pegasos(order="replace", steps=450, tol=1e-9, seed=1))
    assert (capped.n_epochs, capped.n_iter) == (3, 450)


WARNED = {
    "tol": (
        ps.Pegasos(2, seed=1, tol=1e-6),
        "Pegasos has not reached tol 1e-06 after 2 epochs: the relative gap is {:.2g}. "
        "Try fit(solver, refine=1e-6).",
    ),
    "change_tol": (
        ps.Pegasos(1, seed=1, change_tol=0.25),
        "Pegasos has not reached change_tol 0.25 after 1 epoch: the last epoch changed "
        "a coefficient by {:.2g} of the largest. Try fit(solver, refine=1e-6).",
    ),
    "both": (
        ps.Pegasos(1, seed=1, tol=0.001, change_tol=0.25),
        "Pegasos has not reached tol 0.001 or change_tol 0.25 after 1 epoch: the "
        "relative gap is {:.2g}, the last epoch changed a coefficient by 1 of the "
        "largest. Try fit(solver, refine=0.001).",
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_a_run_that_ends_at_its_limit_warns_and_its_cure_works(name):
    solver, message = WARNED[name]
    made = svm()
    with pytest.warns(ConvergenceWarning) as caught:
        found = made.fit(solver)
    number = 1.0 if name == "change_tol" else found.relative_gap
    assert [str(w.message) for w in caught] == [message.format(number)]
    assert found.converged is False
    assert found.n_epochs == solver.epochs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cured = made.fit(solver, refine=solver.tol or 1e-6)
    assert cured.converged is True


def test_limits_of_epochs():
    assert ps.Pegasos(tol=0.1).epochs == ps.Pegasos(change_tol=0.1).epochs == 1000
    assert ps.Pegasos(order=[1, 0], tol=0.1).epochs == 1000
    assert ps.Pegasos(7, tol=0.1).epochs == 7
    assert ps.Pegasos().epochs == 20
    assert ps.Pegasos(order=[1, 0]).epochs == 1


def test_the_summary_says_it_all():
    made = svm(lam=20.0)
    solver = ps.Pegasos(seed=4, tol=0.5, start="random", first_step=3, step=0.0625)
    lines = dict(quietly(made, solver).summary().right)
    assert lines["Order:"] == "shuffle, at most 1,000 epochs"
    assert lines["Form:"] == "random start, from step 3, step size 0.0625"
    assert lines["Epochs:"].endswith(", tol 0.5")
    sizes = ps.Pegasos(1, seed=4, step=np.full(N, 0.01), start=[0.0] * K)
    lines = dict(made.fit(sizes).summary().right)
    assert lines["Form:"] == "given start, step size given"
    assert "Epochs:" not in lines


FITS = {
    "start": ps.Pegasos(
        2, seed=1, start=[0.1, -0.2, 1.0 / 3.0, 0.0, 5.0], first_step=9
    ),
    "sizes": ps.Pegasos(order=[[0, 7], [3, 2]], step=[0.5, 0.25, 1.0 / 3.0, 1.0]),
    "tolerances": ps.Pegasos(seed=1, tol=0.001, change_tol=0.25, start="random"),
}


@pytest.mark.parametrize("name", FITS)
def test_saved_fits_have_their_forms(tmp_path, name):
    found = quietly(svm(lam=20.0), FITS[name])
    ps.save(found, tmp_path / "fit")
    again = ps.load(tmp_path / "fit")
    for option in ("start", "step", "first_step", "tol", "change_tol", "epochs"):
        left, right = (getattr(r.solver, option) for r in (found, again))
        np.testing.assert_array_equal(left, right)
    assert again.n_epochs == found.n_epochs
    assert again.converged is found.converged
    assert same_bits(again.params, found.params)


def test_fits_saved_earlier_began_at_zero_with_steps_of_pegasos(tmp_path):
    path = tmp_path / "fit"
    found = svm().fit(ps.Pegasos(2, seed=1))
    ps.save(found, path)
    header, arrays = taken_apart(path)
    later = {"start", "first_step", "step", "tol", "change_tol"}
    _, options = header["fit"]["solver"]
    options["value"] = [pair for pair in options["value"] if pair[0] not in later]
    del header["fit"]["ran"]
    path.write_bytes(put_together(header, arrays))
    again = ps.load(path)
    assert {name: getattr(again.solver, name) for name in later} == {
        "start": "zero",
        "first_step": 1,
        "step": "pegasos",
        "tol": 0.0,
        "change_tol": 0.0,
    }
    assert (again.n_epochs, again.converged) == (None, None)


def test_the_first_difference_knows_starts_and_sizes():
    made = svm()
    plain = made.fit(ps.Pegasos(2, seed=1, step=0.01))
    other = made.fit(ps.Pegasos(2, seed=1, step=0.02))
    found = ps.first_difference(plain, other)
    assert str(found) == "Step 1: the steps have other sizes (0.01 and 0.02)."
    moved = made.fit(ps.Pegasos(2, seed=1, step=0.01, start=[0.0, 0.0, 1.0, 0.0, 0.0]))
    assert str(ps.first_difference(plain, moved)) == (
        "Step 1: the runs begin with other coefficients (array([0., 0., 0., 0., 0.]) "
        "and array([0., 0., 1., 0., 0.]))."
    )
    lam = svm(lam=20.0)
    ended = lam.fit(ps.Pegasos(seed=4, tol=0.5))
    longer = lam.fit(ps.Pegasos(ended.n_epochs + 1, seed=4))
    found = ps.first_difference(ended, longer)
    assert found.step == ended.n_iter + 1
    assert "the first run ends after" in found.reason


def test_certificates_of_the_run_are_those_it_ended_by():
    made = svm(lam=20.0)
    found = made.fit(ps.Pegasos(seed=4, tol=0.5))
    solution = found.solution
    at = certificate(made.problem, solution.beta, solution.alpha, solution.dual)
    assert at.relative_gap <= 0.5
    assert found.relative_gap <= at.relative_gap


def test_kernel_models_refuse_what_they_do_not_have():
    made = ps.kernel_svm(SOME, TRAIN)
    for name, value in {
        "start": "random",
        "first_step": 2,
        "step": 0.5,
    }.items():
        with pytest.raises(OptionError) as caught:
            made.fit(ps.Pegasos(2, **{name: value}))
        assert str(caught.value) == (
            f"{name}={value!r} makes no sense for a kernel model, whose state is a "
            "count for each row; leave it out."
        )
    for tolerance in ({"tol": 0.1}, {"change_tol": 0.1}):
        with pytest.raises(OptionError) as caught:
            made.fit(ps.Pegasos(2, **tolerance))
        assert str(caught.value) == (
            "A kernel model has no run of Pegasos that ends by itself; leave tol and "
            "change_tol out, or give SDCA(tol=1e-06)."
        )

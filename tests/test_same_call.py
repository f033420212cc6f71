"""Equal calls have equal output, whatever threads do; bars say how far a run is."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.parallel import map_in_order, n_workers
from pegasos_stats.sklearn import SVMClassifier
from tests.output.command_line import run, strict

# ---- Two equal calls have equal output; Pegasos alone draws a seed, and shows it.


def frame():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    above = data["a"] + rng.normal(size=90) > 0.3
    return data.assign(y=np.where(above, "yes", "no"))


DATA = frame()
FAST = ps.Pegasos(epochs=2)


GIVEN = {"formula": "y ~ a + b", "data": DATA, "lam": 0.1}
svm, logit = partial(ps.svm, **GIVEN), partial(ps.logit, **GIVEN)
kernel = partial(ps.kernel_svm, **GIVEN)
CALLS = {
    "optimum": lambda: svm().fit().summary(),
    "kernel": lambda: kernel().fit(ps.Optimum()).summary(),
    "bootstrap": lambda: svm().fit(cov_type=ps.Bootstrap(99)).summary(),
    "cross_validate": lambda: ps.cross_validate(svm(), folds=3).summary(),
    "folds of Pegasos": lambda: ps.cross_validate(svm(), FAST, folds=3).by_fold,
    "lambda_path": lambda: ps.lambda_path(logit(), [0.01, 0.1], folds=3).summary(),
    "tune_kernel": lambda: ps.tune_kernel(kernel(), [0.1, 1.0], [0.1], folds=3),
    "calibrate": lambda: ps.calibrate(svm(), folds=3).summary(),
    "thresholds": lambda: logit().fit().thresholds(folds=3).summary(),
    "compare_errors": lambda: ps.compare_errors(
        {"hinge": svm(), "log": logit()}, folds=3
    ).summary(),
    "compare_solvers": lambda: (
        ps.compare_solvers(svm(), {"fast": FAST}, runs=2)
        .runs.drop(columns="cpu_seconds")
        .to_string()
    ),
    "folds": lambda: ps.Folds.stratified(DATA["y"], 3),
    "sklearn": lambda: SVMClassifier(lam=0.1).fit(DATA[["a", "b"]], DATA["y"]).coef_,
}


@pytest.mark.parametrize("name", CALLS)
def test_equal_calls_have_equal_output(name):
    assert str(CALLS[name]()) == str(CALLS[name]())


def test_seeds_are_1():
    assert ps.SDCA().seed == ps.Optimum().seed == ps.Optimum(seed=None).seed == 1
    assert ps.Folds.stratified(DATA["y"], 3).seed == ps.Bootstrap().seed == 1
    assert ps.cross_validate(svm(), folds=3).seed == 1


def test_pegasos_draws_a_seed_and_shows_it():
    one, other = (svm().fit(FAST) for _ in range(2))
    assert FAST.seed is None
    assert one.seed != other.seed
    assert str(one.seed) in str(one.summary())
    again = svm().fit(FAST.with_seed(one.seed))
    assert again.params.equals(one.params)


@pytest.mark.parametrize("solver", ["optimum", "pegasos"])
def test_the_command_line_has_the_numbers_of_python(solver, tmp_path, capsys):
    file = tmp_path / "rows.csv"
    DATA.to_csv(file, index=False)
    fit = ["fit", file, "--outcome", "y", "--solver", solver, "--cv", 3]
    fit += ["--lambda", 0.1, "--json"] + ["--seed", 1] * (solver == "pegasos")
    first, again = (run(capsys, *fit).out for _ in range(2))
    assert first == again
    found = strict(first)
    use = ps.Optimum() if solver == "optimum" else ps.Pegasos(seed=1)
    model = ps.svm("y ~ .", pd.read_csv(file), lam=0.1)
    result = model.fit(use)
    assert found["params"] == result.params.to_dict()
    # Folds at the optimum are fitted to the tolerance of studies.
    folds = ps.cross_validate(model, None if solver == "optimum" else use, folds=3)
    table = found["confusion"]["out-of-fold"]["table"]
    assert table == folds.confusion().table.to_numpy().tolist()


# ---- Threads change no number and lose no error.


def test_an_exception_comes_through_and_ends_the_iteration():
    done = []

    def task(i):
        done.append(i)
        return 1 / (i - 3)

    with pytest.raises(ZeroDivisionError):
        list(map_in_order(task, range(10_000), 2))
    assert len(done) < 10_000


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "all"])
def test_the_number_of_workers_is_checked(wrong):
    assert (n_workers(3), n_workers(None) >= 1) == (3, True)
    with pytest.raises(OptionError, match="workers"):
        n_workers(wrong)


# ---- Progress bars of runs that stop by themselves, or not


def test_a_run_that_stops_at_a_tolerance_is_counted_and_not_left_unfinished(capsys):
    train, _ = ps.datasets.load_digits56()
    model = ps.svm("digit ~ .", train, lam=0.1)
    model.fit(ps.Optimum(tol=1e-3, seed=1), progress=True)
    printed = capsys.readouterr().err
    assert "epoch [" in printed
    assert "%" not in printed
    model.fit(ps.Optimum(epochs=3, tol=0.0, seed=1), progress=True)
    assert "3/3" in capsys.readouterr().err

"""The remedies that notes on convergence name: the warning is gone with them."""

import warnings

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.advice import in_python

RNG = np.random.default_rng(3)
N = 120
PLAIN = RNG.standard_normal((N, 3))
SCALES = PLAIN * [1.0, 1e3, 1e-3] + [0.0, 5e3, 0.0]
Y = np.where(PLAIN[:, 0] + PLAIN[:, 1] + 0.8 * RNG.standard_normal(N) > 0.6, "b", "a")
KERNEL = {"kernel": "gaussian", "gamma": 0.1}

# Model, its data and options, and the solver: what brings a warning.
CASES = {
    "ran away": (ps.SVM, Y, SCALES, {"lam": 1e-4}, ps.Pegasos(2, seed=1)),
    "log, ran away": (ps.Logit, Y, SCALES, {"lam": 1e-4}, ps.Pegasos(2, seed=1)),
    "no intercept": (
        ps.SVM,
        Y,
        SCALES,
        {"lam": 1e-4, "intercept": False},
        ps.Pegasos(2, seed=1),
    ),
    "intercept alone": (ps.SVM, Y, PLAIN, {"lam": 1e-2}, ps.Pegasos(1, seed=4)),
    "one epoch of SDCA": (
        ps.SVM,
        Y,
        SCALES,
        {"lam": 1e-6},
        ps.SDCA(epochs=1, tol=0.5, seed=1),
    ),
    "perm": (
        ps.SVM,
        Y,
        SCALES,
        {"lam": 1e-4, "intercept": False},
        ps.SDCA(seed=1, algorithm="perm"),
    ),
    "started by SGD": (
        ps.SVM,
        Y,
        SCALES,
        {"lam": 1e-6},
        ps.SDCA(epochs=1, tol=0.5, seed=1, start="sgd"),
    ),
    "short": (ps.SVM, Y, SCALES, {"lam": 1e-1}, ps.Pegasos(30, seed=1)),
    "log, short": (
        ps.Logit,
        Y,
        PLAIN + np.array([0.0, 3.0, 0.0]),
        {"lam": 1e-1},
        ps.Pegasos(1, seed=1),
    ),
    "kernel, ran away": (
        ps.KernelSVM,
        Y,
        PLAIN,
        {"lam": 1e-4, **KERNEL},
        ps.Pegasos(1, seed=2),
    ),
}


def applied(case, settings):
    """The fit with settings that a cure names."""
    kind, y, X, options, solver = CASES[case]
    given, fitting = dict(options), {}
    for setting in settings:
        value = setting.value
        if setting.name == "solver":
            solver = {"SDCA": ps.SDCA, "Pegasos": ps.Pegasos}[value](seed=solver.seed)
        elif setting.name == "refine":
            fitting["refine"] = value
        elif setting.name in ("algorithm", "start", "tol", "epochs"):
            taken = solver if isinstance(solver, ps.SDCA) else ps.SDCA(seed=1)
            solver = ps.SDCA(
                **{"tol": taken.tol, "epochs": 100, "seed": taken.seed}
                | {each.name: each.value for each in settings}
            )
        elif setting.name == "refit_intercept":
            solver = ps.Pegasos(solver.epochs, seed=solver.seed, refit_intercept=True)
        else:
            given[setting.name] = value
    return kind(y, X, **given).fit(solver, **fitting)


def told(result):
    return {note.topic: note for note in result.notes if note.severity == "warning"}


def fit_of(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return applied(case, ())


@pytest.mark.parametrize("case", CASES)
def test_a_cure_that_is_named_helps(case):
    found = told(fit_of(case))
    cures = {topic: note.cure for topic, note in found.items() if note.cure is not None}
    assert cures
    for topic, cure in cures.items():
        assert cure.alternatives
        for settings in cure.alternatives:
            assert topic not in told(applied(case, settings)), in_python(settings)


@pytest.mark.parametrize(
    ("case", "topic", "cures"),
    [
        ("ran away", "run", ["SDCA()", "fit(solver, refine=1e-6)"]),
        ("one epoch of SDCA", "run", ["SDCA(epochs=100, tol=1e-6)"]),
        ("perm", "run", ["SDCA(algorithm='newton', tol=1e-6)"]),
        ("started by SGD", "run", ["SDCA(start='sgd', epochs=100, tol=1e-6)"]),
    ],
)
def test_these_cures_are_named(case, topic, cures):
    cure = told(fit_of(case))[topic].cure
    assert [in_python(each) for each in cure.alternatives] == cures


@pytest.mark.parametrize("case", ["ran away", "log, short"])
def test_a_saved_fit_says_the_same(case, tmp_path):
    result = fit_of(case)
    ps.save(result, tmp_path / "a.model")
    again = ps.load(tmp_path / "a.model")
    assert told(again) == told(result)
    assert again.shortfall == result.shortfall
    for one, other in zip(
        again.notes_on_errors(), result.notes_on_errors(), strict=True
    ):
        assert one == other

"""Configurations drawn at random, in R as it runs and in Python."""

import re
from dataclasses import replace

import numpy as np
import pytest

from pegasos_stats.studies.parity import (
    Setup,
    compared,
    first_difference,
    in_python,
    in_r,
)
from tests.parity.agreement import words_if_apart
from tests.parity.configurations import LOG_REACH, complete, draw

SEED = 443
DRAWN = 200  # configurations; `make parity` draws others
TOGETHER = 10  # configurations in one test, 0.1 s each


@pytest.mark.parametrize("first", range(0, DRAWN, TOGETHER))
def test_r_and_python_agree(r, first):
    drawn = (draw(SEED, number) for number in range(first, first + TOGETHER))
    apart = [words_if_apart(r, configuration) for configuration in drawn]
    assert [words for words in apart if words is not None] == []


def found(wanted, start=0):
    """The first configuration from a number on of which this is true."""
    return next(c for c in (draw(SEED, k) for k in range(start, 5000)) if wanted(c))


def plain(solver):
    def wanted(c):
        return (
            c.solver == solver
            and c.loss == "hinge"
            and c.weights is None
            and str(c.options.get("order", "shuffle")) == "shuffle"
            and c.options["epochs"] > 1
            and c.X.shape[0] > 20
            and c.options.get("batch_size", 1) == 1
            and not c.options.get("project")
            and not c.options.get("refit_intercept")
            and "random_stop" not in c.options
            and c.kernel.get("kernel") != "precomputed"
        )

    return wanted


@pytest.mark.parametrize("solver", ["pegasos", "sdca", "kernel"])
def test_where_two_runs_part_is_found(r, solver, monkeypatch):
    """One row has other values in R: the step is a visit to it, the first to matter."""
    c = found(plain(solver))
    setup = c.setup()
    ours = in_python(r, setup)
    counts = ours["counts"] if solver == "kernel" else ours["a"]
    later = ours["rows"][len(ours["y"]) // 2 :]  # counted from 1 among those kept
    row = next(int(row) for row in later if counts[row - 1] > 0.0)
    X = c.X.copy()
    X[np.flatnonzero(complete(c.labels, c.weights))[row - 1]] += 1.5
    other = replace(c, X=X).setup()
    theirs = in_r(r, other)
    assert not all(each.equal for each in compared(setup, ours, theirs))
    given, real = other.as_r_list(), Setup.as_r_list
    monkeypatch.setattr(Setup, "as_r_list", lambda self: real(self) | {"X": given["X"]})
    words = first_difference(r, setup, ours, theirs)
    unit, at = re.search(r"First after (\w+) (\d+)", words).groups()
    if solver == "sdca":
        epoch = np.flatnonzero(ours["rows"] == row)[0] // len(ours["y"])
        assert (unit, int(at)) == ("epoch", epoch + 1)
        return
    place = int(re.search(r"row (\d+)", words)[1])
    assert (unit, place) == ("step", ours["rows"][int(at) - 1])
    # The first violation of a kernel run changes the score of every row.
    assert int(at) == 1 if solver == "kernel" else place == row
    assert "here" in words


def kind_of(value):
    """A word or None itself, of other values their type."""
    return value if isinstance(value, str | None) else type(value)


KINDS = {
    "loss": {"hinge", "log"},
    "storage": {"dense", "frame", "float32", "sparse", "sparse with zeros"},
    "weights": {None, "balanced", dict, np.ndarray},
    "kernel": {"linear", "polynomial", "gaussian", "precomputed"},
}
OPTIONS = {
    "order": {"shuffle", "sequential", "replace", "subset", np.ndarray},
    "start": {"zero", "random", "sgd", np.ndarray},
    "step": {"pegasos", "1/(lambda n)", "1/sqrt(t)", float, np.ndarray},
    "tol": {float},
    "change_tol": {float},
    "average": {"none", "all", int},
    "random_stop": {int},
}


def test_every_kind_of_configuration_is_drawn():
    drawn = [draw(SEED, number) for number in range(DRAWN)]
    assert {c.solver for c in drawn} == {"pegasos", "sdca", "kernel"}
    for name, kinds in KINDS.items():
        values = [getattr(c, name) for c in drawn]
        if name == "kernel":
            values = [kernel["kernel"] for kernel in values if kernel]
        assert {kind_of(value) for value in values} == kinds, name
    for name, kinds in OPTIONS.items():
        values = [c.options[name] for c in drawn if name in c.options]
        assert {kind_of(value) for value in values} == kinds, name
    assert max(c.options.get("first_step", 0) for c in drawn) > 100


def test_the_log_loss_is_drawn_where_steps_magnify_nothing_for_long():
    for c in (draw(SEED, number) for number in range(300)):
        if c.loss == "log":
            weights = c.model().problem.row_weights
            norm2 = (c.X * c.X).sum(axis=1).max() + c.intercept
            assert weights.max() * norm2 / c.lam <= LOG_REACH

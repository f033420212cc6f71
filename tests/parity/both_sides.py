"""A drawn configuration run in Python and in R, and compared."""

import warnings
from typing import Any

import numpy as np
import pandas as pd

import pegasos_stats as ps
from pegasos_stats.compiled.arithmetic.risk import scores
from pegasos_stats.solvers.kernel_problem import scores_of_kernel
from tests.parity.configurations import Configuration, complete
from tests.parity.equality import assert_same_bits

# Everything without exp() is the same in every bit. Twelve digits of the largest step,
# w ||x|| / lam, where a slope of the log loss enters: see LOG_REACH.
LOG_RTOL = 1e-12

# Newton's method for a dual weight of the log loss ends with a step of 1e-8: its square
# is what is left, of the weight; what is summed over rows cancels and may be smaller.
SDCA_LOG_RTOL = 1e-10

# The two sides rescale dual weights in another order where beta is projected, and
# where steps are not 1 / (lam t).
PROJECTED_RTOL = 1e-10

# What best_intercept() states for the log loss, beside the difference of the scores.
REFIT_RTOL = 1e-14

Run = dict[str, Any]


def given_to_r(r: Any, configuration: Configuration) -> Run:
    """The list that `run_configuration` of configurations.R takes."""
    c, options = configuration, configuration.options
    coding = c.coding if isinstance(c.coding, str) else as_text(r, c.coding)
    return {
        "solver": c.solver,
        "X": np.asarray(c.X, dtype=np.float64),
        "labels": c.labels,
        "coding": coding,
        "weights": weights_to_r(c),
        "seed": options["seed"],
        "sample_kind": options["sample_kind"].capitalize(),
        "ties": options["ties"],
        "stored": c.stored,
        "arguments": arguments(c),
    }


def weights_to_r(c: Configuration) -> Any:
    if not isinstance(c.weights, dict):
        return c.weights
    low, high = (c.weights[level] for level in c.model().coding.levels)
    return {"negative": low, "positive": high}


def arguments(c: Configuration) -> Run:
    """Options of the solver by their names in R, rows counted from one."""
    given = {"epochs": 1, **c.options, "lambda": c.lam}
    for name in ("seed", "sample_kind", "ties"):
        del given[name]
    if isinstance(given.get("order"), np.ndarray):
        given["order"] = given["order"] + 1
    if c.solver != "kernel":
        given["loss"] = c.loss
    if c.solver != "sdca":
        given["intercept"] = c.intercept
    return given | c.kernel


def as_text(r: Any, values: Any) -> list[str]:
    """Labels as R writes them."""
    return [str(text) for text in r.call("as.character", pd.Series(list(values)))]


def in_r(r: Any, c: Configuration) -> Run:
    r.set("given", given_to_r(r, c))
    return dict(r.eval("run_configuration(given)"))


def in_python(r: Any, c: Configuration) -> Run:
    """The same by the public face, with the names of R."""
    model = c.model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ps.errors.ConvergenceWarning)
        result = model.fit(c.as_solver())
    problem, found = model.problem, result.solution
    table = result.confusion().table
    run = {
        "levels": as_text(r, model.coding.levels),
        "y": problem.y,
        "weights": problem.row_weights,
        "rows": np.concatenate(epochs_of(c)[: found.n_epochs]) + 1,
        "n_iter": found.n_iter,
        "violations": found.n_violations,
        "alpha": found.alpha,
        "table": table.to_numpy(),
    }
    if c.solver == "kernel":
        at = scores_of_kernel(problem, found, problem.X)
        return run | {"counts": found.counts, "g": found.g, "scores": at}
    at = scores(problem.rows, found.beta, found.alpha)
    return run | {"beta": found.beta, "a": found.dual, "scores": at}


def epochs_of(c: Configuration) -> list[np.ndarray]:
    """Rows of each epoch, counted from zero."""
    n, solver = int(complete(c.labels, c.weights).sum()), c.as_solver()
    rng = solver.generator()
    if isinstance(c.options.get("start"), str) and c.options["start"] == "random":
        rng.rnorm(c.p)
    if c.solver == "sdca":
        return [rng.permutation(n) for _ in range(c.options["epochs"])]
    return list(solver.passes.rows(n, rng))


def compared(c: Configuration, ours: Run, theirs: Run) -> str | None:
    """What differs first, in words; None if nothing does."""
    names = ["levels", "y", "weights", "rows", "n_iter", "violations"]
    names += ["counts", "g"] if c.solver == "kernel" else ["beta", "a"]
    for name in [*names, "alpha", "scores"]:
        found = difference(c, name, ours, theirs)
        if found is not None:
            return found
    return different_table(c, ours, theirs)


def difference(c: Configuration, name: str, ours: Run, theirs: Run) -> str | None:
    if name == "levels":
        same = ours[name] == theirs[name].tolist()
        return None if same else f"levels: {ours[name]} here, {theirs[name]} in R"
    allowed = tolerance(c, name, ours, theirs)
    left, right = (
        np.atleast_1d(np.asarray(run[name], dtype=np.float64)) for run in (ours, theirs)
    )
    if allowed > 0.0 and left.shape == right.shape:
        apart = float(np.abs(left - right).max())
        if apart <= allowed:
            return None
        return f"{name}: {apart:g} apart, {allowed:g} allowed"
    try:
        assert_same_bits(left, right, name)
    except AssertionError as error:
        return str(error)
    return None


def tolerance(c: Configuration, name: str, ours: Run, theirs: Run) -> float:
    """How far the two may be apart: 0 where every bit is the same."""
    if name == "a" and (c.options.get("project") or has_other_steps(c)):
        return PROJECTED_RTOL * float(np.abs(theirs["a"]).max())
    if c.loss != "log" or name not in ("beta", "alpha", "a", "scores"):
        return 0.0
    largest = float(np.max(theirs["weights"]))
    radius = float(np.sqrt((c.X * c.X).sum(axis=1).max()))
    steps = {
        "beta": radius / c.lam,
        "alpha": 1.0 / c.lam,
        "scores": (radius * radius + 1.0) / c.lam,
        "a": len(theirs["y"]),
    }
    if c.solver == "sdca":
        return SDCA_LOG_RTOL * largest * (1.0 if name == "a" else steps[name])
    allowed = LOG_RTOL * largest * steps[name]
    if name in ("alpha", "scores") and c.options.get("refit_intercept"):
        allowed += LOG_RTOL * largest * steps["scores"]
        allowed += REFIT_RTOL * (1.0 + float(np.abs(theirs["scores"]).max()))
    return allowed


def has_other_steps(c: Configuration) -> bool:
    step = c.options.get("step", "pegasos")
    return not isinstance(step, str) or step != "pegasos"


def different_table(c: Configuration, ours: Run, theirs: Run) -> str | None:
    """Tables, for rows whose score is 0 to rounding left aside with the log loss."""
    allowed = tolerance(c, "scores", ours, theirs)
    if allowed > 0.0 and (np.abs(theirs["scores"]) <= allowed).any():
        return None
    if np.array_equal(ours["table"], theirs["table"]):
        return None
    return f"table: {ours['table'].tolist()} here, {theirs['table'].tolist()} in R"

"""Covariances of coefficients in a saved model: arrays, and their facts as JSON."""

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from pegasos_stats.models.inference.bootstrap import BootstrapResult
from pegasos_stats.models.inference.estimating import has_rows, is_quick
from pegasos_stats.models.inference.options import Bootstrap, Sandwich
from pegasos_stats.models.inference.sandwich import Covariance
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import Note
from pegasos_stats.models.persist.archive import Archive, Header
from pegasos_stats.models.persist.common import LARGEST_SEED, options_of
from pegasos_stats.models.persist.container import Arrays
from pegasos_stats.models.persist.fields import items, real, text, whole
from pegasos_stats.models.persist.values import packed, restored

OPTIONS: dict[str, Any] = {"Sandwich": Sandwich, "Bootstrap": Bootstrap}
ESTIMATES: dict[str, Any] = {
    "Covariance": Covariance,
    "BootstrapResult": BootstrapResult,
}
KEPT_APART = ("options", "notes")  # from the facts of an estimate
PREFIX = "covariance."

MOST_COEFFICIENTS = 256  # whose covariance is computed to be saved: half a megabyte


def covariance_out(result: LinearResults, fit: Header) -> Arrays:
    """Options of the covariance; and what was computed of it, or is quick to compute.

    The training rows are not saved, so it cannot be computed later.
    """
    options = result.cov_type
    fit["cov_type"] = options and [type(options).__name__, packed(asdict(options))]
    fit["covariance"] = None
    if options is None or not (result.has_covariance or _is_little(result)):
        return {}
    estimated = result.estimated
    kind, values = type(estimated).__name__, _values(estimated)
    arrays = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
    facts = {k: packed(v) for k, v in values.items() if k not in arrays}
    remarks = [note.text for note in estimated.notes]
    fit["covariance"] = [kind, facts, list(arrays), remarks]
    return {PREFIX + name: array for name, array in arrays.items()}


def cov_type_in(stored: Any) -> Any:
    """Options of the covariance."""
    if stored is None:
        return None
    name, options = items(stored, "cov_type", 2)
    return OPTIONS[name](**options_of(OPTIONS[name], options))


def covariance_in(stored: Any, k: int, options: Any, archive: Archive) -> Any:
    """The covariance of k coefficients, if the file has it.

    Raises
    ------
    ValueError and others
        If it is not as `covariance_out` writes it.
    """
    if stored is None:
        return None
    kind, facts, names, remarks = items(stored, "the covariance", 4)
    values = {name: restored(value) for name, value in facts.items()}
    for name in items(names, "the names of arrays"):
        values[name] = archive.take(PREFIX + name, "f8", *_shape_of(name, k))
    check: Any = {Sandwich: _check_sandwich, Bootstrap: _check_bootstrap}[type(options)]
    if kind == "BootstrapResult":
        values["options"] = options
    said = [text(remark, "a remark") for remark in items(remarks, "the remarks")]
    notes = tuple(Note("standard errors", "note", remark) for remark in said)
    estimate = ESTIMATES[kind](**values, notes=notes)
    check(estimate)
    return estimate


def _shape_of(name: str, k: int) -> tuple[int | None, ...]:
    if name in ("estimate", "newton_step"):
        return (k,)
    return (None if name == "estimates" else k, k)


def _check_sandwich(found: Covariance) -> None:
    """Raise ValueError for numbers that no sandwich has."""
    for matrix in (found.matrix, found.bread, found.meat):
        _check_array(matrix)
    if found.newton_step is not None:
        _check_array(found.newton_step)
    undefined = np.isnan(found.matrix).all()
    if not undefined and not np.isfinite(found.matrix).all():
        raise ValueError("the covariance is not finite")
    if found.bandwidth is not None and real(found.bandwidth, "the width", 0.0) == 0.0:
        raise ValueError("the width is 0")
    if type(found.df) is not float or not found.df > 0.0:
        raise ValueError(f"df is {found.df!r}")
    text(found.description, "the description")


def _check_bootstrap(found: BootstrapResult) -> None:
    """Raise ValueError for numbers that no bootstrap has."""
    for array in (found.estimate, found.estimates, found.covariance):
        _check_array(array)
        if not np.isfinite(array).all():
            raise ValueError("a resample is not finite")
    if (np.diag(found.covariance) < 0.0).any():
        raise ValueError("a variance is below zero")
    left = whole(found.n_left_out, "a count") + len(found.estimates)
    if left != found.options.replicates:
        raise ValueError(f"{left} of {found.options.replicates} resamples are there")
    whole(found.seed, "the seed", -LARGEST_SEED, LARGEST_SEED)
    whole(found.n_not_converged, "a count", 0, len(found.estimates))
    for number in (found.relative_gap, found.distance):
        if type(number) is not float:
            raise ValueError(f"{number!r} is no distance")


def _check_array(value: Any) -> None:
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{value!r} is no array")


def _values(covariance: Any) -> dict[str, Any]:
    names = (f.name for f in fields(covariance) if f.name not in KEPT_APART)
    return {name: getattr(covariance, name) for name in names}


def _is_little(result: LinearResults) -> bool:
    problem = result.problem
    return (
        isinstance(result.cov_type, Sandwich)
        and problem.p <= MOST_COEFFICIENTS
        and has_rows(problem)
        and is_quick(problem)
    )

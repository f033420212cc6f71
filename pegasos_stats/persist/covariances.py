"""Covariances of coefficients in a saved model: arrays, and their facts as JSON."""

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from pegasos_stats.inference.bootstrap import BootstrapResult
from pegasos_stats.inference.covariance import Covariance, Sandwich
from pegasos_stats.inference.resampling import Bootstrap
from pegasos_stats.inferring import Inferred, has_rows, is_quick
from pegasos_stats.linear_results import LinearResults
from pegasos_stats.persist.archive import Arrays, Header
from pegasos_stats.persist.values import packed, unpacked

OPTIONS: dict[str, Any] = {"Sandwich": Sandwich, "Bootstrap": Bootstrap}
ESTIMATES: dict[str, Any] = {
    "Covariance": Covariance,
    "BootstrapResult": BootstrapResult,
}
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
    kind, values = type(estimated.covariance).__name__, _values(estimated.covariance)
    arrays = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
    facts = {k: packed(v) for k, v in values.items() if k not in arrays}
    fit["covariance"] = [kind, facts, list(arrays), list(estimated.remarks)]
    return {PREFIX + name: array for name, array in arrays.items()}


def cov_type_in(fit: Header) -> Any:
    """Options of the covariance."""
    stored = fit["cov_type"]
    return stored and OPTIONS[stored[0]](**unpacked(stored[1]))


def covariance_in(fit: Header, arrays: Arrays) -> Inferred | None:
    """The covariance, if the file has it.

    Raises
    ------
    ValueError
        If an array has a shape that no covariance has.
    """
    if fit["covariance"] is None:
        return None
    kind, facts, names, remarks = fit["covariance"]
    values = {name: unpacked(value) for name, value in facts.items()}
    values |= {name: arrays[PREFIX + name] for name in names}
    if kind == "BootstrapResult":
        values["options"] = cov_type_in(fit)
    k = fit["shape"][1] + int(fit["problem"][2])
    for name in names:
        array = values[name]
        if array.shape[-1:] != (k,) or array.ndim > 2 or array.dtype.kind != "f":
            raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}")
    return Inferred(ESTIMATES[kind](**values), tuple(remarks))


def _values(covariance: Any) -> dict[str, Any]:
    names = (f.name for f in fields(covariance) if f.name != "options")
    return {name: getattr(covariance, name) for name in names}


def _is_little(result: LinearResults) -> bool:
    problem = result.problem
    return (
        isinstance(result.cov_type, Sandwich)
        and problem.p <= MOST_COEFFICIENTS
        and has_rows(problem)
        and is_quick(problem)
    )

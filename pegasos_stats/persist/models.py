"""Fitted models in files: one archive of arrays and JSON, without pickle."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from os import PathLike, fspath
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.confusion import ConfusionMatrix
from pegasos_stats.errors import DataError, listing, plain
from pegasos_stats.kernel_problem import (
    KernelFunction,
    KernelProblem,
    KernelSolution,
    support_of,
)
from pegasos_stats.kernel_results import KernelResults
from pegasos_stats.linear_results import LinearResults
from pegasos_stats.objective import Certificate
from pegasos_stats.outputs import checked_place
from pegasos_stats.persist.archive import (
    Arrays,
    Header,
    damaged,
    read_archive,
    write_archive,
)
from pegasos_stats.persist.covariances import (
    cov_type_in,
    covariance_in,
    covariance_out,
)
from pegasos_stats.persist.designs import packed_design, unpacked_design
from pegasos_stats.persist.earlier import MODEL
from pegasos_stats.persist.values import (
    packed,
    packed_coding,
    unpacked,
    unpacked_coding,
)
from pegasos_stats.problem import Problem, Solution
from pegasos_stats.results import Results
from pegasos_stats.sample import Dropped
from pegasos_stats.sdca import SDCA
from pegasos_stats.solvers import Pegasos

SOLVERS: dict[str, Callable[..., Any]] = {"Pegasos": Pegasos, "SDCA": SDCA}


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds: the fit, and facts that were saved beside it.

    Attributes
    ----------
    result : LinearResults or KernelResults
    about : dict
        What `save` was given.
    package : str
        Version of pegasos_stats that wrote the file.
    """

    result: Results
    about: dict[str, Any]
    package: str


class Absent:
    """In the place of the training rows, which are not saved: only their shape.

    Parameters
    ----------
    shape : tuple of int
    rows : int array, shape (k,), optional
        Rows that are there none the less, in rising order, and `values`, theirs.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        rows: NDArray[Any] | None = None,
        values: NDArray[Any] | None = None,
    ) -> None:
        self.shape = shape
        self._rows = np.empty(0, dtype=np.int64) if rows is None else rows
        self._values = np.empty((0, *shape[1:])) if values is None else values

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        asked = np.arange(self.shape[0])[rows]
        if not np.isin(asked, self._rows).all():
            _not_saved()
        found: NDArray[Any] = self._values[np.searchsorted(self._rows, asked)]
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _not_saved()

    def __array__(self, *args: Any, **options: Any) -> NDArray[Any]:
        _not_saved()


def save(
    result: Results,
    path: str | PathLike[str],
    *,
    about: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fitted model to a file.

    The file is a zip archive of arrays and one JSON text, as numpy writes it (npz),
    with every bit of the coefficients and all that predictions on new data need:
    coding of the labels and of the predictors, and what the summary shows. The
    covariance of the coefficients is in it if it was computed before, or there are no
    more than 256 and it takes little time. The file holds no pickle, and no training
    rows but the support of a kernel model. An earlier model is replaced as a whole,
    with its permissions; a symbolic link stays, and what it leads to is replaced.

    Parameters
    ----------
    result : LinearResults or KernelResults
    path : str or path
    about : dict, optional
        Further facts of text, numbers and dates to keep with the model.
    overwrite : bool
        Whether another file than a model may be replaced.

    Raises
    ------
    DataError
        If something in the fit cannot be written so that it comes back the same, or
        the file cannot be written, or another one is there that is no model.
    OptionError
        If `path` is none.

    See Also
    --------
    load : reads it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "digits.model"
    >>> save(result, path)
    >>> bool((load(path).params == result.params).all())
    True
    """
    from importlib.metadata import version

    place = checked_place(path, MODEL, overwrite)
    kind, arrays = _kind_of(result), _common_arrays(result)
    header: Header = {
        "package": version("pegasos_stats"),
        "kind": kind,
        "about": packed(dict(about or {})),
        "fit": _common(result),
    }
    arrays |= KINDS[kind][1](result, header["fit"])
    write_archive(place, header, arrays)


def load(path: str | PathLike[str]) -> Any:
    """Read a fitted model that `save` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    LinearResults or KernelResults
        As it was saved, for everything that does not need the training rows: those
        are not in the file, and ``predict()`` without data raises `DataError`.

    Raises
    ------
    DataError
        If the file is not there, is not a saved model, is damaged, or was written
        by a newer version.

    Notes
    -----
    Nothing in a file is run as it is read. The terms of a formula are evaluated when
    predicting; terms that do more than compute with columns are refused.

    Examples
    --------
    >>> load("nosuch.model")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: The file nosuch.model is not there; give ...
    """
    return load_saved(path).result


def load_saved(path: str | PathLike[str]) -> Saved:
    """Read a fitted model with the facts that were saved beside it.

    Raises
    ------
    DataError
        As for `load`.
    """
    arrays, header = read_archive(path)
    if header["kind"] not in KINDS:
        raise DataError(
            f"The file {fspath(path)} holds a {header['kind']!r} model; known are "
            f"{listing(KINDS)}."
        )
    try:
        build = KINDS[header["kind"]][2]
        _check_arrays(arrays, header["fit"])
        result = _restored(build(header["fit"], arrays), header["fit"])
        return Saved(result, unpacked(header["about"]), header["package"])
    except DataError:
        raise
    except Exception as error:  # a header that was tampered with
        raise DataError(damaged(fspath(path), error)) from None


def _check_arrays(arrays: Arrays, fit: Header) -> None:
    """Raise ValueError for arrays and numbers that no fit can have."""
    n, p = (int(size) for size in fit["shape"])
    shapes = dict.fromkeys(("y", "dual", "counts", "g", "weights"), (n,))
    shapes["beta"] = (p,)
    kinds = dict.fromkeys(shapes, "f") | {"y": "i", "counts": "i"}
    for name, shape in shapes.items():
        found = arrays.get(name)
        if found is None:
            continue
        if found.shape != shape or found.dtype.kind != kinds[name]:
            raise ValueError(f"{name} has shape {found.shape} and type {found.dtype}")
    lam, loss, _ = fit["problem"]
    if not 0.0 < lam < np.inf or loss not in ("hinge", "log"):
        raise ValueError(f"lambda is {lam} and the loss {loss}")


def _kind_of(result: Any) -> str:
    for kind, (type_, _, _) in KINDS.items():
        if isinstance(result, type_):
            return kind
    raise DataError(
        f"A {type(result).__name__} cannot be saved; give what fit() returns."
    )


def _common(result: Results) -> Header:
    """What all kinds of fits have, but for the arrays."""
    problem, found = result.problem, result.solution
    return {
        "design": packed_design(result.design),
        "coding": packed_coding(result.coding),
        "solver": _packed_solver(result.solver),
        "refinement": result.refinement and _packed_solver(result.refinement),
        "problem": [problem.lam, problem.loss, problem.intercept],
        "shape": list(problem.X.shape),
        "alpha": packed(float(found.alpha)),
        "counts": [int(found.n_iter), int(found.n_violations), plain(found.seed)],
        "certificate": packed(asdict(result.certificate)),
        "training_table": result.training_table.counts.tolist(),
        "seconds": result.seconds,
        "dropped": [result.dropped.outcome, result.dropped.predictors],
        "trace": None if result.trace is None else list(result.trace.columns),
    }


def _packed_solver(solver: Pegasos | SDCA) -> list[Any]:
    """Name and options; an order given as rows is written as an array."""
    options = {f.name: getattr(solver, f.name) for f in fields(solver)}
    if isinstance(options.get("order"), np.ndarray):
        options["order"] = None
    return [type(solver).__name__, packed(options)]


def _unpacked_solver(stored: list[Any], order: Any = None) -> Any:
    name, options = stored[0], unpacked(stored[1])
    if order is not None:
        options["order"] = order
    return SOLVERS[name](**options)


def _common_arrays(result: Results) -> Arrays:
    arrays: Arrays = {"y": result.problem.y.astype(np.int8)}
    weights = getattr(result.problem, "weights", None)
    if weights is not None:
        arrays["weights"] = weights
    order = getattr(result.solver, "order", None)
    if isinstance(order, np.ndarray):
        arrays["order"] = order
    if result.trace is not None:
        for name in result.trace.columns:
            arrays[f"trace.{name}"] = result.trace[name].to_numpy()
    return arrays


def _fields(fit: Header, arrays: Arrays) -> dict[str, Any]:
    """Arguments that all kinds of results have."""
    trace, refinement = fit["trace"], fit["refinement"]
    if trace is not None:
        trace = pd.DataFrame({column: arrays[f"trace.{column}"] for column in trace})
    return {
        "solver": _unpacked_solver(fit["solver"], arrays.get("order")),
        "refinement": refinement and _unpacked_solver(refinement),
        "design": unpacked_design(fit["design"]),
        "coding": unpacked_coding(fit["coding"]),
        "index": pd.RangeIndex(fit["shape"][0]),
        "dropped": Dropped(*fit["dropped"]),
        "trace": trace,
        "seconds": fit.get("seconds"),
    }


def _restored(result: Results, fit: Header) -> Results:
    """Set what would be computed from the training rows."""
    counts = np.array(fit["training_table"], dtype=np.int64)
    none = pd.DataFrame(columns=["actual", "predicted"])
    vars(result)["training_table"] = ConfusionMatrix(result.coding.levels, counts, none)
    vars(result)["certificate"] = Certificate(**unpacked(fit["certificate"]))
    return result


def _linear_out(result: Any, fit: Header) -> Arrays:
    arrays: Arrays = {"beta": result.solution.beta, "dual": result.solution.dual}
    return arrays | covariance_out(result, fit)


def _linear_in(fit: Header, arrays: Arrays) -> LinearResults:
    X, y = Absent(tuple(fit["shape"])), arrays["y"].astype(np.float64)
    found = arrays["beta"], unpacked(fit["alpha"]), arrays["dual"]
    result = LinearResults(
        problem=Problem(X, y, *fit["problem"], weights=arrays.get("weights")),
        solution=Solution(*found, *fit["counts"]),
        cov_type=cov_type_in(fit),
        **_fields(fit, arrays),
    )
    estimated = covariance_in(fit, arrays)
    if estimated is not None:
        vars(result)["estimated"] = estimated
    return result


def _kernel_out(result: Any, fit: Header) -> Arrays:
    """Kernel, counts, and the rows that predictions depend on."""
    problem, found = result.problem, result.solution
    fit["kernel"] = [asdict(problem.kernel), problem.memory]
    arrays: Arrays = {"counts": found.counts, "g": found.g}
    if result.columns is not None:
        arrays["columns"] = result.columns
    else:
        arrays["support"] = problem.X[support_of(problem, found)[0]]
    return arrays


def _kernel_in(fit: Header, arrays: Arrays) -> KernelResults:
    y, counts = arrays["y"].astype(np.float64), arrays["counts"]
    weights = arrays.get("weights")
    weighted = counts if weights is None else counts * weights
    rows = np.flatnonzero(weighted) if "support" in arrays else None
    X = Absent(tuple(fit["shape"]), rows, arrays.get("support"))
    options, memory = fit["kernel"]
    lam, loss, intercept = fit["problem"]
    kernel = KernelFunction(**options)
    found = counts, arrays["g"], unpacked(fit["alpha"])
    return KernelResults(
        problem=KernelProblem(
            X, y, lam, loss, intercept, kernel, memory, weights=weights
        ),
        solution=KernelSolution(*found, *fit["counts"]),
        columns=arrays.get("columns"),
        **_fields(fit, arrays),
    )


# Kinds of results: their type, what is written beside what all have, and how they
# are put together again.
KINDS: dict[str, tuple[type, Callable[..., Arrays], Callable[..., Results]]] = {
    "linear": (LinearResults, _linear_out, _linear_in),
    "kernel": (KernelResults, _kernel_out, _kernel_in),
}


def _not_saved() -> NoReturn:
    raise DataError(
        "The training rows are not in a saved model; give data, as in predict(data), "
        "and ask for standard errors, as by result.bse, before saving."
    )

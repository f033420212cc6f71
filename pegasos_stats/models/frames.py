"""A fit as data frames, in the vocabulary of broom: glance and augment."""

from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.data.columns import is_sparse
from pegasos_stats.data.design import FrameDesign, as_frame, row_labels
from pegasos_stats.data.formula import as_data, outcome_of
from pegasos_stats.data.labels import Ties
from pegasos_stats.data.sample import aligned_labels
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import ColumnError, OptionError, listing, shown
from pegasos_stats.models.fits import Fit

TIDY_COLUMNS = [
    "term",
    "estimate",
    "std_error",
    "statistic",
    "p_value",
    "conf_low",
    "conf_high",
]


def glanced(fit: Fit, error_rate: float) -> pd.DataFrame:
    """One row of numbers about a fit."""
    cells = {
        "nobs": fit.nobs,
        "dropped": fit.dropped.total,
        "loss": fit.problem.loss,
        "lam": fit.problem.lam,
        "objective": fit.objective,
        "dual_objective": fit.dual_objective,
        "gap": fit.gap,
        "relative_gap": fit.relative_gap,
        "n_iter": fit.n_iter,
        "n_violations": fit.n_violations,
        "n_support": fit.n_support,
        "error_rate": error_rate,
        "solver": fit.solver_name,
        "seed": pd.array([fit.seed], dtype="Int64"),
        "converged": pd.array([fit.converged], dtype="boolean"),
    }
    return pd.DataFrame(cells, index=[0])


def labels_of(fit: Fit, data: Any) -> "pd.Series[Any]":
    """Labels in the outcome's column of `data`; those of the fit for None.

    Raises
    ------
    ColumnError
        If there is no such column, or it is a predictor of the same name.
    """
    if data is None:
        return fit.coding.decode(fit.problem.y, fit.index)
    if fit.design.formula is not None:
        return outcome_of(fit.design.formula, data, fit.design.functions)
    name = fit.coding.name
    if name in fit.design.names:
        raise ColumnError(_same_name(name, "confusion"))
    if not isinstance(data, pd.DataFrame) or name not in data.columns:
        raise ColumnError(
            f"The outcome {name!r} is not among the data; give the labels: "
            "confusion(data, actual=labels)."
        )
    return data[name]


def frame_of(fit: Fit, data: Any) -> pd.DataFrame:
    """View data as a frame; for None, outcome and predictors of the fit."""
    if data is None:
        return training_frame(fit)
    if fit.design.formula is not None:
        return as_data(data)
    if is_sparse(data) and not isinstance(data, pd.DataFrame):
        return _sparse_frame(data, row_labels(data))
    return as_frame(data)


def training_frame(fit: Fit) -> pd.DataFrame:
    """Outcome and predictors of the rows used, as they were before any scaling.

    A factor stands there as its columns of 0 and 1. A precomputed kernel has no
    predictors.

    Raises
    ------
    ColumnError
        If the outcome and a predictor have the same name.
    """
    outcome = fit.coding.decode(fit.problem.y, fit.index).to_frame()
    kernel = getattr(fit.problem, "kernel", None)
    if kernel is not None and kernel.name == "precomputed":
        return outcome
    predictors = _predictors(fit)
    if fit.coding.name in predictors.columns:
        raise ColumnError(_same_name(fit.coding.name, "augment"))
    return pd.concat([outcome, predictors], axis=1)


def _same_name(name: str, method: str) -> str:
    return (
        f"The outcome and a predictor are both called {name!r}; give the data and the "
        f"labels: {method}(data, actual=labels)."
    )


def scored(
    fit: Fit,
    scores: "pd.Series[float]",
    labels: "pd.Series[Any] | None",
    ties: Ties,
) -> pd.DataFrame:
    """Columns that a fit adds to its data, see `Results.augment`."""
    coding = fit.coding
    columns: dict[str, Any] = {
        "predicted": coding.predicted(scores, ties),
        "score": scores,
    }
    if fit.problem.loss == "log":
        columns["probability"] = coding.probabilities(scores)[coding.positive]
    if labels is not None:
        margin = coding.encode(labels) * scores.to_numpy()
        columns["margin"] = margin
        columns["loss"] = _losses(fit.problem.loss, margin)
    return pd.DataFrame(columns, index=scores.index)


def with_columns(data: pd.DataFrame, added: pd.DataFrame, prefix: Any) -> pd.DataFrame:
    """Data with columns at their end, none of which may be there already.

    Raises
    ------
    OptionError
        If the prefix is not text.
    ColumnError
        If `data` have a column of one of the names.
    """
    if not isinstance(prefix, str):
        raise OptionError(
            f"prefix={shown(prefix)} is not allowed; give text, such as prefix='.'."
        )
    added = added.add_prefix(prefix)
    taken = [name for name in added.columns if name in data.columns]
    if taken:
        raise ColumnError(
            f"The data have columns called {listing(taken)}, which augment() adds; "
            "give another beginning of the new names, such as "
            f"prefix={'.' + prefix!r}."
        )
    if data.columns.nlevels > 1:
        rest = [""] * (data.columns.nlevels - 1)
        added.columns = pd.MultiIndex.from_tuples([(c, *rest) for c in added.columns])
    return pd.concat([data, added.set_axis(data.index)], axis=1)


def known_labels(fit: Fit, data: Any, actual: Any) -> "pd.Series[Any] | None":
    """Labels that were given, or are among the data; None if they are not known."""
    if actual is not None:
        index = fit.index.to_frame() if data is None else data
        return aligned_labels(actual, index)
    try:
        return labels_of(fit, data)
    except ColumnError:
        return None


def _predictors(fit: Fit) -> pd.DataFrame:
    design, X = fit.design, fit.problem.X
    if isinstance(design, ScaledDesign):
        X, design = design.scaling.unapply(X), design.design
    names = design.columns if isinstance(design, FrameDesign) else design.names
    columns = pd.Index(list(names), tupleize_cols=False)
    if is_sparse(X):
        return _sparse_frame(X, fit.index).set_axis(columns, axis=1)
    return pd.DataFrame(np.array(X), index=fit.index, columns=columns)


def _sparse_frame(X: Any, index: pd.Index) -> pd.DataFrame:
    from scipy.sparse import csr_matrix

    names = [f"x{j + 1}" for j in range(X.shape[1])]
    sparse: Any = pd.DataFrame.sparse
    found: pd.DataFrame = sparse.from_spmatrix(csr_matrix(X), index, names)
    return found


def _losses(loss: str, margin: Any) -> Any:
    """Loss of every row at its margin."""
    if loss == "hinge":
        return np.maximum(0.0, 1.0 - margin)
    from scipy.special import log_expit

    return -log_expit(margin)

"""Predictions for a frame of Dask, made where its partitions are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.data.columns import in_a_piece
from pegasos_stats.solvers.problem import Problem, Solution

if TYPE_CHECKING:
    from dask.dataframe import DataFrame as DaskFrame

    from pegasos_stats.models.predicting import Predictor


def light(result: "Predictor") -> "Predictor":
    """A linear fit as a rule for new rows: without anything that there is of each row.

    It is what is sent to the partitions.
    """
    problem, found = result.problem, result.solution
    if not isinstance(problem, Problem) or not isinstance(found, Solution):
        return result
    offset = None if problem.offset is None else np.zeros(1)
    few = Problem(
        np.zeros((1, problem.p)),
        np.ones(1),
        problem.lam,
        problem.loss,
        problem.intercept,
        offset=offset,
    )
    vars(few)["prior_shift"] = problem.prior_shift
    solution = replace(found, dual=np.zeros(1))
    return replace(result, problem=few, solution=solution, index=pd.RangeIndex(1))


@dataclass(frozen=True, eq=False)
class Rule:
    """What a method of a fit gives for new rows."""

    result: "Predictor"
    method: str
    options: Mapping[str, object]

    def __call__(self, frame: pd.DataFrame) -> Any:
        """The rows of one partition, or of a piece of files."""
        with in_a_piece():
            return getattr(self.result, self.method)(frame, **self.options)


def without_rows(frame: "DaskFrame") -> pd.DataFrame:
    """A frame of pandas with the columns of one of Dask."""
    found: pd.DataFrame = frame._meta
    return found


def of_partitions(
    result: "Predictor",
    frame: "DaskFrame",
    method: str,
    options: Mapping[str, object],
    like: pd.Series | pd.DataFrame,
) -> Any:
    """What a method gives, as a Series or frame of Dask that is not computed yet.

    Parameters
    ----------
    result : Predictor
    frame : dask.dataframe.DataFrame
    method : str
    options : dict
        Arguments of the method.
    like : Series or DataFrame
        Rows of the same kind.

    Raises
    ------
    OptionError
        If offsets are given as numbers, of which no partition knows its own.
    ColumnError
        If a column of the offset is not there.
    """
    if result.offsets is not None:
        result.offsets.columns([*frame.columns], options.get("offset"))
    rule = Rule(light(result), method, options)
    return frame.map_partitions(rule, meta=like.iloc[:0])

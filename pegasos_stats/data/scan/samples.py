"""The sample of a fit whose rows are in files or partitions."""

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_flag
from pegasos_stats.data.labels import Coding
from pegasos_stats.data.language.formula_design import doubtful_in
from pegasos_stats.data.sample import NaAction, Sample
from pegasos_stats.data.scan.levels import Source, resolve_formula
from pegasos_stats.data.scan.partitions import Partitions
from pegasos_stats.data.scan.rows import streamed_rows
from pegasos_stats.data.scan.source import check_unset
from pegasos_stats.data.suspicious import warn_of_columns
from pegasos_stats.data.weights import Counts, kind_of
from pegasos_stats.errors import OptionError
from pegasos_stats.other_frames import is_dask, is_streamed


def streamed(data: object) -> Source | None:
    """Return data whose rows are in files or in partitions; None for other data.

    What was known of files that changed is forgotten.
    """
    if not is_streamed(data):
        return None
    source = cast(Source, Partitions(data) if is_dask(data) else data)
    source.renewed()
    return source


def sample_of_stream(
    formula: str,
    data: object,
    needs_memory: Mapping[str, object],
    intercept: bool,
    coding: Coding,
    na_action: NaAction,
    weights: object = None,
    freq_weights: object = None,
    functions: Mapping[str, Callable[..., object]] | None = None,
    standardize: bool = False,
    offset: object = None,
) -> tuple[Sample, bool]:
    """Evaluate a formula on files or partitions, in one pass or a few.

    Returns the sample and whether it has an intercept.

    Parameters
    ----------
    formula : str
    data : Scan, Partitions or dask.dataframe.DataFrame
    needs_memory : mapping
        Options by name that need the rows in memory, unless None.
    intercept, coding, na_action, weights, freq_weights, functions, standardize, offset
        As for `SVM`.

    Raises
    ------
    FormulaError, ColumnError, LabelError, DataError
        As for `resolve_formula` and `streamed_rows`.
    OptionError
        If an option needs all rows at once.
    """
    scan = cast(Source, streamed(data))
    check_unset(scan.title, needs_memory)
    check_flag("standardize", standardize)
    for name, value, allowed in (
        *(("functions", functions, ()), ("freq_weights", freq_weights, str)),
        *(("offset", offset, str), ("weights", weights, str | dict)),
    ):
        if not (value is None or isinstance(value, allowed)):
            why = f"does not go with {scan.title}; give the name of a column."
            raise OptionError(why, name, value)
    counts, offset_column = cast("list[str | None]", [freq_weights, offset])
    stamps = scan.renewed()
    agreed = resolve_formula(scan, formula, intercept, coding, counts, offset_column)
    rows = streamed_rows(scan, agreed, weights, standardize, na_action, stamps)
    warn_of_columns(doubtful_in(rows.matrices.design))
    n = rows.y.size
    sample = Sample(
        X=rows,
        y=cast(Vector, rows.y),  # a byte a row, not eight
        index=pd.RangeIndex(n),
        design=rows.matrices.design,
        coding=agreed.coding,
        dropped=rows.dropped,
        kept=np.broadcast_to(np.True_, n),
        weights=rows.weights,
        weights_of=kind_of(weights),
        counted=None if counts is None else Counts(counts, rows.lines),
        offset=rows.offset,
        offsets=agreed.offsets,
    )
    return sample, agreed.intercept

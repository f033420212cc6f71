"""Rows of files as frames, for a design that is known."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from pegasos_stats.data.design import Design
from pegasos_stats.data.language.design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.joining import frame_of
from pegasos_stats.data.svmlight import LABEL_NAME
from pegasos_stats.errors import DataError


def scanned_frames(
    scan: Scan, design: Design, also: Sequence[str] = ()
) -> Iterator[pd.DataFrame]:
    """The columns that a design uses, and others, some rows at a time.

    Rows are numbered from 0 in each file, as errors name them.

    Raises
    ------
    ColumnError
        If a file lacks a column.
    DataError
        If files change while they are read, or count their features from 0 and those
        of the fit from 1.
    """
    stamps = scan.renewed()
    inner = design.design if isinstance(design, ScaledDesign) else design
    variables = inner.variables if isinstance(inner, FormulaDesign) else design.names
    used = [*dict.fromkeys([*variables, *also])]
    of_all = str(inner.formula) == f"{LABEL_NAME} ~ ."
    if of_all and scan.is_svmlight and "x0" in scan.kinds and "x0" not in variables:
        raise DataError(
            "The svmlight files have the index 0, and the features of the fit are "
            "counted from 1; renumber them."
        )
    scan.check(used)
    empty = True
    for labels, piece in scan.labelled(used):
        empty = False
        yield frame_of(piece).set_axis(labels)
    if scan.renewed() != stamps:
        raise DataError("The files have changed while they were read; read them again.")
    if empty:
        yield pd.DataFrame({name: np.zeros(0) for name in used})

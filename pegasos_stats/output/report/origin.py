"""Where the data of a report came from, as lines that read them again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath

import numpy as np
import pandas as pd

from pegasos_stats.advice import Spelling
from pegasos_stats.data.counts import column_of_counts, repeated
from pegasos_stats.data.files import COMMAS, CsvStyle, opened, read_csv
from pegasos_stats.data.formula import outcome_of
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.data.scan.files import MEMORY, Scan, bytes_of
from pegasos_stats.errors import DataError, LabelError, OptionError, plain
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.writing import checked_path, shown_path

Path = str | PathLike[str]
Fitted = LinearResults | KernelResults


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the data came from.

    Attributes
    ----------
    python : sequence of str
        Lines that make the objects which the other expressions name.
    train : str
        Expression of the training data, for a model with a formula.
    labels, rows : str
        Expressions of labels and predictors, for a model without.
    test : str or None
        Expression of the held-out data.
    weights : str
        Expression of weights that differ from row to row.
    table : DataFrame or None
        The training data, where R can read their file too.
    file : str
        That file, in CSV.
    row_names : bool
        Whether its first column names the rows.
    r_rows : str
        Index of the training rows in it, as R writes it; empty if all are.
    command : str
        The command line, if that is where the fit was made.
    spell : callable or None
        How cures are written then.
    """

    python: Sequence[str] = ()
    train: str = "train"
    labels: str = "y"
    rows: str = "X"
    test: str | None = None
    weights: str = "weights"
    table: pd.DataFrame | None = None
    file: str = ""
    row_names: bool = False
    r_rows: str = ""
    command: str = ""
    spell: Spelling | None = None


def of_memory(formula: str | None, tested: bool) -> Origin:
    """Objects that are in memory already; how they came there is not known."""
    names = [*(["y", "X"] if formula is None else ["train"]), *(["test"] * tested)]
    verb = "are" if len(names) > 1 else "is"
    known = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
    return Origin(
        [f"# {known} {verb} the data of this report"], test="test" if tested else None
    )


def of_csv(
    train: Path,
    table: pd.DataFrame,
    test: Path | None = None,
    *,
    weights: str = "weights",
    command: str = "",
    style: CsvStyle = COMMAS,
) -> Origin:
    """CSV files, of which `table` is the content of the one for training.

    The lines of R read the file itself only if it has commas and decimal points.
    """
    named = names_rows(train, style)
    index = style.arguments + (", index_col=0" if named else "")
    files = {"train": train} | ({} if test is None else {"test": test})
    lines = [
        f"{k} = pd.read_csv({literal(fspath(v))}{index})" for k, v in files.items()
    ]
    return Origin(
        lines,
        test=None if test is None else "test",
        weights=weights,
        table=table if style == COMMAS else None,
        file=fspath(train),
        row_names=named,
        command=command,
    )


def of_scan(scan: Scan, tested: bool) -> Origin:
    """Files that `pegasos_stats.scan` named, in their order.

    Examples
    --------
    >>> files = Scan(("a.csv", "b.csv"), memory=2**29, stated=(("zip", "text"),))
    >>> print("".join(of_scan(files, tested=False).python))
    train = ps.scan(
        ["a.csv", "b.csv"],
        memory=536870912,
        types={"zip": "text"},
    )
    """
    files = ", ".join(map(literal, scan.files))
    types = ", ".join(f"{literal(k)}: {literal(kind)}" for k, kind in scan.stated)
    given = [f"[{files}]"]
    if scan.memory != bytes_of(MEMORY):
        given.append(f"memory={scan.memory}")
    if types:
        given.append(f"types={{{types}}}")
    inner = "".join(f"    {each},\n" for each in given)
    lines = [f"train = ps.scan(\n{inner})", *(["# test is the held-out data"] * tested)]
    return Origin(lines, test="test" if tested else None)


def names_rows(path: Path, style: CsvStyle = COMMAS) -> bool:
    """Whether the first column of a CSV file, without a name, names the rows."""
    with opened(path) as handle:
        header = pd.read_csv(handle, nrows=0, sep=style.sep)
    return str(header.columns[0]).startswith("Unnamed: 0")


def literal(value: object) -> str:
    """Write a label or a name as Python does, text in double quotes.

    Examples
    --------
    >>> literal("a b"), literal(5), literal(("no", "yes"))
    ('"a b"', '5', '("no", "yes")')
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))})"
    return repr(plain(value))


def checked_source(source: Path | None, result: Fitted, tested: bool) -> Origin:
    """Where the user says that the data came from: a CSV file, or nowhere.

    Parameters
    ----------
    source : path or None
    result : Results
    tested : bool
        Whether there are held-out data.

    Raises
    ------
    DataError
        If the file cannot be read.
    OptionError
        If other data are in it.
    """
    formula = result.design.formula
    if source is None:
        X = result.problem.X if isinstance(result, LinearResults) else None
        if isinstance(X, Elsewhere) and isinstance(X.measured.scan, Scan):
            return of_scan(X.measured.scan, tested)
        return of_memory(formula, tested)
    name = checked_path(source)
    table = read_csv(name)
    if not holds_data_of(result, each_as_counted(result, table)):
        raise OptionError(
            f"The file {shown_path(name)} does not hold the data of the fit; give the "
            "path of the CSV file that the training data were read from."
        )
    known, outcome = of_csv(name, table), literal(result.coding.name)
    return replace(
        known,
        python=[*known.python, *(["# test is the held-out data"] * tested)],
        labels=f"train[{outcome}]",
        rows=f"train.drop(columns={outcome})",
        test="test" if tested else None,
    )


def holds_data_of(result: Fitted, table: pd.DataFrame) -> bool:
    """Whether a table has the labels and the numbers of the fit, row by row."""
    try:
        matrix, offset = result.design.matrix(table), result.offsets
        if offset is not None and not offset.given:
            matrix = offset.on(matrix, table, None)
        formula, name = result.design.formula, result.coding.name
        functions = result.design.functions
        labels = (
            table[name] if formula is None else outcome_of(formula, table, functions)
        )
        y = result.coding.encode(labels)[matrix.kept]
    except (DataError, LabelError, KeyError):
        return False
    known = ~np.isnan(y)
    if not np.array_equal(y[known], result.problem.y):
        return False
    if matrix.offset is not None and not np.array_equal(
        matrix.offset[known], result.problem.row_offsets
    ):
        return False
    return bool((abs(matrix.values[known] - result.problem.X)).max() == 0)


def each_as_counted(result: Fitted, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table, each as often as the column of counts of the fit says."""
    counts = column_of_counts(None, result.counted, table)
    if counts is None:
        return table
    try:
        return table.iloc[repeated(counts, table, table.index)]
    except DataError:  # other data
        return table

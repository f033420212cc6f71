"""The data of a fit in R: read from their file, or as numbers that Python writes."""

import math
import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.files import opened
from pegasos_stats.data.formula import split_formula, unwrapped
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.errors import plain
from pegasos_stats.output.report.subject import Subject
from pegasos_stats.solvers.solver import Solver

MOST_TEXTS = 200_000  # different numbers of a file that are looked at
SHORT_ORDER = 20  # rows of an explicit order that are written out
EXACT = "float_format=float.hex"  # no digit is lost
DECIMAL = re.compile(r"\s*([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?\s*")
EXACT_POWER = 27  # 10^27 is a number of R's extended precision, 10^28 is not
BITS = 64  # of the significand in extended precision


def reads_alike(subject: Subject) -> bool:
    """Whether R finds in the file the bits of the labels and numbers of the fit.

    It does if predictors are columns of the file, no row was left out, and R rounds
    every number as Python does.
    """
    result, table = subject.result, subject.origin.table
    if table is None or result.dropped.total or result.counted is not None:
        return False
    if subject.is_scaled or subject.is_kernel:
        return False
    design = result.design
    if isinstance(design, FormulaDesign) and not (
        set(design.names) == set(design.variables) == set(design.numeric)
    ):
        return False
    if outcome_column(subject) is None:
        return False
    if not set(design.names) <= set(table.columns):
        return False
    if type(result.coding.negative) not in (int, float, str):
        return False
    return _level_weights(subject) is not None and _texts_are_exact(subject)


def outcome_column(subject: Subject) -> str | None:
    """Name of the column that is the outcome; None if that is an expression."""
    result, table = subject.result, subject.origin.table
    name, formula = result.coding.name, result.design.formula
    if formula is not None:
        name = unwrapped(split_formula(formula)[0])
    return name if table is not None and name in table.columns else None


def _texts_are_exact(subject: Subject) -> bool:
    """Whether R rounds every number of the file as Python does."""
    origin, names = subject.origin, list(subject.result.design.names)
    with opened(origin.file) as handle:
        texts = pd.read_csv(handle, usecols=names, dtype=str, keep_default_na=False)
    different = pd.unique(texts.to_numpy().ravel())
    return len(different) <= MOST_TEXTS and all(map(r_reads_exactly, different))


def _level_weights(subject: Subject) -> tuple[float, float] | None:
    """Weights of the two levels; None where they differ within a level."""
    weights, y = subject.weights, subject.result.problem.y
    if weights is None:
        return 1.0, 1.0
    low, high = (np.unique(weights[y == sign]) for sign in (-1.0, 1.0))
    return None if len(low) + len(high) > 2 else (float(low[0]), float(high[0]))


def read_csv_lines(subject: Subject) -> list[str]:
    """Lines by which R reads the file of the training data: ``y``, ``X`` and ``w``."""
    result, origin = subject.result, subject.origin
    outcome, low = outcome_column(subject) or "", result.coding.negative
    is_text = isinstance(low, str)
    options = ["check.names = FALSE", *(["row.names = 1"] * origin.row_names)]
    if is_text:
        name = outcome.replace("\\", "\\\\").replace("`", "\\`")
        options.append(f'colClasses = c(`{name}` = "character")')
    level = r_text(low) if is_text else r_number(low)
    file = f"{r_text(origin.file)}, {', '.join(options)}"
    lines = [
        f"train <- read.csv({file}){origin.r_rows}",
        *_names_given(subject),
        f"y <- ifelse(train[[{r_text(outcome)}]] == {level}, -1, 1)",
        f"X <- as.matrix(train[, {_chosen(subject, outcome)}, drop = FALSE])",
        'storage.mode(X) <- "double"',
    ]
    if subject.weights is not None:
        first, second = _level_weights(subject) or (1.0, 1.0)
        lines.append(f"w <- ifelse(y < 0, {r_number(first)}, {r_number(second)})")
    return lines + _sparse(subject)


def _names_given(subject: Subject) -> list[str]:
    """Name columns as pandas does, if the file has a name twice or a column without."""
    origin = subject.origin
    names = [] if origin.table is None else list(origin.table.columns)
    with opened(origin.file) as handle:
        first = pd.read_csv(handle, header=None, nrows=1, dtype=str, na_filter=False)
    if first.iloc[0].tolist()[origin.row_names :] == names:
        return []
    return [f"names(train) <- c({', '.join(map(r_text, names))})"]


def _chosen(subject: Subject, outcome: str) -> str:
    """Columns of the predictors: all others than the outcome, or by name."""
    names, table = list(subject.result.design.names), subject.origin.table
    others = [] if table is None else [c for c in table.columns if c != outcome]
    if names == others:
        return f"setdiff(names(train), {r_text(outcome)})"
    return f"c({', '.join(map(r_text, names))})"


def writing_lines(subject: Subject, solution: bool) -> list[str]:
    """Lines by which Python writes the numbers of the fit, in hexadecimal.

    Parameters
    ----------
    subject : Subject
    solution : bool
        Whether coefficients and dual weights are written too.
    """
    dense = "" if isinstance(subject.result.problem.X, np.ndarray) else ".toarray()"
    names = "" if subject.is_kernel else ", columns=result.design.names"
    lines = [
        "fit = result.problem",
        f"matrix = pd.DataFrame(fit.X{dense}{names}).astype(float)",
        'matrix.insert(0, "(y)", fit.y)',
    ]
    if subject.weights is not None:
        lines.append('matrix.insert(1, "(w)", fit.weights)')
    lines.append(f'matrix.to_csv("matrix.csv", index=False, {EXACT})')
    if solution:
        shown = '("dual",)' if subject.is_kernel else '("beta", "dual")'
        lines += [
            f"for name in {shown}:",
            "    found = pd.Series(getattr(result.solution, name), name=name)",
            f'    found.to_csv(f"{{name}}.csv", index=False, {EXACT})',
        ]
    return ["import pandas as pd", "", *lines]


def read_matrix_lines(subject: Subject) -> list[str]:
    """Lines by which R reads what Python wrote."""
    weighted = subject.weights is not None
    return [
        'matrix <- read.csv("matrix.csv", check.names = FALSE)',
        "y <- matrix[[1]]",
        *(["w <- matrix[[2]]"] * weighted),
        f"X <- as.matrix(matrix[-{'(1:2)' if weighted else '1'}])",
        *_sparse(subject),
    ]


def _sparse(subject: Subject) -> list[str]:
    """Sparse rows are kept as such in R too: their sums run over stored entries."""
    is_dense = isinstance(subject.result.problem.X, np.ndarray)
    return [] if is_dense else ["X <- sparse_rows(X)"]


def order_file_lines(order: object) -> list[str]:
    """Lines by which Python writes rows that were given one by one, if many."""
    if not isinstance(order, np.ndarray) or order.size <= SHORT_ORDER:
        return []
    return [
        "import numpy as np",
        'np.savetxt("rows.csv", np.atleast_2d(result.solver.order) + 1, '
        'fmt="%d", delimiter=",")',
    ]


def given_file_lines(solver: Solver) -> list[str]:
    """Lines by which Python writes a start or sizes of steps, if they are many."""
    return [
        line
        for name in ("start", "step")
        for value in [getattr(solver, name, None)]
        if isinstance(value, np.ndarray) and value.size > SHORT_ORDER
        for line in (
            "import pandas as pd",
            f'given = pd.Series(result.solver.{name}, name="{name}")',
            f'given.to_csv("{name}.csv", index=False, {EXACT})',
        )
    ]


def given_in_r(name: str, numbers: NDArray[np.float64]) -> str:
    """A start or sizes of steps as R writes them, or reads what Python wrote."""
    if numbers.size > SHORT_ORDER:
        return f'read.csv("{name}.csv")${name}'
    return f"c({', '.join(map(r_number, numbers))})"


def order_in_r(order: NDArray[np.int64]) -> str:
    """Rows given one by one, counted from 1; a line of a matrix for each epoch."""
    if order.size > SHORT_ORDER:
        return 'unname(as.matrix(read.csv("rows.csv", header = FALSE)))'
    flat = f"c({', '.join(str(row + 1) for row in order.ravel())})"
    if order.ndim == 1:
        return flat
    return f"matrix({flat}, nrow = {order.shape[0]}, byrow = TRUE)"


def r_number(value: float) -> str:
    """Write a number so that R reads the same bits: in decimals, else in hexadecimal.

    Examples
    --------
    >>> r_number(0.25), r_number(443), r_number(1 / 3), r_number(1e-4)
    ('0.25', '443', '0.3333333333333333', '0.0001')
    """
    value = plain(value)
    if float(value).is_integer():
        return str(int(value))
    text = repr(float(value))
    return text if r_reads_exactly(text) else float(value).hex()


def r_text(text: str) -> str:
    r"""Write a text as a literal of R.

    Examples
    --------
    >>> print(r_text('a "b"'))
    "a \"b\""
    """
    marked = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{marked}"'


def r_reads_exactly(text: str) -> bool:
    """Whether R makes of a decimal number the float64 that is nearest to it.

    R takes the digits as a whole number ``m``, divides by a power of ten in extended
    precision, 64 bits, and rounds the quotient to 53 bits. The second rounding goes
    wrong for about one in 4,000 numbers with many digits.

    Examples
    --------
    >>> r_reads_exactly("0.1"), r_reads_exactly("-1.25e-3"), r_reads_exactly("one")
    (True, True, False)
    """
    found = DECIMAL.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        return False
    digits, power = int(found[2] + found[3]), int(found[4] or 0) - len(found[3])
    if digits.bit_length() > BITS or abs(power) > EXACT_POWER:
        return False
    if power >= 0:
        whole: int = digits * 10**power
        return whole < 2**53
    same: bool = twice_rounded(digits, 10**-power) == abs(float(text))
    return same


def twice_rounded(numerator: int, denominator: int) -> float:
    """Round a quotient to 64 bits, then to 53, halves to even.

    Examples
    --------
    >>> twice_rounded(1, 10) == 0.1
    True
    """
    if numerator == 0:
        return 0.0
    shift = BITS + 1 - numerator.bit_length() + denominator.bit_length()
    quotient, rest = divmod(numerator << max(shift, 0), denominator << max(-shift, 0))
    extra = quotient.bit_length() - BITS
    kept, low = quotient >> extra, quotient & ((1 << extra) - 1)
    half = 1 << (extra - 1)
    kept += low > half or (low == half and (rest > 0 or kept & 1))
    return math.ldexp(float(kept), extra - shift)

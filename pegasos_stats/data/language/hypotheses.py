"""Linear hypotheses about coefficients, from text or matrices.

The parsers that statsmodels uses are unsuitable. That of formulaic interprets
``a = b = 1`` as ``a - b = -1`` and refuses names such as ``a:b``. That of patsy has no
backticks and so cannot distinguish the name ``1`` from the number.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.language.formula import parsed, sides
from pegasos_stats.data.user_data import convert_errors, floats_of
from pegasos_stats.errors import (
    FormulaError,
    OptionError,
    counted,
    listing,
    plain,
    shown,
)
from pegasos_stats.tables import significant

LARGEST_NUMBER = 1e100  # its square, times a variance, is finite
NUMBER = re.compile(r"(?<!\w)[\d.]+(?:[eE][+-]?\d+)?")


def constraints(hypotheses: object, names: Sequence[str]) -> tuple[Matrix, Vector]:
    """Matrix ``R`` and values ``q`` of the hypotheses ``R theta = q``.

    Parameters
    ----------
    hypotheses : str, list of str, dict, pair (R, q) or array
        Text such as ``"x1 = x2, 2 * x3 - 1 = 0"``. An expression without ``=`` is
        tested to equal 0. A chain ``"x1 = x2 = 0"`` has one hypothesis for each equals
        sign. A dictionary maps expressions to their values. `R` has the shape (m, k) or
        (k,); without `q` the values are 0.
    names : sequence, length k
        Names of the coefficients. In text a name that is a number needs backticks.

    Returns
    -------
    R : float64 array, shape (m, k)
    q : float64 array, shape (m,)

    Raises
    ------
    OptionError
        If the hypotheses cannot be parsed or are contradictory, if one of them contains
        no coefficient or the coefficients cancel, as in ``"x1 = x1"``, or if numbers
        are too large or too small.

    Examples
    --------
    >>> R, q = constraints("a = b = 1", ["a", "b", "c"])
    >>> R
    array([[ 1., -1.,  0.],
           [ 0.,  1.,  0.]])
    >>> q
    array([0., 1.])
    """
    refused = OptionError(
        f"hypotheses={shown(hypotheses)} cannot be read; use text such as 'x1 = x2', a "
        "dictionary of expressions and their values, or a matrix R with "
        f"{counted(len(names), 'column')}, one for each coefficient, alone or in a "
        "pair (R, q)."
    )
    with convert_errors(refused):
        words = _as_text(hypotheses)
        if words is None:
            R, q = _as_matrix(hypotheses, len(names), refused)
        else:
            rows = [row for text in words for row in _rows(text, names)]
            both = np.array(rows).reshape(-1, len(names) + 1)
            R, q = both[:, :-1], 0.0 - both[:, -1]
    _check(R, q, hypotheses)
    return R, q


def written_hypotheses(R: Matrix, q: Vector, names: Sequence[str]) -> list[str]:
    """Write each row of ``R theta = q`` as text.

    Examples
    --------
    >>> written_hypotheses(np.array([[1.0, -0.5]]), np.array([2.0]), ["a", "b"])
    ['a - 0.5 * b = 2']
    """
    return [
        f"{_combination(row, names)} = {significant(value, 6)}"
        for row, value in zip(R, q, strict=True)
    ]


def _as_text(hypotheses: object) -> list[str] | None:
    """Return one text for each hypothesis; None if they are a matrix."""
    if isinstance(hypotheses, Mapping):
        return [f"{left} = {plain(right)}" for left, right in hypotheses.items()]
    parts = [hypotheses] if isinstance(hypotheses, str) else hypotheses
    if not isinstance(parts, list | tuple) or not parts:
        return None
    if not all(isinstance(part, str) for part in parts):
        return None
    return [piece for part in parts for piece in sides(part, ",")]


def _as_matrix(
    hypotheses: object, k: int, refused: OptionError
) -> tuple[Matrix, Vector]:
    matrix, values = hypotheses, 0.0
    if isinstance(hypotheses, tuple) and len(hypotheses) == 2:
        matrix, values = hypotheses
    R, q = np.atleast_2d(floats_of(matrix, refused)), floats_of(values, refused)
    if R.ndim != 2 or R.shape[1] != k:
        raise refused
    return R, np.broadcast_to(q, R.shape[:1]).copy()


def _rows(text: str, names: Sequence[str]) -> list[Vector]:
    """Return coefficients and constant of left side minus right side, for each ``=``.

    Without ``=``, return the coefficients and the constant of the expression itself.
    Before parsing, words replace the names, the longest name first, so that a name may
    contain any characters. An equation may be in parentheses.

    Examples
    --------
    >>> _rows("2 * C(a)[T.x] - a:b = 1", ["a", "a:b", "C(a)[T.x]"])
    [array([ 0., -1.,  2., -1.])]
    """
    stem, equation = "_v", text.strip()
    while stem in text:
        stem += "_"
    words = {str(name): f"{stem}{i}" for i, name in enumerate(names)}
    units = dict(zip(words.values(), np.eye(len(names), len(names) + 1), strict=True))
    words |= {f"`{name}`": word for name, word in list(words.items())}
    readable = [name for name in words if name and not NUMBER.fullmatch(name)]
    any_name = "|".join(map(re.escape, sorted(readable, key=len, reverse=True)))
    pattern = rf"(?<![\w.`])(?:{any_name})(?![\w.`(\[])"
    while "=" in equation and len(sides(equation, "=")) == 1:
        if equation[0] + equation[-1] != "()":
            break
        equation = equation[1:-1].strip()
    try:
        with np.errstate(all="ignore"):
            code = re.sub(pattern, lambda match: words[match[0]], equation)
            trees = [parsed(side, text)[0] for side in sides(code, "=")]
            values = [_affine(tree, units) for tree in trees]
    except (FormulaError, LookupError, ValueError, ArithmeticError, RecursionError):
        raise OptionError(
            f"The hypothesis {shown(text.strip())} cannot be read; use a linear one in "
            f"{listing(names)}, such as 'x1 = x2' or '2 * x1 - x2 = 1', or test whole "
            "terms by result.wald_test_terms(). Write names that are numbers in "
            "backticks."
        ) from None
    return [one - other for one, other in pairwise(values)] or values


def _affine(node: ast.AST, units: Mapping[str, Vector]) -> Vector:
    """Return the coefficients of the words in a tree, and its constant at the end."""
    match node:
        case ast.Constant(value=int() | float() as number) if type(number) is not bool:
            return np.append(np.zeros(len(units)), float(number))
        case ast.Name(id=word):
            return units[word]
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=inner):
            value = _affine(inner, units)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(op=sign, left=one, right=other):
            left, right = _affine(one, units), _affine(other, units)
            if isinstance(sign, ast.Add | ast.Sub):
                return left + right if isinstance(sign, ast.Add) else left - right
            if isinstance(sign, ast.Mult) and right[:-1].any():
                left, right = right, left
            is_number = not right[:-1].any()
            if isinstance(sign, ast.Mult) and is_number:
                return left * float(right[-1])
            if isinstance(sign, ast.Div) and is_number and right[-1]:
                return left / float(right[-1])
    raise ValueError("it is not linear")


def _check(R: Matrix, q: Vector, hypotheses: object) -> None:
    both, why = np.column_stack([R, q]), ""
    sizes = np.abs(both)
    is_valid = (sizes >= 1.0 / LARGEST_NUMBER) & (sizes <= LARGEST_NUMBER)
    if not ((sizes == 0.0) | is_valid).all():
        why = (
            "contain numbers that are not finite, too large or too small; use 0 or "
            f"absolute values from {1.0 / LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}"
        )
    elif not R.size or not R.any(axis=1).all():
        why = (
            "leave no coefficient in at least one equation, such as 'x1 = x1'; remove "
            "this equation"
        )
    elif np.linalg.matrix_rank(both) > np.linalg.matrix_rank(R):
        why = "contradict each other; remove one of them"
    if why:
        raise OptionError(f"hypotheses={shown(hypotheses)} {why}.")


def _combination(row: Vector, names: Sequence[str]) -> str:
    text = ""
    for place in np.flatnonzero(row).tolist():
        value = float(row[place])
        times = "" if abs(value) == 1.0 else f"{significant(abs(value), 6)} * "
        name = names[place]
        name = f"`{name}`" if NUMBER.fullmatch(name) else name
        text += f" {'-' if value < 0.0 else '+'} {times}{name}"
    return f"-{text[3:]}" if text.startswith(" -") else text[3:]

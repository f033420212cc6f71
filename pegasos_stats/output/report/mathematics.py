"""Formulas as outlines in SVG: no font is needed to read them, and no script."""

from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import DependencyError, FormulaError
from pegasos_stats.output.report.rendering import templates

EM = 100.0  # units of matplotlib's outlines in one em
SCALE = 1.08  # of a formula against the text around it
MARGIN = 3.0

# Codes of matplotlib.path.Path with the letters of SVG and the number of points.
COMMANDS = {1: ("M", 1), 2: ("L", 1), 3: ("Q", 2), 4: ("C", 3), 79: ("Z", 1)}


@lru_cache(maxsize=512)
def formula_svg(tex: str) -> str:
    r"""Draw a formula as an SVG element that stands on the base line of a text.

    It takes colour and size from the text around it, and reads as its TeX where
    it cannot be seen.

    Parameters
    ----------
    tex : str
        TeX without the dollar signs, as matplotlib's mathtext reads it.

    Returns
    -------
    str
        An ``<svg>`` element.

    Raises
    ------
    FormulaError
        If mathtext cannot read it.
    DependencyError
        If matplotlib or jinja2 is not installed.

    Examples
    --------
    >>> formula_svg(r"\lambda")
    '<svg class="math" role="img" aria-label="\\lambda" ...</svg>'
    """
    points, codes = _outline(tex)
    left, bottom = points.min(axis=0) - MARGIN
    right, top = points.max(axis=0) + MARGIN
    drawing = templates(escape).get_template("formula.svg")
    return drawing.render(
        tex=tex,
        em=EM / SCALE,
        left=left,
        top=-top,
        width=right - left,
        height=top - bottom,
        bottom=bottom,
        path=_path(points, codes),
    )


def _outline(tex: str) -> tuple[NDArray[np.float64], list[int]]:
    """Corners of the letters, y upwards, and what each of them is."""
    try:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path
    except ImportError:
        raise DependencyError(
            "Formulas need matplotlib, which is not installed; run "
            "pip install 'pegasos_stats[plot]'."
        ) from None
    line = f"${' '.join(tex.split())}$"
    font: Any = FontProperties(math_fontfamily="stix")
    try:
        points, codes = text_to_path.get_text_path(font, line, ismath=True)
    except ValueError as error:
        reason = str(error).strip().splitlines()[-1]
        raise FormulaError(
            f"The formula {tex!r} cannot be drawn: {reason}; write it as mathtext of "
            "matplotlib reads it."
        ) from None
    if not len(points):
        raise FormulaError(f"The formula {tex!r} is empty; write something.")
    return np.array(points), list(codes)


def _path(points: NDArray[np.float64], codes: list[int]) -> str:
    """Write outlines as the ``d`` of an SVG path, y downwards, in tenths of a unit."""
    written = ""
    at = 0
    while at < len(codes):
        letter, count = COMMANDS[codes[at]]
        corners = points[at : at + count * (letter != "Z")]
        numbers = [f"{x:.1f} {-y:.1f}".replace(".0", "") for x, y in corners]
        written += letter + " ".join(numbers)
        at += count
    return written

"""Figures and formulas as SVG, for pages that carry them inside.

Letters are outlines: no font is needed to read them, and no script.
"""

import re
import warnings
from collections.abc import Callable
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import (
    DependencyError,
    FormulaError,
    PegasosStatsWarning,
    warn_caller,
)
from pegasos_stats.output.plotting.style import Axes, dress, pyplot
from pegasos_stats.output.report.document import Figure, Picture

WIDTH, HEIGHT = 5.2, 3.7  # inches; small, so that letters are large on a phone

# Without a date and with fixed names the same figure is the same text.
SETTINGS = {"svg.hashsalt": "pegasos_stats", "svg.fonttype": "path"}
LACKING = r"(?s)Glyph \d+ .* missing from "  # of matplotlib
NO_DATE = {"Date": None, "Creator": None}

EM = 100.0  # units of matplotlib's outlines in one em
SCALE = 1.08  # of a formula against the text around it
MARGIN = 3.0

# Codes of matplotlib.path.Path with the letters of SVG and the number of points.
COMMANDS = {1: ("M", 1), 2: ("L", 1), 3: ("Q", 2), 4: ("C", 3), 79: ("Z", 1)}


def drawn(
    draw: Callable[[Any], object], alt: str, width: float, height: float
) -> Figure:
    """Draw on an empty figure of matplotlib, and keep it as SVG.

    Parameters
    ----------
    draw : callable
        Draws on the figure that it is given.
    alt : str
        What the figure shows.
    width, height : float
        In inches.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> drawn(lambda figure: figure.subplots().plot([1, 2]), "A line", 4, 3).svg[:4]
    '<svg'
    """
    with pyplot().rc_context(SETTINGS):
        from matplotlib.figure import Figure as Canvas  # one that no window knows of

        figure = Canvas(figsize=(width, height), layout="constrained")
        text = StringIO()
        with warnings.catch_warnings(record=True) as said:
            warnings.filterwarnings("always", LACKING, UserWarning)
            draw(figure)
            figure.savefig(text, format="svg", metadata=NO_DATE)
    _tell(said)
    svg = text.getvalue()
    return Figure(svg[svg.index("<svg") :], alt)


def _tell(said: list[warnings.WarningMessage]) -> None:
    """Pass warnings on, those about letters that the font lacks as one of ours."""
    lacking = [each for each in said if re.match(LACKING, str(each.message))]
    for each in said:
        if each not in lacking:
            message: Any = each.message
            warnings.warn_explicit(message, each.category, each.filename, each.lineno)
    if lacking:
        warn_caller(
            "Figures have boxes in the place of letters that their font lacks; give "
            "matplotlib.rcParams['font.family'] a font that has them.",
            PegasosStatsWarning,
        )


def picture(
    draw: Callable[["Axes"], object],
    alt: str,
    caption: str,
    height: float = HEIGHT,
    width: float = WIDTH,
) -> Picture:
    """One panel with its caption; `draw` takes the axes."""
    return Picture(
        drawn(lambda f: draw(dress(f.subplots())), alt, width, height), caption
    )


class Outline(NamedTuple):
    """The letters of a formula as a path of SVG, y downwards.

    Attributes
    ----------
    path : str
        The ``d`` of a ``<path>``, in tenths of a unit.
    left, top, width, height : float
        The box around it.
    bottom : float
        Height of the lower edge above the base line of the text; negative below it.
    em : float
        Units in one em of the text around it.
    """

    path: str
    left: float
    top: float
    width: float
    height: float
    bottom: float
    em: float = EM / SCALE


def outline(tex: str) -> Outline:
    r"""Outlines of a formula.

    Parameters
    ----------
    tex : str
        TeX without the dollar signs, as matplotlib's mathtext reads it.

    Raises
    ------
    FormulaError
        If mathtext cannot read it.
    DependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> outline(r"\lambda").path[0]
    'M'
    """
    try:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path
    except ImportError:
        raise DependencyError(
            "Formulas need matplotlib, which is not installed; run "
            "pip install 'pegasos_stats[plot]'."
        ) from None
    line, font = f"${' '.join(tex.split())}$", FontProperties(math_fontfamily="stix")
    try:
        corners, codes = text_to_path.get_text_path(font, line, ismath=True)
    except ValueError as error:
        reason = str(error).strip().splitlines()[-1]
        raise FormulaError(
            f"The formula {tex!r} cannot be drawn: {reason}; write it as mathtext of "
            "matplotlib reads it."
        ) from None
    if not len(corners):
        raise FormulaError(f"The formula {tex!r} is empty; write something.")
    points: NDArray[np.float64] = np.array(corners)
    left, bottom = points.min(axis=0) - MARGIN
    right, top = points.max(axis=0) + MARGIN
    written, at = "", 0
    while at < len(codes):
        letter, count = COMMANDS[codes[at]]
        ends = points[at : at + count * (letter != "Z")]
        numbers = [f"{x:.1f} {-y:.1f}".replace(".0", "") for x, y in ends]
        written += letter + " ".join(numbers)
        at += count
    return Outline(written, left, -top, right - left, top - bottom, bottom)

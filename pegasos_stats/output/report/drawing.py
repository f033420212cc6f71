"""Figures and formulas as SVG, for pages that carry them inside.

Letters are outlines: no font is needed to read them, and no script.
"""

import base64
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import (
    DependencyError,
    FormulaError,
    PegasosStatsWarning,
    warn_caller,
)
from pegasos_stats.output.plotting.style import Axes, dress, pyplot

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


@dataclass(frozen=True)
class Figure:
    """A drawn figure.

    Attributes
    ----------
    svg : str
        Text is drawn as outlines; no font is needed.
    alt : str
        What the figure shows, for those who do not see it.
    caption : str
    """

    svg: str
    alt: str
    caption: str = ""

    @property
    def uri(self) -> str:
        """The figure as the address of an image that holds all of it."""
        coded = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        return f"data:image/svg+xml;base64,{coded}"


def drawn(
    draw: Callable[["Axes"], object],
    alt: str,
    caption: str = "",
    width: float = WIDTH,
    height: float = HEIGHT,
) -> Figure:
    """Draw on empty axes of matplotlib, and keep the figure as SVG.

    Parameters
    ----------
    draw : callable
        Draws on the axes that it is given.
    alt : str
        What the figure shows.
    caption : str
    width, height : float
        In inches.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> drawn(lambda ax: ax.plot([1, 2]), "A line").svg[:4]
    '<svg'
    """
    with pyplot().rc_context(SETTINGS):
        from matplotlib.figure import Figure as Canvas  # one that no window knows of

        figure = Canvas(figsize=(width, height), layout="constrained")
        text = StringIO()
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings("always", LACKING, UserWarning)
            draw(dress(figure.subplots()))
            figure.savefig(text, format="svg", metadata=NO_DATE)
    _warn(caught)
    svg = text.getvalue()
    return Figure(svg[svg.index("<svg") :], alt, caption)


def _warn(caught: list[warnings.WarningMessage]) -> None:
    """Pass warnings on, those about letters that the font lacks as one of ours."""
    lacking = [each for each in caught if re.match(LACKING, str(each.message))]
    for each in caught:
        if each not in lacking:
            message: Any = each.message
            warnings.warn_explicit(message, each.category, each.filename, each.lineno)
    if lacking:
        warn_caller(
            "Figures have boxes in the place of letters that their font lacks; give "
            "matplotlib.rcParams['font.family'] a font that has them.",
            PegasosStatsWarning,
        )


@lru_cache(maxsize=512)
def formula_svg(tex: str) -> str:
    r"""Draw a formula as an SVG element that stands on the base line of a text.

    It takes colour and size from the text around it, and reads as its TeX where
    it cannot be seen.

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
    >>> formula_svg(r"\lambda")
    '<svg class="math" role="img" aria-label="\\lambda" ...</svg>'
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
    path, at = "", 0
    while at < len(codes):
        letter, count = COMMANDS[codes[at]]
        ends = points[at : at + count * (letter != "Z")]
        numbers = [f"{x:.1f} {-y:.1f}".replace(".0", "") for x, y in ends]
        path += letter + " ".join(numbers)
        at += count
    width, height, em = right - left, top - bottom, EM / SCALE
    return (
        f'<svg class="math" role="img" aria-label="{escape(tex)}" '
        f'style="width:{width / em:.3f}em;height:{height / em:.3f}em;'
        f'vertical-align:{bottom / em:.3f}em" '
        f'viewBox="{left:.0f} {-top:.0f} {width:.0f} {height:.0f}">'
        f'<path fill="currentColor" d="{path}"/></svg>'
    )

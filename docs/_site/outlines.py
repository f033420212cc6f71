"""Formulas of the pages as outlines of letters: no script and no font is loaded."""

from functools import lru_cache
from html import escape

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

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
    """
    line, font = f"${' '.join(tex.split())}$", FontProperties(math_fontfamily="stix")
    corners, codes = text_to_path.get_text_path(font, line, ismath=True)
    points = np.array(corners)
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

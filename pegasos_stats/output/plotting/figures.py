"""Figures as SVG text, for pages that carry them inside."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any

from pegasos_stats.output.plotting.style import pyplot, styled

# Without a date and with fixed names the same figure is the same text.
SETTINGS = {"svg.hashsalt": "pegasos_stats"}
NO_DATE = {"Date": None, "Creator": None}


@dataclass(frozen=True)
class Figure:
    """A drawn figure.

    Attributes
    ----------
    svg : str
        Text is drawn as outlines; no font is needed.
    alt : str
        What the figure shows, for those who do not see it.
    """

    svg: str
    alt: str

    @property
    def uri(self) -> str:
        """The figure as the address of an image that holds all of it."""
        coded = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        return f"data:image/svg+xml;base64,{coded}"


def drawn(draw: Callable[[Any], Any], alt: str, width: float, height: float) -> Figure:
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
    with styled(), pyplot().rc_context(SETTINGS):
        figure = _empty(width, height)
        draw(figure)
        text = StringIO()
        figure.savefig(text, format="svg", metadata=NO_DATE)
    svg = text.getvalue()
    return Figure(svg[svg.index("<svg") :], alt)


def _empty(width: float, height: float) -> Any:
    """Return a figure that no window knows of."""
    from matplotlib.figure import Figure as Canvas

    return Canvas(figsize=(width, height), layout="constrained")

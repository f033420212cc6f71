"""The figures that the package makes."""

from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure


class PrintedFigure(Figure):
    """A figure whose PDF and PostScript embed TrueType letters, as journals ask for.

    Figures of the user are written by the user's settings: for the same set
    ``rcParams["pdf.fonttype"] = rcParams["ps.fonttype"] = 42``.
    """

    def savefig(self, *place: Any, **options: Any) -> None:
        """Write the figure, with the fonts as type 42."""
        with rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(*place, **options)

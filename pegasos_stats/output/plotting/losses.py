"""Figure of the losses: errors, hinge and log loss against the margin."""

import numpy as np

from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes, lines, styled

LOWEST, HIGHEST = -2.0, 3.0  # margins drawn
POINTS = 501


@suggest_arguments
def plot_losses(ax: "Axes | None" = None) -> "Axes":
    """Draw the losses against the margin ``m = y (x'beta + alpha)``.

    Three losses are shown: the 0-1 loss ``[m < 0]``, the hinge ``max(0, 1 - m)`` of
    `svm`, and the log loss ``log(1 + exp(-m))`` of `logit`. The last two are convex and
    can be minimised in place of the first.

    Parameters
    ----------
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    OptionError
        If `ax` is not a matplotlib Axes.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> from matplotlib.figure import Figure
    >>> ax = ps.plot_losses(Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['0-1: an error', 'hinge: max(0, 1 - m)', 'log: log(1 + exp(-m))']
    """
    m = np.linspace(LOWEST, HIGHEST, POINTS)
    losses = {
        "0-1: an error": np.where(m < 0.0, 1.0, 0.0),
        "hinge: max(0, 1 - m)": np.maximum(0.0, 1.0 - m),
        "log: log(1 + exp(-m))": np.logaddexp(0.0, -m),
    }
    with styled():
        ax = style.axes_of(ax)
        for (label, loss), line in zip(losses.items(), lines(3), strict=True):
            ax.plot(m, loss, color=line.colour, linestyle=line.dashes, label=label)
        ax.set_xlim(LOWEST, HIGHEST)
        ax.set_xlabel("Margin m")
        ax.set_ylabel("Loss of a row")
        style.put_legend(ax, "upper right")
    return ax

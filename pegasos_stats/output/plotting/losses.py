"""Figure of the losses: errors, hinge and log loss against the margin."""

import numpy as np

from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.style import Axes

LOWEST, HIGHEST = -2.0, 3.0  # margins drawn
POINTS = 501


@suggest_arguments
def plot_losses(*, ax: "Axes | None" = None, **line: object) -> "Axes":
    """Draw the losses against the margin ``m = y (x'beta + alpha)``.

    Three losses are shown: the 0-1 loss ``[m < 0]``, the hinge ``max(0, 1 - m)`` of
    `svm`, and the log loss ``log(1 + exp(-m))`` of `logit`. The last two are convex and
    can be minimised in place of the first.

    Parameters
    ----------
    ax : Axes, optional
        By default those of a new figure.
    **line
        Properties of the lines, such as ``linewidth``.

    Returns
    -------
    Axes

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    OptionError
        If `ax` is not a matplotlib Axes, or a property is not known.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> from matplotlib.figure import Figure
    >>> ax = ps.plot_losses(ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['0-1: an error', 'Hinge: max(0, 1 - m)', 'Log: log(1 + exp(-m))']
    """
    m = np.linspace(LOWEST, HIGHEST, POINTS)
    losses = {
        "0-1: an error": np.where(m < 0.0, 1.0, 0.0),
        "Hinge: max(0, 1 - m)": np.maximum(0.0, 1.0 - m),
        "Log: log(1 + exp(-m))": np.logaddexp(0.0, -m),
    }
    ax = style.axes_of(ax)
    for (label, loss), way in zip(losses.items(), style.lines(3), strict=True):
        look: style.Style = {
            "color": way.colour,
            "linestyle": way.dashes,
            "label": label,
        }
        style.draw_line(ax, m, loss, line, **look)
    ax.set(xlim=(LOWEST, HIGHEST), xlabel="Margin m", ylabel="Loss of a row")
    style.finish(ax, legend="upper right")
    return ax

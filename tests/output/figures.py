"""What is looked up in a figure."""

from matplotlib.figure import Figure

ROUNDING = 1e-12  # the same sums in another order


def axes(width=6.4, height=4.8):
    return Figure(figsize=(width, height)).subplots()


def panels(*grid):
    return Figure().subplots(*grid)


def legend(ax):
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


def line(ax, beginning):
    (found,) = [x for x in ax.get_lines() if x.get_label().startswith(beginning)]
    return found

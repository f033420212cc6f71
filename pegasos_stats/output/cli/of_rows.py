"""Options of the command line that say something of each row."""

from pegasos_stats.solvers.kernel_problem import OFFSET
from pegasos_stats.solvers.options import Option

OF_ROWS = (
    Option(
        "weights",
        str,
        help="weight of each row: a column of a CSV file, or the same total for "
        "both levels",
        default_words="all the same",
        metavar="COL|balanced",
    ),
    Option(
        "freq_weights",
        str,
        help="column of a CSV file that says how many rows each row stands for, in "
        "all files",
        default_words="one each",
        metavar="COL",
    ),
    Option(
        "offset",
        str,
        help="column of a CSV file that is a known part of each score, in all "
        "files; of the polynomial kernel its number",
        default_words=f"none; {OFFSET:g} of the kernel",
        metavar="COL|NUMBER",
    ),
)

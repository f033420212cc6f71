"""Sums ``sum_i c_i x_i`` over the rows of a block."""

from pegasos_stats.compiled.arithmetic.lanes import Vector
from pegasos_stats.compiled.arithmetic.rows import Rows, row_add
from pegasos_stats.compiled.compiling import kernel


@kernel
def add_rows(X: Rows, c: Vector, image: Vector) -> None:
    """Add ``c_i x_i`` of every row to ``image``, of padded length."""
    for i in range(c.shape[0]):
        if c[i] != 0.0:
            row_add(X, i, c[i], image)

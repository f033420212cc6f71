"""The columns of a dense matrix as rows."""

from pegasos_stats.compiled.arithmetic.lanes import Numbers
from pegasos_stats.compiled.compiling import kernel


@kernel
def put_rows(columns: Numbers, X: Numbers) -> None:
    """Put ``columns[j, i]`` at ``X[i, j]``."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            X[i, j] = columns[j, i]

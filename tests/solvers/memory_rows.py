"""Rows of a problem in memory, read as those of files are."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np

from pegasos_stats.arrays import read_only
from pegasos_stats.data.scan import rows
from pegasos_stats.data.scan.rows import StreamedRows
from pegasos_stats.data.scan.source import Block, RowSubset


def sample_rows(y, most):
    """Numbers of rows drawn at random, as many of -1 as of +1, in rising order."""
    rng, found = np.random.default_rng(1), []
    for sign in (-1, 1):
        of_class = np.flatnonzero(y == sign)
        count = min(most // 2, of_class.size)
        found.append(rng.choice(of_class, count, replace=False))
    return np.sort(np.concatenate(found))


class InMemory(StreamedRows):
    def __init__(self, problem, workers, max_retained_rows):
        self._problem, self.workers, self._at_once = problem, workers, None
        self.scan = None
        self.shape, self.radius = problem.X.shape, problem.radius
        self.means, self.spread = problem.moments
        self.matrices, self.n_reads = SimpleNamespace(design=None), 0
        self.max_retained_rows = max_retained_rows or problem.n

    def sample(self, most):
        problem, w = self._problem, self._problem.row_weights
        some = sample_rows(np.where(w > 0.0, problem.y, 0.0), most)
        offset = None if problem.offset is None else problem.offset[some]
        return RowSubset(some, problem.X[some], problem.y[some], w[some], offset)

    def _blocks(self):
        problem, step = (
            self._problem,
            max(1, rows.STREAM_BLOCK // max(1, self.shape[1])),
        )
        arrays = problem.X, problem.y, problem.row_weights, problem.offset
        for first in range(0, problem.n, step):
            part = slice(first, first + step)
            yield partial(
                Block, first, *(a if a is None else read_only(a[part]) for a in arrays)
            )


def streamed(problem, workers=None, max_retained_rows=None):
    """The same problem, whose rows are read a few times."""
    return replace(problem, X=InMemory(problem, workers, max_retained_rows))

"""How far a step may go before it moves more rows than there is room for.

Between two reads the rows that are fixed count as straight lines. A problem whose kept
rows are too few to bend it has its minimum far away, where most rows are on the wrong
side; a read there would bring them all. Some rows of the sample, which are in memory,
tell so beforehand.
"""

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.compiled import dual
from pegasos_stats.solvers.reads.rows import Block, Taken, Values
from pegasos_stats.solvers.reads.seeing import Point, scores

NUMBERS = 2**20  # of the rows: eight megabytes
HALVINGS = 8  # of a step at most; what needs more has no end


def is_wrong(state: Values, m: Vector) -> Values:
    """Whether rows are fixed at a dual weight that their margins contradict.

    Examples
    --------
    >>> zero, full, kept = dual.fixing.ZERO, dual.fixing.FULL, dual.fixing.KEPT
    >>> is_wrong(np.array([full, full, zero, kept]), np.array([0.5, 1.5, 0.5, 0.5]))
    array([False,  True,  True, False])
    """
    at_zero, at_full = state == dual.fixing.ZERO, state == dual.fixing.FULL
    wrong: Values = (at_full & (m > 1.0)) | (at_zero & (m < 1.0))
    return wrong


class Foreseen:
    """Some rows of each class of a sample, and what a fit knows of them.

    Attributes
    ----------
    block : Block
    state : int8 array
        As of all rows.
    """

    def __init__(self, sample: Taken) -> None:
        most = max(1, NUMBERS // max(1, sample.X.shape[1]) // 2)
        rows = np.concatenate([thinned(sample.y == sign, most) for sign in (-1.0, 1.0)])
        offset = None if sample.offset is None else sample.offset[rows]
        self.block = Block(0, sample.X[rows], sample.y[rows], sample.w[rows], offset)
        self.state = np.zeros(rows.size, dtype=np.int8)

    def wrong(self, point: Point, of_class: NDArray[np.int64]) -> float:
        """About how many of all rows are fixed wrongly at a point.

        Parameters
        ----------
        point : Point
        of_class : int array, shape (2,)
            Rows of -1, and of +1, that there are.
        """
        y = self.block.y
        found = is_wrong(self.state, y * scores(self.block.X, point, self.block.offset))
        shares = [float(found[y == sign].mean()) for sign in (-1.0, 1.0)]
        return float(np.dot(shares, of_class))

    def step(
        self, start: Point, end: Point, of_class: NDArray[np.int64], room: float
    ) -> Point | None:
        """The end of a step, or a point halfway and so on; None if none has room."""
        for _ in range(1 + HALVINGS):
            if self.wrong(end, of_class) <= room:
                return end
            beta, alpha = (start.beta + end.beta) / 2.0, (start.alpha + end.alpha) / 2.0
            end = Point(beta, alpha)
        return None


def thinned(chosen: Values, most: int) -> Rows:
    """Numbers of about so many chosen rows, evenly spread.

    Examples
    --------
    >>> thinned(np.array([True, True, False, True, True, True]), 2).tolist()
    [0, 4]
    """
    rows = np.flatnonzero(chosen)
    return rows[:: max(1, -(-rows.size // most))]

"""The few rows that are kept in memory between two reads."""

from collections.abc import Iterable

import numpy as np

from pegasos_stats.arrays import Dense, Matrix, Vector
from pegasos_stats.solvers.problem import LossName, Problem
from pegasos_stats.solvers.reads.rows import Taken


class Kept:
    """Rows in memory, in the order in which they came.

    Attributes
    ----------
    numbers : int64 array, shape (m,)
    y, w, a, o : float64 array, shape (m,)
        Labels, weights in the risk, dual weights, and offsets.
    """

    def __init__(self, p: int) -> None:
        self.numbers = np.zeros(0, dtype=np.int64)
        self.y, self.w, self.a, self.o = (np.zeros(0) for _ in range(4))
        self._room = np.zeros((0, p))

    @property
    def m(self) -> int:
        """Number of rows."""
        return self.y.size

    @property
    def rows(self) -> Matrix:
        """The rows, shape (m, p), in double precision."""
        return self._room[: self.m]

    def add(self, parts: Iterable[tuple[Taken, Vector]]) -> None:
        """Keep further rows, with dual weights to begin with."""
        pieces, count = [(self.numbers, self.y, self.w, self.a, self.o)], self.m
        for rows, a in parts:
            self._put(count, rows.X)
            count += rows.y.size
            o = np.zeros(a.size) if rows.offset is None else rows.offset
            pieces.append((rows.numbers, rows.y, rows.w, a, o))
        self.numbers = np.concatenate([piece[0] for piece in pieces])
        self.y = np.concatenate([piece[1] for piece in pieces])
        self.w = np.concatenate([piece[2] for piece in pieces])
        self.a = np.concatenate([piece[3] for piece in pieces])
        self.o = np.concatenate([piece[4] for piece in pieces])

    def forget_rows(self) -> None:
        """Keep their numbers and dual weights alone."""
        self._room = self._room[:0].copy()
        self.y = self.w = self.o = self.y[:0].copy()

    def _put(self, count: int, further: Dense) -> None:
        """Put rows after the first `count`, in more room if there is not enough."""
        needed = count + len(further)
        if needed > len(self._room):  # grown in place, a quarter at a time
            room = max(needed + 16, len(self._room) * 5 // 4)
            self._room.resize((room, self._room.shape[1]), refcheck=False)
        self._room[count:needed] = further

    def problem(
        self,
        lam: float,
        loss: LossName,
        intercept: bool,
        n: int,
        others: Taken,
    ) -> Problem:
        """The problem of these rows and of others that stand for those not kept.

        ``lam/2 ||beta||^2 + (1/n) sum_i w_i loss(m_i)`` over both.
        """
        self._put(self.m, others.X)
        y = np.concatenate([self.y, others.y])
        w = np.concatenate([self.w, others.w])
        known = others.offset
        offset = None if known is None else np.concatenate([self.o, known])
        # A problem divides by the number of its rows, and here it is to be by n.
        return Problem(
            *(self._room[: y.size], y, lam, loss, intercept),
            weights=w * (y.size / n),
            offset=offset,
        )

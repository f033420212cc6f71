"""The log loss: ``s_i = 1 / (1 + exp(m_i))`` and ``b_i = s_i (1 - s_i)``."""

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.solvers.reads.newton import Newton


class Logistic:
    """``log(1 + exp(-m))``."""

    def code(self) -> int:
        """Code of the loss in the risk."""
        return int(arithmetic.losses.LOG)

    def slopes(self, m: Vector) -> Vector:
        """``1 / (1 + exp(m))``."""
        from scipy.special import expit

        return np.asarray(expit(-m), dtype=np.float64)

    def bends(self, w: Vector, s: Vector) -> Vector:
        """``w s (1 - s)``."""
        return w * s * (1.0 - s)

    def violated(self, m: Vector) -> int:
        """How many margins are below 0."""
        return int(np.count_nonzero(m < 0.0))

    def above(self, w: Vector, m: Vector) -> float:
        """Nothing: it is the loss in the risk."""
        return 0.0


class Log(Newton):
    """The log loss between two reads."""

    @property
    def curve(self) -> Logistic:
        """The log loss itself."""
        return Logistic()

"""What the methods of a solver have in common: steps towards the optimum, by epochs."""

from abc import ABC, abstractmethod
from typing import ClassVar

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.solvers.certificate import Gap
from pegasos_stats.solvers.problem import Unit

NEWTON = "Newton"
SMO = "SMO"  # sequential minimal optimization: steps on pairs of dual weights


class Method(ABC):
    """Steps of one kind.

    Attributes
    ----------
    name : str
        In the literature; it may depend on the last step.
    unit : str
        What a step is called: an epoch has as many steps as there are rows.
    visits_rows : bool
        Whether an epoch visits the rows in a random order.
    steps, violations : int
        As of a `Solution`.
    visits : float
        Rows visited so far, or whose visits would have cost as much.
    gaps : list of float
        After each epoch.
    epochs : int
    has_stalled : bool
        Whether another method is to go on; `next_method` says which one.
    """

    name: str
    unit: ClassVar[Unit] = "iteration"
    visits_rows: ClassVar[bool] = False

    def __init__(self) -> None:
        self.steps = self.violations = self.epochs = 0
        self.has_stalled = False
        self.visits = 0.0
        self.gaps: list[float] = []

    @abstractmethod
    def step(self, rows: Rows) -> None:
        """Do one epoch; the rows are empty where none are visited."""

    @property
    @abstractmethod
    def gap(self) -> Gap:
        """Objectives of the best points, as the steps found them."""

    @abstractmethod
    def best(self) -> tuple[Vector, float, Vector]:
        """``beta, alpha`` of the least risk so far and ``a`` of the largest dual."""

    def stands_still(self, patience: int) -> bool:
        """Whether so many last steps have not halved the gap."""
        gaps = self.gaps
        return len(gaps) > patience and not gaps[-1] <= 0.5 * gaps[-1 - patience]


class Goal:
    """The gap that is small enough, at a risk.

    Parameters
    ----------
    tol : float
        Relative.
    gap_tol : float or None
        Absolute.
    """

    def __init__(self, tol: float, gap_tol: float | None) -> None:
        self.share, self._gap_tol = max(tol, 1e-14), gap_tol or 0.0

    def __call__(self, risk: float) -> float:
        """The gap that is small enough."""
        return max(self.share * risk, self._gap_tol)

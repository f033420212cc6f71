"""What a comparison with another program found, and how two runs are timed.

`everything.py` gathers the comparisons of the scripts that have them.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Ratio(NamedTuple):
    """Processor seconds of ours, and how many times that the other program takes."""

    seconds: float
    times: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, ours: list[float], theirs: list[float]) -> "Ratio":
        """Medians of runs in turn, and the extremes of their ratios."""
        ratios = np.divide(theirs, ours)
        seconds = float(np.median(ours))
        return cls(seconds, *(float(f(ratios)) for f in (np.median, np.min, np.max)))


class Comparison(NamedTuple):
    """A line of the table.

    Attributes
    ----------
    task, until : str
        What this package did, and to which tolerance.
    peer, peer_until : str
        What did the same.
    data : str
    n, p : int
        Rows and columns.
    stored : str
        "dense" or "sparse".
    ratio : Ratio
    remark : str
        How near the optimum both came, where it is known.
    """

    task: str
    until: str
    peer: str
    peer_until: str
    data: str
    n: int
    p: int
    stored: str
    ratio: Ratio
    remark: str = ""

    @classmethod
    def on(
        cls,
        data: str,
        X: Any,
        ours: tuple[str, str],
        theirs: tuple[str, str],
        ratio: Ratio,
        remark: str = "",
    ) -> "Comparison":
        """The line of a comparison on the rows of `X`."""
        stored = "dense" if isinstance(X, np.ndarray) else "sparse"
        return cls(*ours, *theirs, data, *X.shape, stored, ratio, remark)

    def __str__(self) -> str:
        seconds, times, lowest, highest = self.ratio
        remark = f"; {self.remark}" if self.remark else ""
        return (
            f"{self.data} ({self.n:,} x {self.p:,}, {self.stored}): {self.task} "
            f"({self.until}) {seconds * 1e3:.1f} ms; {self.peer} ({self.peer_until}) "
            f"{times:.2f} times ({lowest:.2f} to {highest:.2f}){remark}"
        )


def seconds(run: Callable[[], object]) -> float:
    """Processor time of a call, that of its threads included."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def in_turn(
    ours: Callable[[int], object], theirs: Callable[[int], object], repeats: int
) -> Ratio:
    """Time two calls in turn, each given the number of the repeat as its seed.

    One run of each comes before, and is not timed: it compiles, and fills caches.
    """
    ours(0), theirs(0)
    pairs = [
        (seconds(lambda k=k: ours(k)), seconds(lambda k=k: theirs(k)))
        for k in range(1, repeats + 1)
    ]
    return Ratio.of(*(list(each) for each in zip(*pairs, strict=True)))

"""Results of comparisons with other programs, and functions that time two runs.

`everything.py` runs the function ``comparisons`` of several scripts and collects the
results.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Ratio(NamedTuple):
    """Our processor time in seconds, and the other program's time as a multiple of it.

    `times` is the median ratio; `lowest` and `highest` are its extremes.
    """

    seconds: float
    times: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, ours: list[float], theirs: list[float]) -> "Ratio":
        """Summarise the times of alternating runs."""
        ratios = np.divide(theirs, ours)
        seconds = float(np.median(ours))
        return cls(seconds, *(float(f(ratios)) for f in (np.median, np.min, np.max)))


class Comparison(NamedTuple):
    """A line of the table.

    Attributes
    ----------
    task, until : str
        The work of this package, and its tolerance or number of epochs.
    peer, peer_until : str
        The other program, and its tolerance or number of epochs.
    data : str
    n, p : int
        Rows and columns.
    stored : str
        "dense" or "sparse".
    ratio : Ratio
    remark : str
        For example, how near the optimum both programs came.
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
        """Build the line of a comparison on the rows of `X`."""
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
    """Return the processor time of a call, including its threads."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def in_turn(
    ours: Callable[[int], object], theirs: Callable[[int], object], repeats: int
) -> Ratio:
    """Time two calls alternately; their argument, a seed, is the number of the repeat.

    A first run of each, which compiles and fills caches, is not timed.
    """
    ours(0), theirs(0)
    pairs = [
        (seconds(lambda k=k: ours(k)), seconds(lambda k=k: theirs(k)))
        for k in range(1, repeats + 1)
    ]
    return Ratio.of(*(list(each) for each in zip(*pairs, strict=True)))

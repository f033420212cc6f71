"""What a kept state has to be before a fit goes on from it.

Whoever wrote the file that it comes from: compiled loops look at no bounds.
"""

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.advice import Setting, said
from pegasos_stats.errors import OptionError

LARGEST = sys.float_info.max
MOST_COUNTED = 2.0**53  # of a count; what is beyond is none


class Expected(NamedTuple):
    """An array: its type, its shape, and the range of its numbers.

    Attributes
    ----------
    dtype : str
        As numpy writes it, without the order of bytes.
    shape : tuple of int or None
        None for any length.
    low, high : float, optional
        None where numbers need not be finite.
    """

    dtype: str
    shape: tuple[int | None, ...]
    low: float | None = -LARGEST
    high: float | None = LARGEST

    def check(self, name: str, array: NDArray[Any]) -> None:
        """Raise ValueError for an array that is another one."""
        sizes = zip(array.shape, self.shape, strict=False)
        fits = array.ndim == len(self.shape) and all(
            asked in (None, size) for size, asked in sizes
        )
        if not fits or array.dtype != np.dtype(self.dtype):
            raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}")
        if self.low is not None and not (array >= self.low).all():
            raise ValueError(f"{name} has numbers that are too small, or none")
        if self.high is not None and not (array <= self.high).all():
            raise ValueError(f"{name} has numbers that are too large, or none")


def check_state(state: dict[str, NDArray[Any]], expected: dict[str, Expected]) -> None:
    """Raise ValueError for a state that lacks an array, has another, or a wrong one.

    Examples
    --------
    >>> check_state({"seed": np.array([1.5])}, {"seed": Expected("i8", (1,))})
    Traceback (most recent call last):
    ...
    ValueError: seed has shape (1,) and type float64
    """
    for name in sorted(state.keys() ^ expected.keys()):
        lacks = name in expected
        raise ValueError(f"it has no {name}" if lacks else f"{name} is no part of it")
    for name, each in expected.items():
        each.check(name, state[name])


def check_epochs(needed: int, epochs: int | None) -> None:
    """Raise `OptionError` if a kept fit has come farther than it is to go."""
    if epochs is not None and needed > epochs:
        raise OptionError(
            said(
                f"The fit in the checkpoint needs at least {needed} epochs, and ",
                Setting("epochs", epochs),
                " was given; give as many, or another checkpoint.",
            )
        )


def check_seed(found: int, seed: int | None) -> None:
    """Raise ValueError for a seed that is none of R's, or not the one given."""
    good = abs(found) < 2**31 if seed is None else found == seed
    require(good, f"its seed is {found}")


def require(good: bool, what: str) -> None:
    """Raise ValueError with what is wrong, unless it is good."""
    if not good:
        raise ValueError(what)

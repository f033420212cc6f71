"""R's random numbers, bit for bit, without R.

`RRandom` starts as R does after ``set.seed`` and gives what ``runif``, ``rnorm``,
``rexp`` and ``sample`` of R give from there on.

References
----------
Matsumoto & Nishimura, *Mersenne Twister*, ACM Transactions on Modeling and Computer
Simulation 8 (1998). The methods of the distributions are named in the kernels.
"""

import secrets
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos_stats.arrays import Integers, Vector
from pegasos_stats.checks import check_flag, number_of
from pegasos_stats.compiled import random
from pegasos_stats.errors import shown
from pegasos_stats.rng.arguments import (
    checked_weights,
    floats,
    is_number,
    picked,
    recycled,
    require,
    vector,
    whole,
)
from pegasos_stats.rng.mersenne import (
    KIND_CODES,
    SampleKind,
    Words,
    checked_seed,
    checked_state,
    draw_by_rejection,
)

LEAST_RATE = 5.6e-309  # below it 1 / rate is infinite
LARGEST_N = 4_500_000_000_000_000
HASH_ABOVE = 10_000_000  # R draws from more than this without listing them
WALKER_ABOVE = 200  # R uses alias tables for more probable values than this


def qnorm(p: ArrayLike) -> float | Vector:
    """Quantiles of the standard normal distribution, to the last bit as R's ``qnorm``.

    By algorithm AS 241 (Wichura 1988), relative error about 1e-16. Minus infinity at
    0, infinity at 1, NaN for NaN.

    Parameters
    ----------
    p : float or array of any shape

    Returns
    -------
    float, or float64 array of the shape of ``p``

    Raises
    ------
    OptionError
        If a ``p`` lies outside [0, 1].

    Examples
    --------
    >>> qnorm(0.975)
    1.9599639845400536
    """
    chances = floats(p, "p")
    require(~((chances < 0.0) | (chances > 1.0)), "p", p, "a probability from 0 to 1")
    z = random.twister.normal_quantiles(chances.ravel()).reshape(chances.shape)
    return float(z) if z.ndim == 0 else z


class RRandom:
    """R's default generator: the Mersenne-Twister, inversion, rejection.

    Parameters
    ----------
    seed : int, optional
        What R's ``set.seed`` takes: a number whose whole part lies between
        -2147483647 and 2147483647 (also as text, or a bool). Without one, a seed is
        drawn from the operating system and kept in `seed`.
    sample_kind : {"rejection", "rounding"}
        How `sample` turns uniform numbers into integers: "rejection" is R's default
        since 3.6, "rounding" that of earlier versions.

    Attributes
    ----------
    seed : int or None
        The seed of the generator; None after `set_state`.
    sample_kind : str

    Raises
    ------
    SeedError
        If ``set.seed`` would refuse the seed.
    OptionError
        If ``sample_kind`` is not one of these.

    Examples
    --------
    >>> rng = RRandom(443)             # set.seed(443)
    >>> rng.sample_int(8)              # sample(8)
    array([3, 1, 5, 8, 4, 7, 6, 2])
    >>> rng.sample_int(8)
    array([2, 6, 4, 8, 7, 1, 3, 5])
    """

    def __init__(
        self, seed: object = None, *, sample_kind: SampleKind = "rejection"
    ) -> None:
        number = checked_seed(seed, sample_kind)
        self.seed: int | None = secrets.randbelow(2**31) if number is None else number
        self.sample_kind: SampleKind = sample_kind

    @cached_property
    def _words(self) -> Words:
        """Words from the seed on, made at the first draw: not all fits draw."""
        return Words.seeded(self.seed or 0)

    def __repr__(self) -> str:
        """Name the seed and the kind of sampling."""
        return f"RRandom(seed={self.seed}, sample_kind={self.sample_kind!r})"

    def __getstate__(self) -> dict[str, object]:
        """Seed and state, for `copy` and `pickle`: a copy draws on its own."""
        return {"seed": self.seed, "state": self.get_state()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Restore what ``__getstate__`` gave."""
        self.set_state(saved["state"])
        self.seed = saved["seed"]

    def get_state(self) -> NDArray[np.int32]:
        """Return R's ``.Random.seed``: kind, position in the key, key.

        Returns
        -------
        int32 array, shape (626,)
            10403 or 403 (rounding); 1 to 624; 624 signed integers.

        Examples
        --------
        >>> RRandom(443).get_state()[:4]
        array([      10403,         624, -1148357369,  -734064228], dtype=int32)
        """
        key, place = self._words.state()
        head = [KIND_CODES[self.sample_kind], place]
        return np.array([*head, *key.view(np.int32)], np.int32)

    def set_state(self, state: ArrayLike) -> None:
        """Set the state to a ``.Random.seed`` from `get_state` or from R.

        Parameters
        ----------
        state : integers, shape (626,)

        Raises
        ------
        OptionError
            If ``state`` is not one of a Mersenne-Twister with inversion.

        Examples
        --------
        >>> rng = RRandom(443)
        >>> saved = rng.get_state()
        >>> first = rng.runif(3)
        >>> rng.set_state(saved)
        >>> bool((rng.runif(3) == first).all())
        True
        """
        values = checked_state(state)
        self.sample_kind = "rejection" if values[0] == 10403 else "rounding"
        self.seed = None
        self._words = Words((values[2:] % 2**32).astype(np.uint32), int(values[1]))

    def runif(self, n: int = 1, min: ArrayLike = 0.0, max: ArrayLike = 1.0) -> Vector:
        """Draw ``n`` uniform numbers between ``min`` and ``max``, which are recycled.

        If ``min`` equals ``max``, nothing is drawn. Raises `OptionError` for a bad
        ``n``, for ends that are not finite, or for ``max`` below ``min``.

        Examples
        --------
        >>> RRandom(443).runif(2)
        array([0.6369937 , 0.76867286])
        """
        n = whole(n, "n")
        low, high = recycled(min, n, "min"), recycled(max, n, "max")
        finite = np.isfinite(low) & np.isfinite(high)
        require(finite, "min or max", (min, max), "a finite number")
        require(low <= high, "max", max, f"a number of at least min = {shown(min)}")
        random = low < high
        low[random] += (high - low)[random] * self._words.uniform(int(random.sum()))
        return low

    def rnorm(self, n: int = 1, mean: ArrayLike = 0.0, sd: ArrayLike = 1.0) -> Vector:
        """Draw ``n`` normal numbers by inversion; ``mean`` and ``sd`` are recycled.

        ``qnorm((floor(2**27 u1) + u2) / 2**27)``. If ``sd`` is 0 or ``mean`` infinite,
        nothing is drawn. Raises `OptionError` for a bad ``n``, a ``mean`` that is NaN,
        or an ``sd`` that is not finite or below 0.

        Examples
        --------
        >>> RRandom(443).rnorm(2)
        array([0.35043456, 0.58022437])
        """
        n = whole(n, "n")
        centre, scale = recycled(mean, n, "mean"), recycled(sd, n, "sd")
        require((scale >= 0.0) & (scale < np.inf), "sd", sd, "a finite number >= 0")
        random = (scale > 0.0) & np.isfinite(centre)
        u = self._words.uniform(2 * int(random.sum())).reshape(-1, 2)
        z = qnorm((np.floor(2.0**27 * u[:, 0]) + u[:, 1]) / 2.0**27)
        centre[random] += scale[random] * z
        return centre

    def rexp(self, n: int = 1, rate: ArrayLike = 1.0) -> Vector:
        """Draw ``n`` exponential numbers with mean ``1 / rate``; ``rate`` is recycled.

        If ``rate`` is infinite, the number is 0 and nothing is drawn. Raises
        `OptionError` for a bad ``n`` or a ``rate`` that is not above 0.

        Examples
        --------
        >>> RRandom(443).rexp(2)
        array([0.2739874 , 0.53734572])
        """
        rates = recycled(rate, whole(n, "n"), "rate")
        require(rates > LEAST_RATE, "rate", rate, f"a number above {LEAST_RATE}")
        scale = 1.0 / rates
        standard = np.empty(np.count_nonzero(scale))
        self._words.fill(random.twister.draw_exponentials, standard)
        with np.errstate(over="ignore"):  # to infinity, as in R
            scale[scale > 0.0] *= standard
        return scale

    def permutation(self, n: int) -> Integers:
        """``0 .. n - 1`` in the order of R's ``sample.int(n)``, less 1; shape (n,).

        Examples
        --------
        >>> RRandom(443).permutation(8)
        array([2, 0, 4, 7, 3, 6, 5, 1])
        """
        n = whole(n, "n")
        return self._without_replacement(n, n)

    def sample_int(
        self,
        n: float,
        size: int | None = None,
        replace: bool = False,
        prob: ArrayLike | None = None,
    ) -> Integers:
        """Draw ``size`` integers from 1 to ``n`` as R's ``sample.int``.

        Parameters
        ----------
        n : int
            Up to 4.5e15.
        size : int, optional
            Number of draws; default ``n``.
        replace : bool
            Whether to draw with replacement.
        prob : array of shape (n,), optional
            Weights of the numbers 1 to ``n``, not negative; they need not sum to 1.

        Returns
        -------
        int64 array, shape (size,)

        Raises
        ------
        OptionError
            If ``size`` is above ``n`` without replacement, or above the number of
            weights that are not 0; for weights of another length, negative, or not
            finite; for an ``n`` or ``size`` that is negative or not a number.

        Examples
        --------
        >>> RRandom(443).sample_int(10, 12, replace=True)
        array([ 3,  8,  9,  5,  3,  4,  1,  1, 10,  6,  4,  8])
        """
        check_flag("replace", replace)
        n = whole(n, "n", LARGEST_N)
        size = n if size is None else whole(size, "size")
        good = size <= n or (replace and n > 0)
        require(good, "size", size, f"at most n = {n} (more if replace=True and n > 0)")
        if prob is not None:
            return 1 + self._weighted(n, size, replace, prob)
        if replace:
            return 1 + self._indices(n, size)
        return 1 + self._without_replacement(n, size)

    def sample(
        self,
        x: Any,
        size: int | None = None,
        replace: bool = False,
        prob: ArrayLike | None = None,
    ) -> Any:
        """Draw elements of ``x`` as R's ``sample``; by default a random permutation.

        Parameters
        ----------
        x : number, list, tuple, range, array of shape (n,), Series or Index
            A single number of 1 or more stands for ``1 .. x``. Unlike in R, a list or
            array of length 1 is not a single number.
        size, replace, prob
            As for `sample_int`.

        Returns
        -------
        int64 array, or the type of ``x`` (a list for a range), of length ``size``

        Raises
        ------
        OptionError
            As `sample_int`; also for a data frame or an array of two dimensions.

        Examples
        --------
        >>> RRandom(443).sample(["a", "b", "c", "d", "e"])
        ['c', 'd', 'a', 'e', 'b']
        """
        if is_number(x) and 1.0 <= number_of(x) < np.inf:
            return self.sample_int(x, size, replace, prob)
        x = vector(x)
        return picked(x, self.sample_int(len(x), size, replace, prob) - 1)

    def _indices(self, bound: int, size: int) -> Integers:
        """Draw indices below ``bound``, with replacement."""
        out = np.empty(size, np.int64)
        if self.sample_kind == "rejection":
            self._words.fill(draw_by_rejection, out, bound)
        else:
            self._words.fill(random.twister.draw_by_rounding, out, bound, 0)
        return out

    def _without_replacement(self, n: int, size: int) -> Integers:
        """Draw different indices below ``n``, by R's method for this ``n``."""
        if n > HASH_ABOVE and 2 * size <= n:
            return self._distinct(n, size)
        rows = np.empty(size, np.int64)
        short = n < 2**31
        pool = np.arange(n, dtype=np.int32) if short else np.arange(n, dtype=np.int64)
        if self.sample_kind == "rejection":
            self._words.fill(random.twister.take_by_rejection, rows, pool)
        else:
            self._words.fill(random.twister.draw_by_rounding, rows, n, 1)
            random.twister.take_out(pool, rows)
        return rows

    def _distinct(self, n: int, size: int) -> Integers:
        """Draw with replacement until ``size`` different indices have come."""
        rows, done = np.empty(size, np.int64), 0
        table = np.full(1 << (2 * size).bit_length(), -1)
        while done < size:
            drawn = self._indices(n, size - done)
            done = random.twister.keep_new(rows, done, table, drawn)
        return rows

    def _weighted(self, n: int, size: int, replace: bool, prob: ArrayLike) -> Integers:
        """Draw ``size`` of ``n`` indices by weight, by R's method for each case."""
        sampling, weights = random.twister, checked_weights(prob, n, size, replace)
        order, out = np.arange(n), np.empty(size, np.int64)
        if replace and np.count_nonzero(n * weights > 0.1) > WALKER_ABOVE:
            table = *sampling.alias_table(weights), self.sample_kind == "rounding"
            self._words.fill(sampling.draw_from_alias, out, *table)
            return out
        u = self._words.uniform(size)
        sampling.sort_down(weights, order)
        if replace:
            return order[np.searchsorted(np.cumsum(weights[:-1]), u)]
        sampling.weighted_without_replacement(weights, order, u, out)
        return out

"""R's random numbers, bit for bit, without R.

`RRandom` starts as R does after ``set.seed`` and then returns the same numbers as R's
``runif``, ``rnorm``, ``rexp`` and ``sample``.

References
----------
Matsumoto & Nishimura, *Mersenne Twister*, ACM Transactions on Modeling and Computer
Simulation 8 (1998). `compiled.sampling` names the algorithms of the distributions.
"""

import math
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos_stats import compiled
from pegasos_stats.arrays import Integers, Vector
from pegasos_stats.checks import check_flag, is_number, number_of
from pegasos_stats.data.user_data import convert_errors, floats_of
from pegasos_stats.errors import OptionError, SeedError, shown

Verdict: TypeAlias = bool | np.bool_ | NDArray[np.bool_]

Key = NDArray[np.uint32]

STATE_WORDS = 624  # words of the Mersenne-Twister's state

MAX_WORDS = 48 * STATE_WORDS  # words generated at once, at most

CURE = "pass the value of get_state() or R's .Random.seed"

SampleKind = Literal["rejection", "rounding"]

KIND_CODES: dict[SampleKind, int] = {"rejection": 10403, "rounding": 403}

LEAST_RATE = 5.6e-309  # below it 1 / rate is infinite

LARGEST_N = 4_500_000_000_000_000

HASH_ABOVE = 10_000_000  # for larger n, R draws up to n / 2 numbers without listing all

HALF_UNIFORM = 2.328306437080797e-10 / 2  # the value of R's runif for the word 0

WALKER_ABOVE = 200  # above this number of values with n p > 0.1, R uses alias tables


class Words:
    """Stream of 32-bit words from a state of the Mersenne-Twister.

    It stores generated words until they are used.

    Parameters
    ----------
    key : uint32 array, shape (624,)
    place : int
        Number of words of this key that are already used, 1 to 624.
    """

    def __init__(self, key: Key, place: int) -> None:
        self._begin, self._key = (key, place), key.copy()
        self._room = self._words = np.empty(0, np.int64)
        if place < STATE_WORDS:
            self._words = (
                twister_at(key, place).random_raw(STATE_WORDS - place).view(np.int64)
            )
        self._next = self._used = 0

    @classmethod
    def seeded(cls, seed: int) -> Self:
        """Start as ``set.seed`` does: the first draw generates the first block."""
        return cls(seeded_key(seed), STATE_WORDS)

    def state(self) -> tuple[Key, int]:
        """Return the key, shape (624,), and the number of its words used, 1 to 624."""
        twister = twister_at(*self._begin)  # repeats all draws
        twister.random_raw(self._used + self._next, output=False)
        state: Any = twister.state["state"]
        return state["key"], state["pos"]

    def uniform(self, count: int) -> Vector:
        """Convert ``count`` words to numbers in (0, 1): ``word / 2**32``.

        The word 0 becomes `HALF_UNIFORM`.
        """
        missing = count - (self._words.size - self._next)
        if missing > 0:
            self._append(missing, fill_without_numba)
        words = self._words[self._next : self._next + count]
        self._next += count
        numbers: Vector = np.maximum(words * 2.0**-32, HALF_UNIFORM)
        return numbers

    def fill(
        self,
        kernel: Callable[..., tuple[int, int]],
        out: NDArray[np.generic],
        *args: object,
    ) -> None:
        """Fill ``out`` with a kernel, and generate words until it is full.

        The call ``kernel(out, done, words, at, *args)`` returns ``done, at``: the
        number of filled entries of ``out``, and the position of the first unused word.
        """
        done, in_numpy = 0, kernel is draw_by_rejection
        make = fill_without_numba if in_numpy else compiled.sampling.fill_words
        while True:
            done, self._next = kernel(out, done, self._words, self._next, *args)
            if done == out.size:
                return
            self._append(min(2 * (out.size - done), MAX_WORDS), make)

    def _append(self, count: int, make: Callable[[Key, Integers], None]) -> None:
        """Generate at least ``count`` words, after the unused ones."""
        rest, self._used = self._words[self._next :], self._used + self._next
        size = rest.size + STATE_WORDS * -(-count // STATE_WORDS)
        if size > self._room.size:
            self._room = np.empty(size, np.int64)
        self._room[: rest.size] = rest
        self._words, self._next = self._room[:size], 0
        make(self._key, self._words[rest.size :])


def fill_without_numba(key: Key, out: Integers) -> None:
    """Fill ``out`` as `compiled.sampling.fill_words` does, with numpy's twister."""
    twister = twister_at(key, STATE_WORDS)
    out[:] = twister.random_raw(out.size)
    state: Any = twister.state
    key[:] = state["state"]["key"]


def twister_at(key: Key, place: int) -> np.random.MT19937:
    """Return numpy's twister with this key, after ``place`` of its words."""
    twister = np.random.MT19937(0)
    state: Any = twister.state
    state["state"].update(key=key, pos=place)
    twister.state = state
    return twister


class RRandom:
    """R's default generator: Mersenne-Twister, inversion, rejection.

    Parameters
    ----------
    seed : int, optional
        A seed for R's ``set.seed``: a number whose whole part lies between -2147483647
        and 2147483647 (also as text, or a bool). By default the operating system
        supplies a seed, which `seed` reports.
    sample_kind : {"rejection", "rounding"}
        Method by which `sample` converts uniform numbers to integers: "rejection" is
        R's default since 3.6, "rounding" the default of earlier versions.

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
        If ``sample_kind`` is another value.

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
        """Words from the seed on; created at the first draw, as not all fits draw."""
        return Words.seeded(self.seed or 0)

    def __repr__(self) -> str:
        """Name the seed and the kind of sampling."""
        return f"RRandom(seed={self.seed}, sample_kind={self.sample_kind!r})"

    def __getstate__(self) -> dict[str, object]:
        """Seed and state, for `copy` and `pickle`: a copy draws independently."""
        return {"seed": self.seed, "state": self.get_state()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Restore the value of ``__getstate__``."""
        self.set_state(saved["state"])
        self.seed = saved["seed"]

    def get_state(self) -> NDArray[np.int32]:
        """Return R's ``.Random.seed``: kind, position in the key, key.

        Returns
        -------
        int32 array, shape (626,)
            The kind, 10403 (403 with "rounding"); the position, 1 to 624; the key, 624
            signed integers.

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
            If ``state`` does not describe a Mersenne-Twister with inversion.

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

        Where ``min`` equals ``max``, the result is ``min``, and no random number is
        used. Raises `OptionError` for a bad ``n``, for limits that are not finite, or
        for ``max`` below ``min``.

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

        Each is ``mean + sd qnorm((floor(2**27 u1) + u2) / 2**27)``, with two uniform
        numbers ``u1`` and ``u2``. Where ``sd`` is 0 or ``mean`` infinite, the result is
        ``mean``, and no random number is used. Raises `OptionError` for a bad ``n``, a
        ``mean`` that is NaN, or an ``sd`` that is not finite or below 0.

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

        Where ``rate`` is infinite, the result is 0, and no random number is used.
        Raises `OptionError` for a bad ``n`` or a ``rate`` that is not above 0.

        Examples
        --------
        >>> RRandom(443).rexp(2)
        array([0.2739874 , 0.53734572])
        """
        rates = recycled(rate, whole(n, "n"), "rate")
        require(rates > LEAST_RATE, "rate", rate, f"a number above {LEAST_RATE}")
        scale = 1.0 / rates
        standard = np.empty(np.count_nonzero(scale))
        self._words.fill(compiled.sampling.draw_exponentials, standard)
        with np.errstate(over="ignore"):  # to infinity, as in R
            scale[scale > 0.0] *= standard
        return scale

    def permutation(self, n: int) -> Integers:
        """Permute ``0 .. n - 1`` as R's ``sample.int(n) - 1``; shape (n,).

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
            If, without replacement, ``size`` is above ``n`` or above the number of
            weights that are not 0; if the weights do not have length ``n``, or one is
            negative or not finite; if ``n`` or ``size`` is negative or not a number.

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

    def sample_subsets(self, n: int, size: int, count: int) -> Integers:
        """Draw ``count`` sets of ``size`` different integers from 1 to ``n``.

        Each set is R's ``sort(sample.int(n, size))``.

        Returns
        -------
        int64 array, shape (count, size)

        Raises
        ------
        OptionError
            If ``size`` is above ``n``, or an argument is negative or not a number.

        Examples
        --------
        >>> RRandom(443).sample_subsets(8, 3, 2)
        array([[1, 3, 5],
               [3, 4, 8]])
        """
        n, size, count = whole(n, "n"), whole(size, "size"), whole(count, "count")
        require(size <= n, "size", size, f"at most n = {n}")
        sets = np.empty((count, size), np.int64)
        if n > HASH_ABOVE and 2 * size <= n:
            for row in sets:
                row[:] = self._distinct(n, size)
        else:
            pool, picks = np.arange(n, dtype=np.int32), np.empty(size, np.int64)
            rounding = self.sample_kind == "rounding"
            kernel = compiled.sampling.draw_subsets
            self._words.fill(kernel, sets.reshape(-1), pool, picks, rounding)
        return 1 + np.sort(sets, axis=1)

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
            A single number of 1 or more means ``1 .. x``. Unlike in R, a list or array
            of length 1 is not a single number.
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
            self._words.fill(compiled.sampling.draw_by_rounding, out, bound)
        return out

    def _without_replacement(self, n: int, size: int) -> Integers:
        """Draw different indices below ``n``, by R's method for this ``n``."""
        if n > HASH_ABOVE and 2 * size <= n:
            return self._distinct(n, size)
        rows = np.empty(size, np.int64)
        pool = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
        if self.sample_kind == "rejection":
            self._words.fill(compiled.sampling.take_by_rejection, rows, pool)
        else:
            self._words.fill(
                compiled.sampling.draw_subsets, rows, pool, rows.copy(), True
            )
        return rows

    def _distinct(self, n: int, size: int) -> Integers:
        """Draw with replacement until there are ``size`` different indices."""
        rows = np.empty(0, np.int64)
        while rows.size < size:
            rows = np.concatenate([rows, self._indices(n, size - rows.size)])
            rows = rows[np.sort(np.unique(rows, return_index=True)[1])]
        return rows

    def _weighted(self, n: int, size: int, replace: bool, prob: ArrayLike) -> Integers:
        """Draw ``size`` of ``n`` indices by weight, with R's method for each case."""
        sampling, weights = compiled.sampling, checked_weights(prob, n, size, replace)
        order, out = np.arange(n), np.empty(size, np.int64)
        if replace and np.count_nonzero(n * weights > 0.1) > WALKER_ABOVE:
            table = *sampling.alias_table(weights), self.sample_kind == "rounding"
            self._words.fill(sampling.draw_from_alias, out, *table)
            return out
        u = self._words.uniform(size)
        sampling.sort_down(weights, order)
        if replace:
            return order[np.searchsorted(np.cumsum(weights[:-1]), u)]
        total = 1.0
        for i in range(size):  # the first index with cumulative weight >= u_i * total
            sums = np.cumsum(weights[:-1])
            j = int(np.searchsorted(sums, total * u[i]))
            out[i], total = order[j], total - weights[j]
            weights, order = np.delete(weights, j), np.delete(order, j)
        return out


def require(good: Verdict, name: str, value: object, allowed: str) -> None:
    """Raise an `OptionError` that names ``value`` unless all of ``good`` is true."""
    if not (good if isinstance(good, bool) else np.all(good)):
        raise OptionError(refusal(name, value, allowed))


def refusal(name: str, value: object, allowed: str) -> str:
    """Return the message that states the value and the allowed values."""
    return f"{name} is {shown(value)}; use {allowed}."


def whole(value: object, name: str, largest: int = 2**31 - 1) -> int:
    """Return the whole part of a count from 0 to ``largest``, as R does."""
    number = value if isinstance(value, int) else number_of(value)
    if not (is_number(value) and 0 <= number <= largest):
        allowed = f"a whole number from 0 to {largest}"
        raise OptionError(refusal(name, value, allowed))
    return int(number)


def floats(value: ArrayLike, name: str) -> Vector:
    """Copy numbers into a float64 array of the same shape."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value.copy()  # composing an error message would be slower than drawing
    allowed = "a number or an array of numbers"
    return floats_of(value, OptionError(refusal(name, value, allowed)))


def recycled(value: ArrayLike, n: int, name: str) -> Vector:
    """Repeat ``value`` to a float64 array of length ``n``, as R recycles."""
    values = np.atleast_1d(floats(value, name))
    good = values.ndim == 1 and values.size > 0 and not np.isnan(values).any()
    require(good, name, value, "a number or a list of numbers without NaN")
    return np.full(n, values[0]) if values.size == 1 else np.resize(values, n)


def checked_weights(prob: ArrayLike, n: int, size: int, replace: bool) -> Vector:
    """Divide ``n`` weights by their sum, added from first to last.

    Raises
    ------
    OptionError
        If their number is not ``n``, one is negative or not finite, all are 0, or, for
        draws without replacement, fewer than ``size`` are above 0.
    """
    weights = floats(prob, "prob")
    good = weights.shape == (n,) and (np.isfinite(weights) & (weights >= 0.0)).all()
    require(good, "prob", prob, f"a list of {n} finite numbers of 0 or more")
    positive = np.count_nonzero(weights)
    enough = positive > 0 and (replace or size <= positive)
    n_positive = 1 if replace else max(size, 1)
    require(enough, "prob", prob, f"a list with {n_positive} or more numbers above 0")
    with np.errstate(over="ignore"):
        total = np.cumsum(weights)[-1]
    require(np.isfinite(total), "prob", prob, "a list of numbers with a finite sum")
    scaled: Vector = weights / total
    return scaled


def vector(x: Any) -> Any:
    """Check that ``x`` has one dimension; convert a scalar to an array of length 1.

    Raises
    ------
    OptionError
        Unless ``x`` is a list, tuple, range, array of shape (n,), Series, Index or
        scalar.
    """
    if isinstance(x, range | list | tuple):
        return x
    if isinstance(x, str | bytes) or not hasattr(x, "__iter__"):
        return np.array([x])
    allowed = "a number or a list, array or Series with one dimension"
    require(getattr(x, "ndim", 0) == 1 and hasattr(x, "take"), "x", x, allowed)
    return x


def picked(x: Any, rows: Integers) -> object:
    """Return the elements of ``x`` at these positions, with the type of ``x``."""
    if hasattr(x, "take"):
        return x.take(rows)
    elements = [x[row] for row in rows]
    return tuple(elements) if isinstance(x, tuple) else elements


def draw_by_rejection(
    out: Integers, done: int, words: Integers, at: int, bound: int
) -> tuple[int, int]:
    """Fill ``out[done:]`` with indices below ``bound``, by rejection (R since 3.6).

    It processes many words at once with numpy, so that numba need not compile a kernel.
    """
    bits = (bound - 1).bit_length()
    pieces, missing = bits // 16 + 1, out.size - done
    count = min((words.size - at) // pieces, 2 * missing + STATE_WORDS)
    upper = words[at : at + count * pieces].reshape(count, pieces) >> 16
    trials, low = upper[:, 0], (1 << bits) - 1
    for piece in range(1, pieces):
        trials = (trials & (low >> 16)) << 16 | upper[:, piece]
    trials = trials & low
    good = np.flatnonzero(trials < bound)[:missing]
    out[done : done + good.size] = trials[good]
    used = int(good[-1]) + 1 if 0 < missing == good.size else count
    return done + good.size, at + used * pieces


def seeded_key(seed: int) -> Key:
    """Compute the key of ``set.seed``, shape (624,), by ``s <- 69069 s + 1``.

    As in R, the first 51 values are not used.
    """
    factors = np.full(51 + STATE_WORDS, 69069, np.uint32)
    powers = np.multiply.accumulate(factors, dtype=np.uint32)
    terms = np.add.accumulate(np.append(np.uint32(1), powers[:-1]), dtype=np.uint32)
    key: Key = (powers * np.uint32(seed % 2**32) + terms)[51:]
    return key


def seed_number(seed: object) -> int:
    """Convert ``seed`` to a whole number as R's ``set.seed`` does.

    Raises
    ------
    SeedError
        Unless ``seed`` is a number whose whole part is in -2147483647 .. 2147483647.

    Examples
    --------
    >>> [seed_number(seed) for seed in (3.7, -3.7, True, "42")]
    [3, -3, 1, 42]
    """
    value = math.nan
    with suppress(Exception):  # not a number, or not convertible to a float
        is_text = isinstance(seed, str) and "_" not in seed
        if is_text or is_number(seed) or isinstance(seed, bool | np.bool_):
            value = float(seed)  # type: ignore[arg-type]
    if not -(2.0**31) < value < 2.0**31:
        raise SeedError(
            f"The seed is {shown(seed)}; use a number from -2147483647 to 2147483647, "
            "as R's set.seed requires."
        )
    return int(value)


def checked_state(state: ArrayLike) -> Integers:
    """Check the 626 numbers of a ``.Random.seed``: kind, place, key.

    Raises
    ------
    OptionError
        Unless there are 626 whole numbers: the kind 10403 or 403, a place in 1 .. 624,
        and a key that is not all 0.
    """
    with convert_errors(OptionError(f"The state cannot be read; {CURE}.")):
        values = np.asarray(state)
    kinds = list(KIND_CODES.values())
    good = values.shape == (STATE_WORDS + 2,) and values.dtype.kind in "iu"
    if (
        good
        and values[0] in kinds
        and 1 <= values[1] <= STATE_WORDS
        and values[2:].any()
    ):
        return values.astype(np.int64)
    raise OptionError(
        f"The state has shape {values.shape} and begins with "
        f"{shown(values.ravel()[:2].tolist())}; it must be a kind in {kinds}, a place "
        f"from 1 to 624 and 624 whole numbers, not all 0: {CURE}."
    )


def checked_seed(seed: object, sample_kind: str) -> int | None:
    """Check a seed and convert it as ``set.seed`` does; None without a seed.

    Raises
    ------
    SeedError
        If R would refuse the seed.
    OptionError
        If ``sample_kind`` is neither "rejection" nor "rounding".
    """
    allowed = "'rejection' (R since 3.6) or 'rounding' (before)"
    good = isinstance(sample_kind, str) and sample_kind in KIND_CODES
    require(good, "sample_kind", sample_kind, allowed)
    return None if seed is None else seed_number(seed)


def qnorm(p: ArrayLike) -> float | Vector:
    """Quantiles of the standard normal distribution, the same bits as R's ``qnorm``.

    Algorithm AS 241 (Wichura 1988), with a relative error of about 1e-16. The quantile
    is minus infinity at 0, infinity at 1, and NaN for NaN.

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
    z = compiled.sampling.normal_quantiles(chances.ravel()).reshape(chances.shape)
    return float(z) if z.ndim == 0 else z

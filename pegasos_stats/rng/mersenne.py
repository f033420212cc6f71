"""R's seeds, its state and its words.

References
----------
Matsumoto & Nishimura, *Mersenne Twister: a 623-dimensionally equidistributed uniform
pseudo-random number generator*, ACM Transactions on Modeling and Computer Simulation 8
(1998).
"""

import math
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos_stats.arrays import Integers
from pegasos_stats.compiled import random
from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, SeedError, shown
from pegasos_stats.rng.arguments import is_number, require

Key = NDArray[np.uint32]

BLOCK = 624  # words that one turn of the twister gives
CHUNK = 48 * BLOCK  # words made at once for a kernel that asks for more, at most
CURE = "pass what get_state or R's .Random.seed gives"
SampleKind = Literal["rejection", "rounding"]
KIND_CODES: dict[SampleKind, int] = {"rejection": 10403, "rounding": 403}


class Words:
    """The 32-bit words that follow a state of the Mersenne-Twister.

    Words are made in whole blocks and kept until used. The block of the last used one
    stays, because R's state is the key of that block and the place reached in it.

    Parameters
    ----------
    key : uint32 array, shape (624,)
    place : int
        Words of this key used before, 1 to 624.
    """

    def __init__(self, key: Key, place: int) -> None:
        self._twister = np.random.MT19937(0)
        state: Any = self._twister.state
        state["state"].update(key=key, pos=BLOCK)
        self._twister.state = state
        self._room = self._made = tempered(key).astype(np.int64)
        self._next = place

    @classmethod
    def seeded(cls, seed: int) -> Self:
        """Start as ``set.seed`` does: the first draw makes the first block."""
        return cls(seeded_key(seed), BLOCK)

    def state(self) -> tuple[Key, int]:
        """Give the key, shape (624,), and the number of its words used, 1 to 624."""
        start = (self._next - 1) // BLOCK * BLOCK
        block = self._made[start : start + BLOCK].astype(np.uint32)
        return untempered(block), self._next - start

    def uniform(self, count: int) -> NDArray[np.float64]:
        """Take ``count`` words as numbers in (0, 1): ``word / 2**32``, 0 moved up."""
        missing = count - (self._made.size - self._next)
        if missing > 0:
            self._append(missing)
        words = self._made[self._next : self._next + count]
        self._next += count
        numbers: NDArray[np.float64] = random.twister.uniforms(words)
        return numbers

    def fill(
        self,
        kernel: Callable[..., tuple[int, int]],
        out: NDArray[np.generic],
        *args: object,
    ) -> None:
        """Fill ``out`` by a kernel that stops whenever the words run out.

        It is called with ``(out, done, words, at, *args)`` and returns ``done, at``:
        the entries of ``out`` filled, and the position of the first word not used.
        """
        done = 0
        while True:
            done, self._next = kernel(out, done, self._made, self._next, *args)
            if done == out.size:
                return
            self._append(min(2 * (out.size - done), CHUNK))

    def _append(self, count: int) -> None:
        """Make at least ``count`` words more, in whole blocks; forget used blocks."""
        used = (self._next - 1) // BLOCK * BLOCK
        kept = self._made[used:]
        size = kept.size + BLOCK * -(-count // BLOCK)
        if size > self._room.size:
            self._room = np.empty(size, np.int64)
        self._room[: kept.size] = kept
        self._made = self._room[:size]
        self._made[kept.size :] = self._twister.random_raw(size - kept.size)
        self._next -= used


def draw_by_rejection(
    out: Integers, done: int, words: Integers, at: int, bound: int
) -> tuple[int, int]:
    """Fill ``out[done:]`` with indices below ``bound``, by rejection (R since 3.6).

    As the kernel of that name in ``compiled/random/twister.py``, many words at a time,
    so that nothing is compiled for it.
    """
    bits = (bound - 1).bit_length()
    pieces, missing = bits // 16 + 1, out.size - done
    count = min((words.size - at) // pieces, 2 * missing + BLOCK)
    upper = words[at : at + count * pieces].reshape(count, pieces) >> 16
    trials, low = upper[:, 0], (1 << bits) - 1
    for piece in range(1, pieces):
        trials = (trials & (low >> 16)) << 16 | upper[:, piece]
    trials = trials & low
    good = np.flatnonzero(trials < bound)[:missing]
    out[done : done + good.size] = trials[good]
    used = int(good[-1]) + 1 if 0 < missing == good.size else count
    return done + good.size, at + used * pieces


@cache
def powers() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Factors and terms, shape (624,), of steps 52 to 675 of ``s <- 69069 s + 1``.

    ``k`` steps make ``f_k s + t_k`` of ``s`` (mod 2^32), ``f_k = 69069^k``.
    """
    factors, terms = [1], [0]
    for _ in range(51 + BLOCK):
        factors.append(69069 * factors[-1] % 2**32)
        terms.append((69069 * terms[-1] + 1) % 2**32)
    return np.array(factors[52:], np.uint64), np.array(terms[52:], np.uint64)


def seeded_key(seed: int) -> Key:
    """Fill a key, shape (624,), as ``set.seed`` does: by ``s <- 69069 s + 1``."""
    factors, terms = powers()
    return (factors * np.uint64(seed % 2**32) + terms).astype(np.uint32)


def tempered(key: Key) -> Key:
    """Give the words of a block, MT19937's tempering of the key."""
    words: Key = key ^ (key >> np.uint32(11))
    words ^= (words << np.uint32(7)) & np.uint32(0x9D2C5680)
    words ^= (words << np.uint32(15)) & np.uint32(0xEFC60000)
    words ^= words >> np.uint32(18)
    return words


def untempered(words: Key) -> Key:
    """Give the key of a block of words: MT19937's tempering, undone step by step."""
    key: Key = words ^ (words >> np.uint32(18))
    key ^= (key << np.uint32(15)) & np.uint32(0xEFC60000)
    tempered = key
    for _ in range(4):
        key = tempered ^ ((key << np.uint32(7)) & np.uint32(0x9D2C5680))
    key ^= (key >> np.uint32(11)) ^ (key >> np.uint32(22))
    return key


def seed_number(seed: object) -> int:
    """Make of ``seed`` the whole number that R's ``set.seed`` does.

    Raises
    ------
    SeedError
        If ``seed`` is no number, or its whole part not in -2147483647 .. 2147483647.

    Examples
    --------
    >>> [seed_number(seed) for seed in (3.7, -3.7, True, "42")]
    [3, -3, 1, 42]
    """
    value = math.nan
    with suppress(Exception):  # text that is no number, or a number of others
        if is_number(seed, bool) or (isinstance(seed, str) and "_" not in seed):
            value = float(seed)
    if not -(2.0**31) < value < 2.0**31:
        raise SeedError(
            f"The seed is {shown(seed)}, where set.seed allows numbers from "
            "-2147483647 to 2147483647; choose one of these."
        )
    return int(value)


def checked_state(state: ArrayLike) -> Integers:
    """Check the 626 numbers of a ``.Random.seed``: kind, place, key.

    Raises
    ------
    OptionError
        If the kind is not 10403 or 403, the place not in 1 .. 624, the key 0
        throughout, or the numbers not 626 whole ones.
    """
    with refusing(OptionError(f"The state cannot be read; {CURE}.")):
        values = np.asarray(state)
    kinds = list(KIND_CODES.values())
    good = values.shape == (BLOCK + 2,) and values.dtype.kind in "iu"
    if good and values[0] in kinds and 1 <= values[1] <= BLOCK and values[2:].any():
        return values.astype(np.int64)
    raise OptionError(
        f"The state has shape {values.shape} and begins with "
        f"{shown(values.ravel()[:2].tolist())}, where a kind in {kinds}, a place from "
        f"1 to 624 and 624 whole numbers, not all 0, are allowed; {CURE}."
    )


def checked_seed(seed: object, sample_kind: str) -> int | None:
    """Return the whole number that ``set.seed`` makes of a seed; None if none is given.

    Raises
    ------
    SeedError
        If R would refuse the seed.
    OptionError
        If there is no such kind of sampling.
    """
    known = "'rejection' (R since 3.6) or 'rounding' (before)"
    good = isinstance(sample_kind, str) and sample_kind in KIND_CODES
    require(good, "sample_kind", sample_kind, known)
    return None if seed is None else seed_number(seed)

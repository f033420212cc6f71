"""R's permutation beside numpy's own, in one run: ``python benchmarks/permutation.py``.

The three are timed in turn, over and over; a line gives medians and their ratios.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from pegasos_stats.rng import RRandom

REPEATS = {200: 3000, 10_000: 500, 1_000_000: 25}


def seconds(permute: Callable[[int], object], n: int) -> float:
    start = time.perf_counter()
    permute(n)
    return time.perf_counter() - start


def medians(n: int, repeats: int) -> list[float]:
    permutes = (
        RRandom(443).permutation,
        np.random.default_rng(443).permutation,
        np.random.RandomState(443).permutation,
    )
    rounds = [[seconds(permute, n) for permute in permutes] for _ in range(repeats)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def main() -> None:
    RRandom(443).permutation(10)  # compile
    for n, repeats in REPEATS.items():
        ours, generator, legacy = medians(n, repeats)
        print(
            f"n = {n:>9,}: RRandom {1e6 * ours:10.1f} us = "
            f"{ours / generator:.2f} x default_rng ({1e6 * generator:.1f} us), "
            f"{ours / legacy:.2f} x RandomState ({1e6 * legacy:.1f} us)"
        )


if __name__ == "__main__":
    main()

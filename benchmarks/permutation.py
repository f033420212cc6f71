"""Compare R's permutation with numpy's: ``python benchmarks/permutation.py``.

RRandom, numpy's default generator and its legacy RandomState are timed in turn. Each
line contains the median times and their ratios.
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

"""Run random configurations in R and in Python, and compare the results.

Usage: parity.py CONFIGURATIONS [--seed SEED] [--only NUMBER]. Without a seed, one is
drawn. Differences are printed with the first step that differs, and the exit code is 1.
To repeat a configuration, pass its seed and its number.
"""

import argparse
import functools
import multiprocessing
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

PROCESSES = 2


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare R and Python.")
    parser.add_argument("configurations", type=int)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--only", type=int, help="number of one configuration")
    return parser.parse_args()


def main() -> int:
    """Compare all configurations; print differences; return 0 if there are none."""
    given = arguments()
    numbers = range(given.configurations) if given.only is None else [given.only]
    print(f"Seed {given.seed}: {len(numbers):,} configurations in R and in Python")
    began, apart, done = time.monotonic(), 0, 0
    for words in all_compared(given.seed, numbers):
        done += 1
        if words is not None:
            apart += 1
            print(words, flush=True)
        if done % 200 == 0:
            print(f"{done:,} done, {apart:,} differ", flush=True)
    seconds = time.monotonic() - began
    print(f"{done:,} configurations, {apart:,} differ ({seconds:.0f} s)")
    return 1 if apart or done < len(numbers) else 0


def all_compared(seed: int, numbers: range | list[int]) -> Iterator[str | None]:
    """Yield a description of the differences of each configuration, or None.

    Every process runs its own R.
    """
    context = multiprocessing.get_context("spawn")
    tasks = [(seed, number) for number in numbers]
    with context.Pool(min(PROCESSES, len(tasks))) as pool:
        yield from pool.imap_unordered(compared_in_process, tasks, chunksize=5)


@functools.cache
def session() -> Any:
    """Start R in this process, once."""
    from tests.conftest import start_r

    return start_r()


def compared_in_process(task: tuple[int, int]) -> str | None:
    """Compare one configuration."""
    from tests.parity.agreement import words_if_apart
    from tests.parity.configurations import draw

    return words_if_apart(session(), draw(*task))


if __name__ == "__main__":
    sys.exit(main())

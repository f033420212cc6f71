"""Change one place of the package at a time and see whether the tests notice.

Usage: ``python scripts/mutants [PATH ...] [--count 100] [--seed N]``. Works in copies
outside of the checkout; prints the changes that no test noticed, and the share seen.
The first time, and after every change of the package or its tests, all tests run once
with coverage, to learn which of them can see which function.
"""

import argparse
import difflib
import random
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from places import Place, places
from reach import Reach
from trees import KERNELS, ROOT, Tree, copied, recorded

STARTING = 180.0  # python, and to collect tests: seconds
COMPILING = 600.0  # all kernels anew as well
SLOWER = 10.0  # than when the tests were measured: another mutant runs beside this one
LEFT_OUT = ["pegasos_stats/__init__.py", "pegasos_stats/__main__.py"]


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    place: Place

    def diff(self, source: bytes) -> str:
        """Lines taken out and put in."""
        old, new = (
            text.decode().splitlines() for text in (source, self.place.applied(source))
        )
        lines = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
        return "\n".join(f"    {line}" for line in lines if not line.startswith("@@"))


@dataclass(frozen=True)
class Verdict:
    """What the tests said of a mutant."""

    mutant: Mutant
    seen: bool
    remark: str


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("paths", nargs="*", default=["pegasos_stats"], metavar="PATH")
    parser.add_argument("--count", type=int, default=100, help="places to change")
    parser.add_argument("--seed", type=int, help="of their choice; printed")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument(
        "--seconds", type=float, default=120, help="of tests at most for a mutant"
    )
    parser.add_argument(
        "--old-map", action="store_true", help="though the package changed since"
    )
    parser.add_argument(
        "--map", type=Path, default=ROOT / "build/mutants", help="where it is kept"
    )
    return parser.parse_args()


def candidates(root: Path, paths: list[str]) -> list[Mutant]:
    """All mutants of the files under these paths."""
    found = []
    for file in sorted((root / "pegasos_stats").rglob("*.py")):
        name = str(file.relative_to(root))
        if name not in LEFT_OUT and any(name.startswith(path) for path in paths):
            found += [Mutant(name, place) for place in places(file.read_bytes())]
    return found


def drawn(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Draw at random, at most one change of the same piece of code."""
    generator = random.Random(seed)
    by_place: dict[tuple[str, int, int], list[Mutant]] = {}
    for mutant in mutants:
        at = mutant.place
        by_place.setdefault((mutant.file, at.start, at.end), []).append(mutant)
    chosen = generator.sample(list(by_place.values()), min(count, len(by_place)))
    return [generator.choice(group) for group in chosen]


def tried(mutant: Mutant, tree: Tree, reach: Reach, most: float) -> Verdict:
    """Run the tests that can see the mutant, as far as the time reaches."""
    tests, total, left_out = [], 0.0, 0
    for test in reach.tests(mutant.file, mutant.place.function, mutant.place.line):
        if total + reach.seconds[test] > most:
            left_out += 1
            continue
        total += reach.seconds[test]
        tests.append(test)
    if not tests:
        return Verdict(mutant, False, "no test reaches it")
    source = (tree.root / mutant.file).read_bytes()
    with tree.changed(mutant.file, mutant.place.applied(source)):
        slow = COMPILING if mutant.file.startswith(KERNELS) else STARTING
        seen, remark = tree.fails(tests, slow + SLOWER * total)
    rest = f", {left_out} left out for their time" if left_out else ""
    return Verdict(mutant, seen, remark if seen else f"{remark}{rest}")


def verdicts(
    mutants: list[Mutant], trees: list[Tree], reach: Reach, most: float
) -> Iterator[Verdict]:
    """Try the mutants, as many at a time as there are trees."""
    free: SimpleQueue[Tree] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def one(mutant: Mutant) -> Verdict:
        tree = free.get()
        try:
            return tried(mutant, tree, reach, most)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        yield from pool.map(one, mutants)


def main() -> int:
    """Print the survivors and the share of the others."""
    options = arguments()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    start = time.monotonic()
    reach = Reach(ROOT, recorded(options.map, options.old_map, options.jobs))
    for test in reach.failed:
        print(f"not used, fails without a change: {test}")
    mutants = drawn(candidates(ROOT, options.paths), options.count, seed)
    print(f"{len(mutants)} changes, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = [
            copied(Path(folder) / str(i), options.map) for i in range(options.jobs)
        ]
        rooms: Counter[tuple[str, bool]] = Counter()
        for verdict in verdicts(mutants, trees, reach, options.seconds):
            mutant, at = verdict.mutant, verdict.mutant.place
            rooms["/".join(mutant.file.split("/")[:2]), verdict.seen] += 1
            word = "seen" if verdict.seen else "SURVIVED"
            print(f"{word}: {mutant.file}:{at.line} {at.change} ({verdict.remark})")
            print(mutant.diff((ROOT / mutant.file).read_bytes()), flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    for room in sorted({room for room, _ in rooms}):
        seen, all_of = rooms[room, True], rooms[room, True] + rooms[room, False]
        print(f"{room:40s} {seen:4d} of {all_of}")
    seen = sum(n for (_, seen), n in rooms.items() if seen)
    share = seen / max(1, len(mutants))
    minutes = (time.monotonic() - start) / 60
    print(
        f"seen {seen} of {len(mutants)} ({share:.0%}), seed {seed}, {minutes:.0f} min"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

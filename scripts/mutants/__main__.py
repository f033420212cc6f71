"""Change one place of the package at a time and see whether the tests notice.

Usage: ``python scripts/mutants [PATH ...] [--count 100] [--seed N]``. Works in a copy
outside of the checkout; prints each change and whether a test noticed, and the share.
At the first time, and after a change of the package, all tests run once with coverage,
to learn which of them can see which function; after a change of tests these alone.

A changed package may do anything to files. As root all runs where ``/dev`` cannot be
changed, which ``unshare`` must be allowed to arrange; other users cannot change it.
"""

import argparse
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from places import Mutant, places
from reach import Reach
from trees import RECORD, ROOT, copied, recorded
from trials import Trials

LEFT_OUT = ["pegasos_stats/__init__.py", "pegasos_stats/__main__.py"]

APART = 'mount --rbind /dev /dev && mount -o remount,bind,ro /dev && exec "$@"'


def set_apart() -> None:
    """As root, begin again where no device can be replaced by a file."""
    if os.geteuid() == 0 and "MUTANTS_APART" not in os.environ:
        os.environ["MUTANTS_APART"] = "yes"
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", APART]
        os.execvp("unshare", [*command, "sh", sys.executable, *sys.argv])


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("paths", nargs="*", default=["pegasos_stats"], metavar="PATH")
    parser.add_argument("--count", type=int, default=100, help="places to change")
    parser.add_argument("--seed", type=int, help="of their choice; printed")
    parser.add_argument(
        "--seconds", type=float, default=60, help="of tests at most for a mutant"
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


def main() -> int:
    """Print the survivors and the share of the others."""
    options = arguments()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    start = time.monotonic()
    set_apart()
    recorded()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = copied(Path(folder))
        os.chdir(root)
        os.environ["PYTHONPATH"] = folder
        sys.path.insert(0, folder)
        trials = Trials(Reach(root, RECORD), options.seconds)
        for test in trials.reach.failed:
            print(f"not used, fails without a change: {test}")
        mutants = drawn(candidates(root, options.paths), options.count, seed)
        print(f"{len(mutants)} changes, seed {seed}", flush=True)
        trials.run(mutants)
        os.chdir(ROOT)
    rooms = Counter("/".join(m.file.split("/")[:2]) for m in mutants)
    seen = Counter("/".join(m.file.split("/")[:2]) for m in trials.seen)
    for room, number in sorted(rooms.items()):
        print(f"{room:40s} {seen[room]:4d} of {number}")
    number, share = len(trials.seen), len(trials.seen) / max(1, len(mutants))
    minutes = (time.monotonic() - start) / 60
    print(
        f"seen {number} of {len(mutants)} ({share:.0%}), seed {seed}, {minutes:.0f} min"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

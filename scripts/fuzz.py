"""Run the property tests on new random inputs until the time is over.

Usage: fuzz.py SECONDS. Every round has a seed of its own, which is printed: the round
is repeated by ``pytest -m fuzz --hypothesis-profile=search --hypothesis-seed=SEED``.
Ends with the first round that finds something.
"""

import secrets
import subprocess
import sys
import time

ROUND = [sys.executable, "-m", "pytest", "-q", "-m", "fuzz", "--numprocesses", "auto"]


def main() -> int:
    """Run rounds; 0 when the time is over and nothing was found."""
    end = time.monotonic() + float(sys.argv[1])
    rounds = 0
    while time.monotonic() < end:
        seed = secrets.randbelow(2**31)
        options = ["--hypothesis-profile=search", f"--hypothesis-seed={seed}"]
        print(f"== round {rounds + 1}, seed {seed}", flush=True)
        found = subprocess.run([*ROUND, *options], check=False).returncode
        if found:
            return found
        rounds += 1
    print(f"Nothing found in {rounds} rounds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

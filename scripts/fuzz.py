"""Run the property tests on new random inputs until the time is over.

Usage: fuzz.py SECONDS. Every round has a seed of its own, which is printed: the round
is repeated by ``pytest -m fuzz --hypothesis-profile=search --hypothesis-seed=SEED``.
Ends with the first test that finds something; the last round is cut off.
"""

import secrets
import signal
import subprocess
import sys
import time

ROUND = [sys.executable, "-m", "pytest", "-q", "-m", "fuzz", "--numprocesses", "auto"]
ROUND += ["--exitfirst"]
GRACE = 60.0  # seconds that a round has to end in


def main() -> int:
    """Run rounds; 0 when the time is over and nothing was found."""
    end = time.monotonic() + float(sys.argv[1])
    rounds = 0
    while time.monotonic() < end:
        seed = secrets.randbelow(2**31)
        options = ["--hypothesis-profile=search", f"--hypothesis-seed={seed}"]
        print(f"== round {rounds + 1}, seed {seed}", flush=True)
        round_ = subprocess.Popen([*ROUND, *options])
        try:
            found = round_.wait(max(end - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            stop(round_)
            break
        if found:
            return found
        rounds += 1
    print(f"Nothing found in {rounds} whole rounds and a part.")
    return 0


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a round that has found nothing so far: with a find it ends by itself."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    sys.exit(main())

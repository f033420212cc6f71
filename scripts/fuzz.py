"""Run the property tests on new random inputs until the time is over.

Usage: fuzz.py SECONDS. Every round has a seed of its own, which is printed: the round
is repeated by ``pytest -m fuzz --hypothesis-profile=search --hypothesis-seed=SEED``.
Ends with the first test that finds something; the last round is cut off.
"""

import secrets
import signal
import subprocess
import sys
import threading
import time

ROUND = [sys.executable, "-m", "pytest", "-q", "-m", "fuzz", "--numprocesses", "auto"]
ROUND += ["--exitfirst"]


def main() -> int:
    """Run rounds; 0 when the time is over and nothing was found."""
    end = time.monotonic() + float(sys.argv[1])
    # In the background a shell ignores it, for its commands too; it ends a round here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rounds = 0
    while time.monotonic() < end:
        seed = secrets.randbelow(2**31)
        options = ["--hypothesis-profile=search", f"--hypothesis-seed={seed}"]
        print(f"== round {rounds + 1}, seed {seed}", flush=True)
        if found := run_until(end, [*ROUND, *options]):
            return found
        rounds += 1
    print(f"Nothing found in {rounds} rounds, the last one cut off.")
    return 0


def run_until(end: float, command: list[str]) -> int:
    """Exit code of a round that ends by itself or is cut off; 0 without a find.

    A round that is cut off still names what has failed by then.
    """
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    cut = threading.Timer(end - time.monotonic(), process.send_signal, [signal.SIGINT])
    cut.start()
    found = False
    for line in process.stdout or ():
        print(line, end="", flush=True)
        found |= line.startswith(("FAILED ", "ERROR "))
    code, in_time = process.wait(), cut.is_alive()
    cut.cancel()
    return (code if in_time else 0) or int(found)


if __name__ == "__main__":
    sys.exit(main())

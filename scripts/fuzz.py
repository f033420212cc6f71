"""Run the property tests on new random inputs for a given time.

Usage: fuzz.py SECONDS. Every round has its own seed, which is printed. To repeat a
round, run ``pytest -m fuzz --hypothesis-profile=search --hypothesis-seed=SEED``. The
script stops at the first failure; the last round is interrupted.
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
    """Run rounds; return 0 if no test fails within the time."""
    end = time.monotonic() + float(sys.argv[1])
    # A shell makes background commands ignore SIGINT, which interrupts a round here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rounds = 0
    while time.monotonic() < end:
        seed = secrets.randbelow(2**31)
        options = ["--hypothesis-profile=search", f"--hypothesis-seed={seed}"]
        print(f"== round {rounds + 1}, seed {seed}", flush=True)
        if found := run_until(end, [*ROUND, *options]):
            return found
        rounds += 1
    print(f"No failure in {rounds} rounds; the last one was interrupted.")
    return 0


def run_until(end: float, command: list[str]) -> int:
    """Run a round, interrupt it at the end of the time, and return its exit code.

    Returns 0 if no test failed. An interrupted round still prints its failures.
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

"""Compare Pegasos with the same algorithm as a loop in R.

    python benchmarks/r_loop.py

Runs ``pegasos()`` of ``r_reference/R`` in its own process, timed inside R, and the same
fit in Python, from the same seed. Prints both times, and whether the coefficients are
bitwise equal.
"""

import subprocess
import time
from pathlib import Path

import numpy as np

import pegasos_stats as ps

REFERENCE = Path(__file__).parents[1] / "r_reference" / "R"
LAM, EPOCHS, SEED = 0.01, 5, 443

SCRIPT = """
for (file in list.files("{folder}", full.names = TRUE)) source(file)
set.seed(1)
X <- matrix(rnorm({n} * {p}), {n}, {p})
y <- ifelse(X[, 1] + rnorm({n}) > 0, 1, -1)
set.seed({seed})
took <- system.time(fit <- pegasos(X, y, {lam}, {epochs}))[["user.self"]]
cat(took, sprintf("%a", fit$alpha), sprintf("%a", fit$beta))
"""


def in_r(n: int, p: int) -> tuple[float, list[str]]:
    script = SCRIPT.format(
        folder=REFERENCE.as_posix(), n=n, p=p, seed=SEED, lam=LAM, epochs=EPOCHS
    )
    run = subprocess.run(
        ["Rscript", "--vanilla", "-e", script],
        capture_output=True,
        text=True,
        check=True,
    )
    took, *params = run.stdout.split()
    return float(took), params


def here(n: int, p: int) -> tuple[float, list[float]]:
    rng = ps.RRandom(1)
    X = np.ascontiguousarray(rng.rnorm(n * p).reshape((n, p), order="F"))
    y = np.where(X[:, 0] + rng.rnorm(n) > 0, 1, -1)
    model, solver = ps.SVM(y, X, lam=LAM), ps.Pegasos(epochs=EPOCHS, seed=SEED)
    model.fit(solver)
    begin = time.process_time()
    params = model.fit(solver).params
    return time.process_time() - begin, params.tolist()


def main() -> None:
    for n, p in [(5_000, 20), (20_000, 20), (5_000, 200)]:
        (r_took, theirs), (took, ours) = in_r(n, p), here(n, p)
        same = ours == [float.fromhex(number) for number in theirs]
        print(
            f"{n:>6} x {p:<4} {r_took / took:6.0f} times the R loop "
            f"({took * 1e3:.1f} ms and {r_took * 1e3:.0f} ms), bits "
            + ("equal" if same else "DIFFER")
        )


if __name__ == "__main__":
    main()

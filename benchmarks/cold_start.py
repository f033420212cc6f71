"""Time the first fit in a new process, compared with scikit-learn.

    python benchmarks/cold_start.py [--repeats 5]

The processor time starts after ``import pandas`` and ends after a fit to 1,000 rows and
10 columns. It includes the other imports and the compilation. The cache of compiled
code is empty in each process; Python's bytecode files exist.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np
from comparison import Comparison, Ratio

ROWS, COLUMNS = 1000, 10
SCRIPT = """
import time, pandas
began = time.process_time()
import numpy as np
{imports}
rng = np.random.default_rng(0)
d = pandas.DataFrame(rng.normal(size=({n}, {p})), columns=[*"abcdefghij"])
d["y"] = np.where(d.a + rng.normal(size={n}) > 0, "yes", "no")
{fit}
print(time.process_time() - began)
"""
OURS = "import pegasos_stats as ps"
SVM, LOGIT = "ps.svm('y ~ .', d).fit()", "ps.logit('y ~ .', d).fit()"
PEGASOS = "ps.svm('y ~ .', d, lam=0.1).fit(ps.Pegasos(seed=1))"
PEERS = {
    "LinearSVC": "from sklearn.svm import LinearSVC",
    "LogisticRegression": "from sklearn.linear_model import LogisticRegression",
    "SGDClassifier": "from sklearn.linear_model import SGDClassifier",
}
PAIRS = {
    "svm().fit()": (SVM, "LinearSVC"),
    "svm().fit(), summary()": (f"str({SVM}.summary())", "LinearSVC"),
    "logit().fit()": (LOGIT, "LogisticRegression"),
    "logit().fit(), summary()": (f"str({LOGIT}.summary())", "LogisticRegression"),
    "fit(Pegasos())": (PEGASOS, "SGDClassifier"),
}


def seconds(imports: str, fit: str) -> float:
    """Return the processor time of a fit in its own process."""
    script = SCRIPT.format(imports=imports, fit=fit, n=ROWS, p=COLUMNS)
    with tempfile.TemporaryDirectory() as empty:
        ran = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"NUMBA_CACHE_DIR": empty},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(ran.stdout)


def comparisons(repeats: int = 5) -> Iterator[Comparison]:
    """Compare each first fit with a first fit of scikit-learn."""
    for task, (fit, peer) in PAIRS.items():
        theirs = f"{peer}().fit(d.drop(columns='y'), d['y'])"
        seconds(OURS, fit), seconds(PEERS[peer], theirs)
        pairs = [
            (seconds(OURS, fit), seconds(PEERS[peer], theirs)) for _ in range(repeats)
        ]
        yield Comparison.on(
            "normal",
            np.empty((ROWS, COLUMNS)),
            (task, "a new process"),
            (peer, "a new process"),
            Ratio.of(*(list(each) for each in zip(*pairs, strict=True))),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    for found in comparisons(parser.parse_args().repeats):
        print(found, flush=True)


if __name__ == "__main__":
    main()

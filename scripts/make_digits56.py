"""Write pegasos_stats/datasets/digits56.csv from scikit-learn's digits.

Run ``python scripts/make_digits56.py``; the output is the same in every byte.
Source, licence and format: pegasos_stats/datasets/digits56.txt.
"""

from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "pegasos_stats" / "datasets" / "digits56.csv"


def render() -> bytes:
    """Return the CSV file: a header, then one line for each five or six."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    names = ["digit", *(f"p{row}{column}" for row, column in np.ndindex(8, 8))]
    table = np.column_stack([digits.target, digits.data]).astype(int)
    table = table[np.isin(digits.target, (5, 6))]
    lines = [",".join(names), *(",".join(map(str, row)) for row in table.tolist())]
    return ("\n".join(lines) + "\n").encode("ascii")


if __name__ == "__main__":
    TARGET.write_bytes(render())

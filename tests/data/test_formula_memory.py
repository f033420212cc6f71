"""What a formula takes beside the rows, before it has made its matrix of them."""

import gc
import tracemalloc

import numpy as np
import pandas as pd

from pegasos_stats.models.linear import svm

# pandas before 3 copies columns where it takes them in another order.
COPIES = 2 if int(pd.__version__.split(".")[0]) >= 3 else 3


def test_a_formula_takes_few_copies_of_its_columns():
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(40_000) for j in range(40)}
    data = pd.DataFrame(columns)
    data["y"] = np.where(data.x0 > 0.0, "b", "a")
    size = 8 * 40_000 * 40
    svm("y ~ .", data.head(100))  # what is loaded with the first one
    gc.collect()
    tracemalloc.start()
    try:
        model = svm("y ~ .", data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.problem.X.nbytes == size
    # One is the matrix; labels, masks and the intercept are some numbers to a row.
    assert peak <= (COPIES + 0.3) * size

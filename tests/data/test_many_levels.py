"""A factor that names the rows is refused at once, before it is coded."""

import time

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError

N = 40_000


DATA = pd.DataFrame({"y": np.resize(["no", "yes"], N), "number": np.arange(N)})
DATA["x"] = np.random.default_rng(10).normal(size=N)
DATA["name"] = [f"u{i}" for i in range(N)]
DATA["pair"] = [f"u{i // 2}" for i in range(N)]
DATA["read"] = ["n.d.", *map(str, DATA["x"][1:])]


@pytest.mark.parametrize(
    ("term", "named"),
    [
        ("name", "'name' has 40,000 levels"),
        ("x:pair", "'pair' has 20,000 levels"),
        ("C(number)", "'number' has 40,000 levels"),
        ("relevel(name, ref='u7')", "'name' has 40,000 levels"),
        ("read", "na_values="),
        (". - read - pair", "'name' has 40,000 levels"),
    ],
)
def test_it_is_refused_within_a_second(term, named):
    begin = time.process_time()
    with pytest.raises(ColumnError, match=named):
        ps.svm(f"y ~ x + {term}", DATA, lam=0.1)
    assert time.process_time() - begin < 2.0  # of processor time, where it took 100


def test_a_factor_of_many_levels_with_rows_for_each_is_fitted():
    data = DATA.assign(g=[f"g{i % 1200}" for i in range(N)]).head(4800)
    model = ps.svm("y ~ g", data, lam=0.1)
    assert model.problem.p == 1199

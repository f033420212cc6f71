"""Rows that are left out for one value may have any others, at every door."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError

EXACT = ps.Optimum(tol=1e-9, gap_tol=1e-10, seed=1)


def rows():
    rng = np.random.default_rng(9)
    x = rng.normal(size=120)
    y = np.where(x + rng.normal(size=120) > 0.0, "yes", "no").astype(object)
    data = pd.DataFrame({"y": y, "x": x, "g": rng.choice(list("abc"), 120)})
    return data.assign(n=rng.integers(1, 4, 120).astype(float), z=rng.normal(size=120))


def doors(data, tmp_path):
    """Models of all doors that take a formula, from the same data."""
    data.to_csv(tmp_path / "rows.csv", index=False)
    data.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    dask = pytest.importorskip("dask.dataframe")
    return {
        "memory": data,
        "csv": ps.scan(tmp_path / "rows.csv"),
        "parquet": ps.scan(tmp_path / "rows.parquet"),
        "dask": dask.from_pandas(data, npartitions=3),
    }


def test_a_missing_count_drops_the_row_and_is_counted():
    data = rows()
    data.loc[[3, 50, 119], "n"] = np.nan
    data.loc[[3, 7], "x"] = np.nan
    whole = data.dropna()
    plain = ps.svm("y ~ x + g", whole, freq_weights="n", lam=0.1).fit(EXACT)
    result = ps.svm("y ~ x + g", data, freq_weights="n", lam=0.1).fit(EXACT)
    assert result.nobs == whole["n"].sum()
    assert dict(result.dropped.missing)["freq_weights"] == 3
    # Each is within sqrt(2 gap / lam), 1.1e-4, of the optimum.
    np.testing.assert_allclose(result.params, plain.params, atol=3e-4)
    with pytest.raises(DataError, match="3 in 'freq_weights'"):
        ps.svm("y ~ x", data, freq_weights="n", lam=0.1, na_action="raise")
    assert result.confusion(data).counts[:, :2].sum() == whole["n"].sum()
    arrays = ps.SVM(data["y"], data[["x", "z"]], freq_weights=data["n"], lam=0.1)
    assert arrays.problem.n == whole["n"].sum()


@pytest.mark.parametrize(
    ("column", "value", "lacks"),
    [("g", "rare", "y"), ("x", -np.inf, "z"), ("x", np.inf, "y")],
)
def test_what_stands_in_dropped_rows_alone_does_not_count(
    column, value, lacks, tmp_path
):
    data = rows()
    data.loc[60, column] = value
    data.loc[[60, 90], lacks] = None if lacks == "y" else np.nan
    given = {"weights": "n", "offset": "z", "lam": 0.1}
    plain = ps.svm("y ~ x + g", data.drop(index=[60, 90]), **given).fit(EXACT)
    for name, source in doors(data, tmp_path).items():
        result = ps.svm("y ~ x + g", source, **given).fit(EXACT, cov_type="none")
        assert list(result.params.index) == list(plain.params.index), name
        assert result.dropped.total == 2
        np.testing.assert_allclose(result.params, plain.params, atol=3e-4)

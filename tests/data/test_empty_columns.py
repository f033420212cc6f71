"""Columns without a value, and without a name, are left out with a warning."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnWarning, DataError

RNG = np.random.default_rng(7)
DATA = pd.DataFrame({"y": "no", "x": RNG.normal(size=40)})
DATA.loc[DATA["x"] + RNG.normal(size=40) > 0.0, "y"] = "yes"
FITTED = ["Intercept", "x"]


@pytest.mark.parametrize("value", [np.nan, None, pd.NA, pd.NaT])
def test_a_column_without_a_value_is_no_predictor(value):
    data = DATA.assign(e=value)
    with pytest.warns(ColumnWarning, match="'e' holds no value"):
        result = ps.svm("y ~ .", data, lam=0.1).fit(ps.Optimum(seed=1))
    assert list(result.params.index) == FITTED
    assert result.nobs == 40
    plain = ps.svm("y ~ .", DATA, lam=0.1).fit(ps.Optimum(seed=1))
    assert result.params.tolist() == plain.params.tolist()


def test_one_that_is_written_is_an_error_or_taken_out(recwarn, tmp_path):
    data = DATA.assign(e=np.nan, f=np.nan)
    with pytest.raises(DataError, match="40 in 'e'"):
        ps.svm("y ~ x + e", data, lam=0.1)
    data.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(DataError, match="'e' holds no value"):
        ps.svm("y ~ x + e", ps.scan(tmp_path / "rows.csv"), lam=0.1)
    result = ps.svm("y ~ . - e - f", data, lam=0.1).fit(ps.Optimum(seed=1))
    assert list(result.params.index) == FITTED
    assert len(recwarn) == 0


@pytest.mark.parametrize("blank", ["\t", "\u00a0", np.nan])
def test_a_column_of_blanks_or_of_nothing_is_left_out_at_every_door(blank, tmp_path):
    data = DATA.assign(e=blank)
    data.to_csv(tmp_path / "rows.csv", index=False)
    data.to_parquet(tmp_path / "rows.parquet")
    data.to_feather(tmp_path / "rows.arrow", compression="uncompressed")
    dask = pytest.importorskip("dask.dataframe")
    plain = ps.svm("y ~ .", DATA, lam=0.1).fit(ps.Optimum(seed=1))
    scans = [ps.scan(path) for path in sorted(tmp_path.glob("rows.*"))]
    frames = data, data.astype({"e": "category"}), data.assign(e=[None, *[blank] * 39])
    for source in (*frames, *scans, dask.from_pandas(data, npartitions=3)):
        with pytest.warns(ColumnWarning, match="'e' holds no value"):
            model = ps.svm("y ~ .", source, lam=0.1)
        result = model.fit(ps.Optimum(seed=1))
        assert result.nobs == 40
        # Both are within a relative gap of 1e-6 of the same optimum.
        np.testing.assert_allclose(result.params, plain.params, atol=1e-3)

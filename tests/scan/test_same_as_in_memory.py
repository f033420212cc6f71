"""Rows in files and partitions mean what they mean in memory."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import pegasos_stats as ps
from pegasos_stats.errors import DataError

pytestmark = pytest.mark.slow

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
HOMES = ["parquet", "arrow", "csv", "dask"]
CLOSE = 2e-3  # two fits, each within sqrt(2 gap / lam) of the optimum


def data_of(n=600):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(n)
    y = np.where(rng.random(n) < expit(x), "yes", "no")
    return pd.DataFrame({"y": y, "x": x, "g": rng.choice(["a", "b"], n)})


def placed(data, home, folder):
    """The rows in two files, or in partitions."""
    if home == "dask":
        return dd.from_pandas(data, npartitions=2, sort=False)
    for i, part in enumerate(np.array_split(np.arange(len(data)), 2)):
        rows, file = data.iloc[part], folder / f"part{i}.{home}"
        if home == "csv":
            rows.to_csv(file, index=False)
        elif home == "arrow":
            rows.reset_index(drop=True).to_feather(file, compression="uncompressed")
        else:
            rows.to_parquet(file, index=False)
    return ps.scan(folder / f"*.{home}")


def fitted(formula, data):
    with dask_here():
        return ps.logit(formula, data, lam=0.01).fit(ps.Optimum(tol=1e-8, seed=1))


def dask_here():
    return dask.config.set(scheduler="synchronous")


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("formula", ["y ~ x + flag", "y ~ x + C(flag)", "y ~ x:flag"])
def test_rows_without_the_one_level_of_a_factor_are_left_out(home, formula, tmp_path):
    data = data_of()
    data["flag"] = np.where(data["x"] > 0.2, "X", None)
    expected = fitted(formula, data)
    assert expected.nobs < len(data)
    found = fitted(formula, placed(data, home, tmp_path))
    assert found.nobs == expected.nobs
    assert found.dropped.total == expected.dropped.total
    assert list(found.params.index) == list(expected.params.index)
    np.testing.assert_allclose(found.params, expected.params, atol=CLOSE)


@pytest.mark.parametrize("home", HOMES)
def test_large_whole_numbers_stay_levels_where_some_lack(home, tmp_path):
    data = data_of()
    codes = 2**60 + np.random.default_rng(1).integers(0, 3, len(data))
    data["h"] = pd.array(codes, dtype="Int64")
    data.loc[::50, "h"] = pd.NA
    expected = fitted("y ~ x + C(h)", data)
    found = fitted("y ~ x + C(h)", placed(data, home, tmp_path))
    assert found.nobs == expected.nobs == len(data) - 12
    assert list(found.params.index) == list(expected.params.index)
    assert len(found.params) == 4


def test_text_in_several_chunks_or_as_views_is_text(tmp_path):
    data = data_of()
    expected = fitted("y ~ x + g", data)
    pytest.importorskip("polars").from_pandas(data).write_ipc(tmp_path / "rows.arrow")
    several = [
        dd.from_pandas(data, npartitions=4, sort=False).repartition(npartitions=2),
        dd.from_pandas(pd.concat([data[:200], data[200:]]), npartitions=1),
        ps.scan(tmp_path / "rows.arrow"),
    ]
    for frame in several:
        found = fitted("y ~ x + g", frame)
        assert found.nobs == len(data)
        np.testing.assert_allclose(found.params, expected.params, atol=CLOSE)


@pytest.mark.parametrize("ordered", [(True, True), (True, False)])
@pytest.mark.parametrize("home", ["parquet", "dask"])
def test_files_may_order_different_categories(home, ordered, tmp_path):
    data = data_of()
    data.loc[:40, "g"] = "b"
    types = map(pd.CategoricalDtype, (["a", "b"], ["a", "b", "c"]), ordered)
    first, second = ({"g": each} for each in types)
    halves = data[:300].astype(first), data[300:].astype(second)
    if home == "dask":
        parts, meta = map(dask.delayed, halves), halves[0].iloc[:0]
        frame = dd.from_delayed([*parts], meta=meta, verify_meta=False)
    else:
        for i, half in enumerate(halves):
            half.to_parquet(tmp_path / f"part{i}.parquet", index=False)
        frame = ps.scan(tmp_path / "*.parquet")
    found = fitted("y ~ x + g", frame)
    expected = fitted("y ~ x + g", pd.concat(halves))
    assert list(found.params.index) == list(expected.params.index)
    np.testing.assert_allclose(found.params, expected.params, atol=CLOSE)


@pytest.mark.parametrize(("kind", "value"), [("numbers", "<5"), ("booleans", "7")])
def test_values_that_are_not_as_stated_are_named(kind, value, tmp_path):
    data = data_of().drop(columns="g")
    data["v"] = ["1.5" if kind == "numbers" else "True"] * 599 + [value]
    for index in (True, False):
        data.to_csv(tmp_path / "a.csv", index=index)
        scan = ps.scan(tmp_path / "a.csv", types={"v": kind})
        with pytest.raises(DataError, match=rf"a\.csv cannot .*'{value}'"):
            ps.logit("y ~ v", scan, lam=1.0)


STATED = [
    "y ~ x + cut(x, c(-10, 0, 1, 10))",
    "y ~ C(cut(x, c(-10, 0, 1, 10)), contr.sum) + g",
    "y ~ bs(x, knots=[0, 1], lower_bound=-10, upper_bound=10)",
    "y ~ bs(x, knots=[0], lower_bound=-1, upper_bound=1, extrapolation='clip')",
    "y ~ poly(x, 2, raw=True) + g",
    "cut(z, c(-10, 0, 10)) ~ x",
]


@pytest.mark.parametrize("home", ["csv", "dask"])
@pytest.mark.parametrize("formula", STATED)
def test_what_needs_nothing_of_the_rows_is_as_in_memory(formula, home, tmp_path):
    data = data_of()
    data["z"] = data["x"] + np.random.default_rng(8).standard_normal(len(data))
    data = data.sort_values("x", ignore_index=True)  # each piece has other intervals
    expected = fitted(formula, data)
    found = fitted(formula, placed(data, home, tmp_path))
    assert list(found.params.index) == list(expected.params.index)
    assert found.nobs == expected.nobs
    apart = sum(np.sqrt(2.0 * each.gap / 0.01) for each in (found, expected))
    assert np.linalg.norm(found.coef - expected.coef) <= apart
    scores = found.decision_function(data)
    with dask_here():
        there = found.decision_function(placed(data, home, tmp_path))
        there = there.compute() if home == "dask" else there
    np.testing.assert_array_equal(there, scores)


@pytest.mark.parametrize("home", ["csv", "dask"])
def test_criteria_do_not_depend_on_what_was_asked_for_before(home, tmp_path):
    data = data_of()
    expected = fitted("y ~ x + g", data)
    result = fitted("y ~ x + g", placed(data, home, tmp_path))
    # To first order by the distance of the two fits, of some 600.
    with dask_here():
        assert result.aic == pytest.approx(expected.aic, abs=0.1)
        assert result.glance()["bic"][0] == pytest.approx(expected.bic, abs=0.1)

"""Frames of polars, pyarrow and DuckDB: fits of equal bits, rows given back in kind."""

import sys

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pegasos_stats as ps

N = 60
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 2))
WARD = pd.Categorical.from_codes(RNG.integers(0, 3, N), ["w", "u", "v", "never"])
OUTCOME = pd.Categorical(np.where(X[:, 0] + WARD.codes > 1, "no", "yes"), ["yes", "no"])


def rows():
    """Unbalanced, weighted, with every kind of column, some of them incomplete."""
    frame = pd.DataFrame({"x": X[:, 0], "z": np.round(5 * X[:, 1])})
    frame["y"], frame["ward"] = OUTCOME, WARD
    frame["age"] = pd.array(np.arange(N) % 31 + 40, dtype="Int64")
    frame["old"] = pd.array(np.arange(N) % 7 > 4, dtype="boolean")
    frame["site"] = np.where(X[:, 1] > 0.3, "Ost", "Süd")
    frame["w"], frame["o"] = np.arange(N) % 5 + 0.5, X[:, 1] / 8
    frame.loc[3, "x"] = np.nan
    frame.loc[5, "ward"], frame.loc[[9, 50], "age"] = None, None
    frame.loc[8, "old"], frame.loc[[1, 12], "site"], frame.loc[20, "y"] = (None,) * 3
    return frame


PANDAS = rows()
ARROW = pa.Table.from_pandas(PANDAS, preserve_index=False).replace_schema_metadata()
ENUMS = {name: pl.Enum(PANDAS[name].cat.categories) for name in ("y", "ward")}
POLARS = pl.from_arrow(ARROW).cast(ENUMS)
QUERY = """SELECT * REPLACE (y::ENUM('yes', 'no') AS y,
ward::ENUM('w', 'u', 'v', 'never') AS ward) FROM ARROW"""
KINDS = {
    "polars": POLARS,
    "pyarrow": ARROW,
    "in chunks": pa.concat_tables([ARROW[:7], ARROW[7:7], ARROW[7:]]),
    "narwhals": nw.from_native(POLARS),
    "duckdb": duckdb.sql(QUERY),
}
BACK = dict.fromkeys(KINDS, (pa.Table, pa.ChunkedArray))
BACK |= {"polars": (pl.DataFrame, pl.Series), "narwhals": (nw.DataFrame, nw.Series)}
FORMULA = "y ~ x + z + ward + age + old + site"


def fit(data, **options):
    model = ps.logit(FORMULA, data, lam=0.02, weights="w", offset="o", **options)
    return model.fit(ps.Optimum(seed=1))


def listed(found):
    """The values of a column, missing ones as None."""
    values = found.to_list() if hasattr(found, "to_list") else found.to_pylist()
    return [None if pd.isna(value) else value for value in values]


@pytest.fixture(scope="module")
def plain():
    return fit(PANDAS)


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


def test_a_fit_has_the_bits_of_the_same_frame_in_pandas(kind, plain):
    found = fit(KINDS[kind])
    assert found.params.to_dict() == plain.params.to_dict()
    assert "ward[T.u]" in found.params  # "w" is the first level
    assert found.coding.levels == ("yes", "no")
    assert found.dropped == plain.dropped
    assert found.dropped.total == 8
    assert found.confusion().table.equals(plain.confusion().table)


def test_rows_come_back_as_they_went_in(kind, plain):
    data, (frame, column) = KINDS[kind], BACK[kind]
    for method in ("predict", "decision_function"):
        found = getattr(plain, method)(data)
        assert isinstance(found, column)
        assert listed(found) == listed(getattr(plain, method)(PANDAS))
    chances = plain.predict_proba(data)
    assert isinstance(chances, frame)
    assert list(getattr(chances, "column_names", chances.columns)) == ["yes", "no"]
    assert listed(chances["no"]) == listed(plain.predict_proba(PANDAS)["no"])
    assert listed(chances["no"]).count(None) == 7


def test_augment_leaves_the_columns_of_the_data_as_they_were(kind, plain):
    data = KINDS[kind]
    found = plain.augment(data)
    assert isinstance(found, BACK[kind][0])
    expected = plain.augment(PANDAS)
    names = list(getattr(found, "column_names", found.columns))
    assert names == list(expected.columns)
    assert listed(found["loss"]) == listed(expected["loss"])
    kept = found.select(list(PANDAS.columns))
    if kind == "narwhals":
        kept, data = kept.to_arrow(), data.to_arrow()
    assert kept.equals(data.to_arrow_table() if kind == "duckdb" else data)


def test_predicted_labels_are_of_the_type_of_the_outcome(plain):
    of_polars = fit(POLARS)
    assert of_polars.predict(POLARS).dtype == POLARS.schema["y"]
    assert of_polars.predict(POLARS).name == "y"
    assert plain.predict(POLARS).dtype == pl.Categorical
    answer = plain.predict(ARROW)
    assert answer.chunk(0).dictionary.to_pylist() == ["yes", "no"]
    text = ps.svm("site ~ x", POLARS, lam=1.0).fit(ps.Optimum(seed=1))
    assert text.predict(POLARS).dtype == pl.String
    assert pa.types.is_large_string(text.predict(ARROW).type)
    truth = ps.svm("old ~ x", POLARS, lam=1.0).fit(ps.Optimum(seed=1))
    assert truth.predict(ARROW).type == pa.bool_()
    assert truth.predict(POLARS).dtype == pl.Boolean


def test_whole_numbers_beside_missing_ones_lose_no_digit():
    large = [2**53 + 1, 2**53 + 2, None, 2**53 + 1]
    data = pl.DataFrame({"y": large, "x": [1.0, -2.0, 5.0, 2.0]})
    for given in (data, data.to_arrow()):
        result = ps.svm("y ~ x", given, lam=1.0).fit(ps.Optimum(seed=1))
        assert result.coding.levels == (2**53 + 1, 2**53 + 2)
        found = listed(result.predict(given.slice(0, 2)))
        assert found == large[:2]
    assert result.predict(data).dtype == pl.Int64


def test_a_categorical_of_polars_has_its_levels_in_the_order_of_to_pandas():
    data = pl.DataFrame({"y": ["n", "p"] * 6, "g": ["v", "u", "w"] * 4})
    data = data.cast({"g": pl.Categorical})
    text = data.cast(pl.String)
    for rows, other in ((data, "u"), (data.to_pandas(), "u"), (text, "v")):
        assert ps.svm("y ~ g", rows, lam=1.0).names == (f"g[T.{other}]", "g[T.w]")


def test_nan_is_missing_as_null_is():
    data = pl.DataFrame({"y": [0, 1, 1, 0], "x": [1.0, float("nan"), None, 2.0]})
    with pytest.raises(ps.errors.DataError, match="2 rows"):
        ps.svm("y ~ x", data, na_action="raise", lam=1.0)


Y_OF_7 = pl.Series("y", ["n", "p", "n", "p", "p", "p", "n"])
X_OF_7 = pl.DataFrame({"a": [1, 5, 2, 7, 4, 6, 5]})
X_OF_7 = X_OF_7.with_columns(b=pl.Series([0.1, 0.3, 0.9, 0.2, 0.4, 2, 1]))
W_OF_7 = pl.Series("w", [1, 2, None, 4, 5, 6, 7])


def uses(y, X, w):
    """What is asked for with columns in every place that takes them."""
    solver, groups = ps.Pegasos(epochs=2, seed=1), [y, X["a"]]
    model, logit = ps.SVM(y, X, weights=w, lam=1.0), ps.Logit(y, X, lam=1.0)
    yield model.fit(solver, trace=True, test=(y, X)).trace["test_error"]
    yield model.fit(solver).params
    yield ps.SVM(y, X["a"], offset=w, lam=1.0).fit(solver).params
    yield ps.Logit(y, X, freq_weights=X["a"], lam=1.0).fit().params
    yield logit.fit(cov_type="cluster", groups=groups).bse
    yield logit.fit().margins(data=X).tidy()["estimate"]
    yield ps.Folds.stratified(y, 2, groups=X["a"], seed=1).assignment
    yield ps.confusion(y, y.shift(), scores=X["b"], weights=X["a"]).overall
    yield ps.svm("y ~ a", {"y": y, "a": X["a"]}, lam=1.0).problem.X


def test_columns_are_taken_wherever_those_of_pandas_are():
    index = range(20, 27)
    pandas = [each.to_pandas().set_axis(index) for each in (Y_OF_7, X_OF_7, W_OF_7)]
    for found, same in zip(uses(Y_OF_7, X_OF_7, W_OF_7), uses(*pandas), strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(same))


def test_a_frame_of_one_column_is_a_column():
    frame = pl.DataFrame([Y_OF_7, W_OF_7.fill_null(3), X_OF_7["b"]])
    frame = frame.with_columns(fold=X_OF_7["a"] > 4)
    rows = duckdb.sql("SELECT * FROM frame")
    pandas = frame.to_pandas()
    for of in (rows.select, frame.select, lambda name: pandas[[name]]):
        y, X, w = of("y"), of("b"), of("w")
        for option in ("weights", "freq_weights", "offset"):
            found = ps.SVM(y, X, lam=1.0, **{option: w}).fit(ps.Pegasos(seed=1))
            same = ps.SVM(Y_OF_7, X_OF_7["b"], lam=1.0, **{option: frame["w"]})
            assert found.params.equals(same.fit(ps.Pegasos(seed=1)).params)
        found = ps.cross_validate(ps.SVM(y, X, lam=1.0), folds=of("fold")).scores
        same = ps.SVM(Y_OF_7, X_OF_7["b"], lam=1.0)
        assert found.equals(ps.cross_validate(same, folds=frame["fold"]).scores)
        assert ps.confusion(y, y, freq_weights=w).n_classified == frame["w"].sum()
    with pytest.raises(ps.errors.DataError, match="weights of type DataFrame"):
        ps.SVM(Y_OF_7, X_OF_7, weights=X_OF_7, lam=1.0)


def test_what_has_no_row_labels_goes_by_position():
    index = pd.Index(list("abcdefg"))
    y, X = Y_OF_7.to_pandas().set_axis(index), X_OF_7.to_pandas().set_axis(index)
    for labels, rows in ((y, X_OF_7), (Y_OF_7, X), (y, X)):
        model = ps.Logit(labels, rows, lam=1.0)
        result = model.fit(ps.Optimum(seed=1), cov_type="cluster", groups=X_OF_7["a"])
        assert str(result.groups) == "6 groups of a"
        assert result.index.equals(index)
        assert result.coding.name == "y"
        assert ps.confusion(y, result.predict(X_OF_7)).n_errors < 3
    assert isinstance(result.predict(X, offset=None), pd.Series)


def test_frames_of_pandas_need_nothing_that_reads_others(monkeypatch):
    for library in ("narwhals", "pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
    X = pd.DataFrame({"x": [1.0, 2.0], "z": [0.0, 1.0]})
    result = ps.SVM(np.array([0, 1]), X, lam=1.0).fit(ps.Pegasos(seed=1))
    assert result.predict(X).tolist() == result.predict(X.to_numpy()).tolist()

"""Numbers in the byte order of other machines, and frames of other libraries."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.user_data import to_supported_dtype

X = np.random.default_rng(0).normal(size=(30, 2))
Y = (X[:, 0] > 0).astype(int)
OTHER = [">i4", ">f8", "<i4", "<f8"]  # one half is foreign anywhere


@pytest.mark.parametrize("dtype", OTHER)
def test_labels_in_the_other_byte_order(dtype):
    labels = Y.astype(dtype)
    plain = ps.SVM(Y, X, lam=1.0).fit(ps.Pegasos(seed=1))
    found = ps.SVM(pd.Series(labels), X, lam=1.0).fit(ps.Pegasos(seed=1))
    assert found.predict(X).tolist() == plain.predict(X).tolist()
    assert found.confusion(X, labels).n_errors == plain.confusion().n_errors
    assert ps.confusion(labels, Y).n_errors == 0
    assert found.coding.encode(labels).tolist() == (2.0 * Y - 1.0).tolist()


@pytest.mark.parametrize("dtype", OTHER)
@pytest.mark.parametrize("formula", ["y ~ a + C(k)", "y > 0 ~ a + k", "y ~ a + b"])
def test_columns_of_a_formula_in_the_other_byte_order(formula, dtype):
    columns = {"a": np.round(9 * np.abs(X[:, 0])), "k": np.arange(30) % 3, "y": Y}
    plain = pd.DataFrame(columns, [7] * 30).assign(b=np.r_[np.nan, X[1:, 1]])
    other = pd.DataFrame({c: v.astype(dtype) for c, v in columns.items()}, [7] * 30)
    other["b"] = plain["b"].to_numpy().astype(">f8")
    fit = ps.Pegasos(seed=1)
    one, two = (ps.svm(formula, data, lam=1.0).fit(fit) for data in (plain, other))
    assert one.params.tolist() == two.params.tolist()
    assert one.augment(plain)["score"].equals(two.augment(other)["score"])


def test_dictionaries_of_pyarrow_are_factors():
    pa = pytest.importorskip("pyarrow")
    levels = pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (["b", "a", None], ["c", "a"])]
    )
    column = pd.Series(pd.arrays.ArrowExtensionArray(levels), index=list("vwxyz"))
    known = to_supported_dtype(column.rename("g"))
    assert known.name == "g"
    pd.testing.assert_index_equal(known.index, column.index)
    data = pd.DataFrame({"x": [1.0, 2, 0, 4, 3], "y": list("uvuvu"), "g": column.array})
    fit = ps.logit("y ~ x + g", data, lam=1.0).fit()
    assert fit.design.names == ("x", "g[T.a]", "g[T.c]")
    levelled = data.assign(g=pd.Categorical(["b", "a", None, "c", "a"], list("bac")))
    assert fit.predict(data).tolist() == fit.predict(levelled).tolist()
    of_plain = ps.logit("y ~ x + g", levelled, lam=1.0).fit()
    assert of_plain.predict(data).tolist() == of_plain.predict(levelled).tolist()
    by_level = ps.logit("g ~ x", data[3:].assign(x=[1.0, 2.0]), lam=1.0).fit()
    assert set(by_level.coding.levels) == {"a", "c"}


def test_chunks_of_a_file_are_answered_by_scan(tmp_path):
    pd.DataFrame({"y": Y, "a": X[:, 0]}).to_csv(tmp_path / "rows.csv", index=False)
    refused = pytest.raises(ps.errors.DataError, match=r"ps\.scan\(path\)")
    with pd.read_csv(tmp_path / "rows.csv", chunksize=10) as chunks, refused:
        ps.logit("y ~ a", chunks)

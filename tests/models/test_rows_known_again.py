"""A loaded fit knows the rows that it was made of, by a digest."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import pegasos_stats as ps
from pegasos_stats.persist import load, save


def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "g": list("abcd") * 10})
    frame["y"] = list("uvuu") * 10
    frame.loc[3, "x"] = np.nan
    frame.loc[5, "y"] = None
    return frame


def again(result, folder):
    save(result, folder / "fit")
    return load(folder / "fit")


@pytest.mark.parametrize("model", [ps.logit, ps.svm, ps.kernel_svm])
def test_rows_of_the_fit_are_training_rows(model, tmp_path):
    frame = data()
    result = model("y ~ x + g", frame, lam=0.1, standardize=model is ps.svm).fit()
    loaded = again(again(result, tmp_path), tmp_path)  # saved again, none forgotten
    table = loaded.confusion(frame)
    assert table.source == "training"
    assert table.counts.tolist() == result.confusion(frame).counts.tolist()
    assert "Exact 95% interval" not in str(table)
    changed = frame.assign(x=frame["x"] + 1e-12)
    for other in (frame.iloc[::-1], frame.iloc[1:], changed):
        assert loaded.confusion(other).source == "new"


def test_rows_that_count_for_several(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "k": [3, 2, 4, 5], "y": list("abab")})
    loaded = again(ps.logit("y ~ x", frame, freq_weights="k", lam=1.0).fit(), tmp_path)
    assert loaded.confusion(frame).source == "training"
    assert loaded.confusion(frame.assign(k=1)).source == "new"


@pytest.mark.parametrize("is_sparse", [False, True])
def test_rows_in_another_order_or_a_part_of_them_are_training_rows(is_sparse):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 3)) * (rng.random((120, 3)) < 0.7)
    X, y = sparse.csr_array(X) if is_sparse else X, rng.choice(["u", "v"], 120)
    fit, order = ps.SVM(y[:80], X[:80], lam=1.0).fit(), rng.permutation(80)
    for rows in (order, order[:30]):
        table = fit.confusion(X[rows], y[rows])
        assert (table.source, table.n_seen) == ("training", 0)
        assert "No interval    these are training rows of the fit" in str(table)
    table = fit.confusion(X[20:], y[20:])
    assert (table.source, table.n_seen) == ("partly training", 60)
    assert "No interval    60 of these rows (60%) are training rows of the fit" in str(
        table
    )
    with pytest.warns(ps.errors.UndefinedMetricWarning, match="60 of these rows"):
        assert np.isnan(table.error_interval().low)
    for new in (X[80:], 2 * X[:80], X[77:]):  # a few rows hardly change an error rate
        assert fit.confusion(new, y[120 - new.shape[0] :]).source == "new"
    with pytest.raises(ps.errors.DataError, match="data contain training rows"):
        fit.thresholds(X[20:], y[20:], metric="accuracy")


def test_new_rows_that_are_equal_by_chance_are_new():
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 9, 300), rng.choice(["u", "v"], 300)
    frame = pd.DataFrame({"x": x, "y": y})
    train, test = frame[:200], frame[200:]
    fit = ps.logit("y ~ x", train, lam=1.0).fit()
    assert fit.confusion(test).source == "new"
    assert fit.confusion(train).source == "training"  # told by their order
    same = ps.logit("y ~ x", train.set_axis([0] * 200), lam=1.0).fit()
    assert same.confusion(test).source == "new"  # whatever rows are called
    counted = train.groupby(["x", "y"]).size().rename("n").reset_index()
    by_count = ps.logit("y ~ x", counted, freq_weights="n", lam=1.0).fit()
    assert by_count.confusion(counted[::-1]).source == "training"
    assert by_count.confusion(counted[::-1].assign(n=1)).source == "training"


def test_all_rows_in_another_order_are_known_where_many_are_alike():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"s": rng.choice([*"mf"], 400), "c": rng.choice([*"123"], 400)})
    data["y"] = np.where((data["s"] == "m") ^ (rng.random(400) < 0.2), "a", "b")
    result = ps.logit("y ~ s + c", data, lam=0.01).fit()
    assert result.confusion(data.sample(frac=1, random_state=2)).source == "training"
    others = data.sample(frac=1, replace=True, random_state=2)
    assert result.confusion(others).source == "new"


def test_sparse_rows(tmp_path):
    X = sparse.random(40, 6, 0.3, random_state=1, format="csr")
    y = np.array(list("uvuu") * 10)
    loaded = again(ps.SVM(y, X, lam=1.0).fit(), tmp_path)
    assert loaded.confusion(X.tocsc(), y).source == "training"
    for other in (2 * X, X[::-1]):
        assert loaded.confusion(other, y).source == "new"

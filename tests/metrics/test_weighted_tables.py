"""Tables of weights: what is left of a report, against scikit-learn and counts."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as theirs

import pegasos_stats as ps

ROUNDING = 1e-12  # sums in another order
OF_ROWS = ("accuracy_low", "accuracy_high", "accuracy_p_value", "mcnemar_p_value")


@pytest.fixture(scope="module")
def rows():
    """Unbalanced labels, scores with ties, weights of which some are 0."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"actual": rng.choice(["a", "b"], 60, p=[0.7, 0.3])})
    frame["score"] = np.round(rng.normal(size=60) + (frame["actual"] == "b"), 1)
    frame["predicted"] = np.where(frame["score"] > 0.45, "b", "a")
    frame["weight"] = rng.integers(0, 5, 60) / 4.0
    return frame


@pytest.fixture(scope="module")
def chances(rows):
    return (1.0 / (1.0 + np.exp(-rows["score"]))).to_numpy()


@pytest.fixture(scope="module")
def table(rows, chances):
    given = {"scores": rows["score"], "weights": rows["weight"]}
    labels = rows["actual"], rows["predicted"], "b"
    return ps.confusion(*labels, probabilities=chances, **given)


def test_statistics_are_those_of_scikit_learn(rows, chances, table):
    given = rows["actual"], rows["predicted"]
    w = {"sample_weight": rows["weight"]}
    of_class = w | {"pos_label": "b"}
    cells = theirs.confusion_matrix(*given, **w)
    assert table.counts[:, :2].tolist() == cells.tolist()
    assert table.error_rate == pytest.approx(1.0 - theirs.accuracy_score(*given, **w))
    upper = rows["actual"] == "b"
    expected = {
        "accuracy": theirs.accuracy_score(*given, **w),
        "kappa": theirs.cohen_kappa_score(*given, **w),
        "mcc": theirs.matthews_corrcoef(*given, **w),
        "auc": theirs.roc_auc_score(upper, rows["score"], **w),
        "log_loss": theirs.log_loss(upper, chances, **w),
        "brier_score": theirs.brier_score_loss(upper, chances, **w),
        "sensitivity": theirs.recall_score(*given, **of_class),
        "precision": theirs.precision_score(*given, **of_class),
        "f1": theirs.f1_score(*given, **of_class),
        "balanced_accuracy": theirs.balanced_accuracy_score(*given, **w),
        "specificity": theirs.recall_score(*given, pos_label="a", **w),
    }
    found = {**table.overall, **table.by_class}
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=ROUNDING), name


def test_whole_weights_give_what_counts_give_but_no_inference(rows):
    given = rows["actual"], rows["predicted"]
    counts = (4.0 * rows["weight"]).astype(int)
    of_counts = ps.confusion(*given, freq_weights=counts)
    of_weights = ps.confusion(*given, weights=counts)
    assert (of_weights.counts == of_counts.counts).all()
    assert of_counts.n_errors == of_weights.n_errors
    assert of_weights.overall[[*OF_ROWS]].isna().all()
    kept = (each.overall.drop([*OF_ROWS]) for each in (of_weights, of_counts))
    np.testing.assert_allclose(*kept, rtol=ROUNDING)
    pd.testing.assert_series_equal(of_weights.by_class, of_counts.by_class)
    assert of_weights.conf_int()[["conf_low", "conf_high"]].isna().all(axis=None)
    assert of_counts.conf_int()["conf_low"].notna().all()
    both = ps.confusion(*given, freq_weights=counts, weights=np.full(60, 0.5))
    np.testing.assert_allclose(both.counts, 0.5 * of_counts.counts, rtol=ROUNDING)


def test_a_class_of_weights_that_do_not_add_up_exactly_is_none():
    found = ps.confusion(["a"] * 3, ["a", "b", "a"], "a", levels=["a", "b"],
                         weights=[0.1, 0.2, 0.3])  # fmt: skip
    with pytest.warns(ps.errors.UndefinedMetricWarning) as caught:
        assert np.isnan(found.by_class["specificity"])
    assert "specificity" in str(caught[0].message)


def test_a_fit_takes_weights_by_name_and_as_numbers():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=40), "w": rng.gamma(1.0, size=40)})
    data["y"] = np.where(data["x"] + rng.normal(size=40) > 0.5, "u", "v")
    result = ps.svm("y ~ x", data, lam=0.1).fit(ps.Optimum(seed=1))
    new = data.iloc[::-1].iloc[:25].assign(x=lambda rows: rows["x"] + 0.01)
    predicted = result.predict(new)
    expected = ps.confusion(new["y"], predicted, weights=new["w"])
    for weights in ("w", new["w"], new["w"].to_numpy()):
        found = result.confusion(new, weights=weights)
        assert (found.counts == expected.counts).all()
        assert found.source == "weighted"
    seen = result.confusion(data, weights="w")
    assert seen.source == "training"
    assert seen.counts.sum() == pytest.approx(data["w"].sum(), rel=ROUNDING)


@pytest.mark.parametrize("weight", [2**64 - 1, 5e-324, 1e300])
def test_weights_of_any_size_are_tested_by_nothing(weight):
    y, weights = ["a", "b"] * 6, np.full(12, weight)
    matrix = ps.confusion(y, y[6:] + y[:5] + ["a"], weights=weights)
    lines = [line.strip() for line in str(matrix.summary()).splitlines()]
    assert "Accuracy : 0.9167" in lines
    assert "P-Value [Acc > NIR] : NA" in lines
    assert np.isnan(matrix.overall["accuracy_p_value"])
    assert matrix.overall["accuracy"] == pytest.approx(11 / 12)  # but for rounding
    assert matrix.overall["mcc"] == pytest.approx((6 * 5) / (7 * 6 * 6 * 5) ** 0.5)

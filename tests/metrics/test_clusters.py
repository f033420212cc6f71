"""Intervals of error rates and areas of rows in groups."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError


def test_intervals_are_those_of_the_package_survey():
    """R 4.2.2, survey 4.1-1, confint(svyciprop(~y, method = "beta")), ids = ~g."""
    wrong, groups = [1, 0, 4, 2], np.repeat(np.arange(4), 5)
    predicted = np.concatenate([np.arange(5) < count for count in wrong])
    table = ps.confusion(np.zeros(20, bool), predicted, levels=[0, 1], groups=groups)
    expected = (0.0146517630358, 0.893667175273)
    np.testing.assert_allclose(table.error_interval(), expected, rtol=1e-10)


def drawn(seed=3, n=240, size=6):
    rng = np.random.default_rng(seed)
    groups = np.arange(n) // size
    shared = rng.normal(size=groups.max() + 1)[groups]
    score = shared + rng.normal(size=n)
    actual = np.where(score + rng.normal(size=n) > 0.3, "yes", "no")
    return actual, np.where(score > 0, "yes", "no"), score, groups


def test_rates_of_a_class_are_rates_of_its_rows():
    """The interval of the sensitivity is that of the error rate of the class's rows."""
    actual, predicted, score, groups = drawn()
    table = ps.confusion(actual, predicted, scores=score, groups=groups)
    found = table.conf_int().set_index("term")
    for term, rows in {
        "sensitivity": actual == "yes",
        "specificity": actual == "no",
        "pos_pred_value": predicted == "yes",
        "neg_pred_value": predicted == "no",
    }.items():
        own = ps.confusion(actual[rows], predicted[rows], groups=groups[rows])
        low, high = own.error_interval()
        expected = 1.0 - high, 1.0 - low
        ours = found.loc[term, ["conf_low", "conf_high"]].astype(float)
        np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_what_is_printed_has_the_intervals_of_groups_and_no_tests():
    """Accuracy has the limits of the error rate; tests need independent rows."""
    actual, predicted, _, groups = drawn()
    table = ps.confusion(actual, predicted, groups=groups)
    low, high = table.error_interval()
    assert f"[{low:.4f}, {high:.4f}] exact" in str(table)
    found = table.overall[["accuracy_low", "accuracy_high"]].to_numpy()
    np.testing.assert_allclose(found, [1.0 - high, 1.0 - low], rtol=1e-12)
    assert table.overall[["accuracy_p_value", "mcnemar_p_value"]].isna().all()
    assert table.tidy()["p_value"].isna().all()
    single = ps.confusion(actual, predicted, groups=np.zeros(240))
    assert "No interval    all rows belong to one group" in str(single)


def test_the_area_has_obuchowski_s_interval():
    actual, predicted, score, groups = drawn()
    table = ps.confusion(actual, predicted, scores=score, groups=groups)
    low, high = table.conf_int().set_index("term").loc["auc", ["conf_low", "conf_high"]]
    compared = ps.compare_roc(actual, score, -score, groups=groups).tidy().iloc[0]
    assert (low, high) == (compared["conf_low"], compared["conf_high"])


def test_groups_of_one_row_have_the_rows_there_are():
    actual, predicted, score, _ = drawn()
    alone = ps.confusion(actual, predicted, scores=score, groups=np.arange(240))
    plain = ps.confusion(actual, predicted, scores=score)
    # v = p (1 - p) / (n - 1): one row in 240 less
    np.testing.assert_allclose(
        alone.error_interval(), plain.error_interval(), atol=0.001
    )
    assert alone.error_rate == plain.error_rate


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say():
    """Ten rows of a group share their error; without groups 95% become 60%."""
    rng, groups = np.random.default_rng(1), np.arange(300) // 10
    covered = {"alone": 0, "groups": 0}
    for _ in range(300):
        chance = rng.beta(1.0, 4.0, size=30)[groups]  # mean 0.2
        wrong = rng.random(300) < chance
        for name, own in (("alone", None), ("groups", groups)):
            table = ps.confusion(np.zeros(300), wrong * 1.0, levels=[0, 1], groups=own)
            low, high = table.error_interval()
            covered[name] += low <= 0.2 <= high
    assert covered["alone"] / 300 < 0.85
    assert covered["groups"] / 300 > 0.91  # three Monte Carlo errors of 0.0126


def test_a_fit_takes_the_name_of_the_column(tmp_path):
    train, test = ps.datasets.load_digits56()
    result = ps.logit("digit ~ p34 + p43", train).fit()
    labelled = test.assign(writer=np.arange(len(test)) % 20)
    named = result.confusion(labelled, groups="writer")
    given = result.confusion(test, groups=np.arange(len(test)) % 20)
    pd.testing.assert_frame_equal(named.tidy(), given.tidy())
    by = result.confusion(
        labelled.assign(half=np.arange(len(test)) % 2), groups="writer", by="half"
    )
    assert by.confusions[0].by_cluster.shape[1:] == (2, 3)
    ps.save(named, tmp_path / "table")
    pd.testing.assert_frame_equal(ps.load(tmp_path / "table").tidy(), named.tidy())
    with pytest.raises(DataError, match="groups"):
        ps.confusion([0, 1], [0, 1], groups=[1, None])


def test_predictive_values_at_a_prevalence_have_no_interval_by_groups():
    """The interval of a rate of the table's rows is not that of another prevalence."""
    actual, predicted, _, groups = drawn()
    options = {"groups": groups, "prevalence": 0.05}
    table = ps.confusion(actual, predicted, **options).conf_int().set_index("term")
    limits = ["conf_low", "conf_high"]
    assert table.loc["sensitivity", limits].notna().all()
    for term in ("pos_pred_value", "neg_pred_value"):
        assert term not in table.index or table.loc[term, limits].isna().all()


def test_the_name_of_a_column_without_a_frame_is_refused():
    with pytest.raises(DataError, match="groups is of type str; use a list"):
        ps.confusion([0, 1], [0, 1], groups="clinic")

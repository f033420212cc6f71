"""Statistics of subgroups are those of tables of their rows alone."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, OptionError

WOMEN = ps.load_affairs()
TRAIN, NEW = WOMEN.iloc[::2], WOMEN.iloc[1::2]
FORMULA = "affair ~ rate_marriage + yrs_married"


@pytest.fixture(scope="module")
def result():
    return ps.logit(FORMULA, TRAIN).fit()


def test_each_subgroup_has_the_table_of_its_rows(result):
    found = result.confusion(NEW, by="religious", threshold=0.3)
    assert list(found.confusions) == [1.0, 2.0, 3.0, 4.0]
    table = found.tidy(0.9).set_index(["religious", "term"])
    for label, own in NEW.groupby("religious"):
        alone = result.confusion(own, threshold=0.3)
        assert (found.confusions[label].counts == alone.counts).all()
        terms = alone.tidy(level=0.9).set_index("term")
        for term in ("error_rate", "sensitivity", "specificity", "auc"):
            ours = table.loc[(label, term), ["estimate", "conf_low", "conf_high"]]
            expected = terms.loc[term, ["estimate", "conf_low", "conf_high"]]
            np.testing.assert_array_equal(
                ours.to_numpy(float), expected.to_numpy(float)
            )
        chance = result.predict_proba(own).iloc[:, 1]
        calibration = ps.reliability(own["affair"], chance, level=0.9)
        at = table.loc[(label, "slope")]
        assert at["estimate"] == calibration.slope
        assert (at["conf_low"], at["conf_high"]) == calibration.slope_interval
        assert table.loc[(label, "intercept"), "estimate"] == calibration.intercept
        assert table.loc[(label, "auc"), "n"] == len(own)
        assert table.loc[(label, "auc"), "events"] == (own["affair"] == "yes").sum()


def test_labels_come_in_all_forms(result):
    named = result.confusion(NEW, by="religious").tidy()
    for by in (NEW["religious"], NEW["religious"].to_numpy(), list(NEW["religious"])):
        again = result.confusion(NEW, by=by).tidy()
        assert (again.to_numpy() == named.to_numpy()).all()


def test_rows_without_a_label_are_counted(result):
    some = NEW.assign(religious=NEW["religious"].where(np.arange(len(NEW)) % 7 > 0))
    found = result.confusion(some, by="religious")
    assert found.n_left_out == some["religious"].isna().sum()
    assert "455 rows without a value of 'religious'." in str(found.summary())
    assert found.whole.n_classified == some["religious"].notna().sum()


def test_rows_without_an_outcome_or_a_prediction_are_counted(result):
    at = np.arange(len(NEW))
    some = NEW.assign(
        yrs_married=NEW["yrs_married"].where(at % 9 > 0),
        affair=NEW["affair"].where(at % 9 != 1),
        k=1.5,
    )
    notes = str(result.confusion(some, by="religious").summary())
    assert f"Excluded: {(at % 9 == 0).sum()} rows without a prediction." in notes
    assert f"Excluded: {(at % 9 == 1).sum()} rows without an actual label." in notes
    assert "a value of" not in notes
    weighted = result.confusion(some, by="religious", weights="k")
    weight = f"rows of weight {1.5 * (at % 9 == 0).sum():g} without a prediction"
    assert weight in str(weighted.summary())


def test_a_hinge_fit_has_no_calibration():
    result = ps.svm(FORMULA, TRAIN).fit(cov_type=None)
    found = result.confusion(NEW, by="religious")
    assert set(found.tidy()["term"]) == {
        *("error_rate", "sensitivity", "specificity", "auc")
    }
    assert max(map(len, str(found).splitlines())) <= 78


def test_the_figure_has_all_subgroups_and_all_rows(result):
    from matplotlib.figure import Figure

    found = result.confusion(NEW, by="religious")
    ax = found.plot("auc", ax=Figure().subplots())
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert [label.split()[-1] for label in labels[-4:]] == ["1", "2", "3", "4"]
    assert max(map(len, str(found).splitlines())) <= 78


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"by": "zz"}, ColumnError, "zz"),
        ({"by": "religious", "actual": NEW["affair"]}, OptionError, "actual="),
        ({"by": "religious", "weights": np.ones(len(NEW))}, OptionError, "weights="),
    ],
)
def test_what_is_refused(result, options, error, match):
    with pytest.raises(error, match=match):
        result.confusion(NEW, **options)
    with pytest.raises(OptionError, match="pass data"):
        result.confusion(by="religious")


def test_a_subgroup_of_one_group_has_no_intervals(result):
    groups = np.where(NEW["religious"] == 1.0, 0, 1 + np.arange(len(NEW)) % 20)
    found = result.confusion(NEW.assign(g=groups), by="religious", groups="g").tidy()
    intervals = found.set_index(["religious", "term"])[["conf_low", "conf_high"]]
    assert intervals.loc[1.0].isna().all(axis=None)
    assert intervals.loc[2.0].notna().all(axis=None)
    assert found["estimate"].notna().all()


def test_empty_cells_of_a_small_subgroup_do_not_warn(result, recwarn):
    few = NEW.iloc[::20].assign(pair=lambda d: np.arange(len(d)) // 2)
    found = result.confusion(few, by="pair")
    cells = found.tidy().pivot(index="pair", columns="term", values="estimate")
    none = few.groupby("pair")["affair"].agg(lambda y: (y == "no").all())
    assert (cells["sensitivity"].isna() == none).all()
    assert none.any()
    assert not recwarn.list


def test_labels_may_be_named_like_a_column_of_the_table(result):
    found = result.confusion(NEW.assign(term=NEW["religious"]), by="term")
    named = result.confusion(NEW, by="religious")
    assert found.name == "group"
    assert (found.tidy().to_numpy() == named.tidy().to_numpy()).all()
    assert str(found.summary()).split("\n")[1:] == str(named.summary()).split("\n")[1:]


def test_weights_that_count_rows_give_the_estimates_of_the_repeated_rows(result):
    some = NEW.assign(k=np.arange(len(NEW)) % 3 * 1.0)
    weighted = result.confusion(some, by="religious", weights="k")
    repeated = some.loc[some.index.repeat(some["k"].astype(int))]
    expected = result.confusion(repeated, by="religious").tidy()
    table = weighted.tidy()
    columns = ["n", "events", "estimate"]
    np.testing.assert_allclose(table[columns], expected[columns], atol=1e-8)
    assert table[["conf_low", "conf_high"]].isna().all(axis=None)
    assert "intervals" not in str(weighted.summary())
    half = result.confusion(some.assign(k=some["k"] / 4), by="religious", weights="k")
    np.testing.assert_allclose(half.tidy()["events"] * 4, table["events"])
    none = some.assign(k=some["k"].where(some["religious"] > 1, 0.0))
    found = result.confusion(none, by="religious", weights="k").tidy()
    assert found.loc[found["religious"] == 1, "estimate"].isna().all()


def test_training_rows_have_no_intervals(result):
    found = result.confusion(TRAIN, by="religious").tidy()  # of few distinct rows
    assert found[["conf_low", "conf_high"]].isna().all(axis=None)

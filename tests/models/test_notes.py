"""What there is to say of a fit: which facts are noted, and who is told of them."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import (
    FormulaError,
    UndefinedMetricWarning,
)
from tests.output.command_line import run

X = np.array([[0.0, 1.0, 3.0, 2.0, 5.0, 4.0, 9.0], [2, -1, 0.5, -2, 1, 0.25, -3]]).T
Y = np.array(["no", "no", "yes", "no", "yes", "yes", "no"])


def test_resamples_that_are_left_out_are_noted_and_told_to_whoever_asks():
    labels, x = ["a"] * 2 + ["b"] * 18, np.linspace(-1.0, 1.0, 20) ** 3
    model = ps.SVM(labels, pd.DataFrame({"x": x}), lam=0.1)
    boot = ps.Bootstrap(replicates=40, seed=443)
    result = model.fit(ps.Optimum(tol=1e-8, seed=1), cov_type=boot)
    (note,) = result.estimated.notes
    assert note in result.notes_on_errors()
    with pytest.warns(UndefinedMetricWarning) as told:
        result.bse  # noqa: B018
    assert [str(one.message) for one in told] == [note.text]
    assert told[0].filename == __file__


def test_a_missing_interval_is_explained_where_few_resamples_differ():
    rng = np.random.default_rng(0)
    g = rng.integers(0, 3, 300)
    y = rng.random(300) < np.array([0.1, 0.4, 0.6])[g]
    result = ps.svm("y ~ C(g)", pd.DataFrame({"y": y, "g": g})).fit()
    assert np.isnan(result.conf_int().loc["C(g)[T.2]"]).all()
    assert result.bse["C(g)[T.2]"] > 0.0
    told = [note.text for note in result.notes_on_errors()]
    assert any("agree on" in text and "'C(g)[T.2]'" in text for text in told)


# What a newcomer is told of the penalty: unlike scales, a flat fit.
@pytest.fixture(scope="module")
def survey():
    rng, n = np.random.default_rng(7), 400
    age, sex = rng.normal(40, 9, n), rng.choice(["f", "m"], n)
    data = pd.DataFrame({"age": age, "sex": sex, "income": rng.normal(3e4, 1e4, n)})
    score = 0.05 * (age - 40) + 1.2 * (sex == "m") - 0.5
    return data.assign(bought=(score > rng.logistic(size=n)).astype(int))


def of_topic(result, topic):
    return [note for note in result.notes if note.topic == topic]


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_predictors_on_unlike_scales_are_named_until_they_are_alike(make, survey):
    def told(**given):
        fit = make("bought ~ age + sex + income", survey, **given).fit()
        notes = (note.text for note in of_topic(fit, "penalty"))
        return [text for text in notes if "scale" in text]

    sex, income = (survey["sex"] == "m").std(), survey["income"].std()
    (hint,) = told(lam=0.1)
    assert f"{sex:#.2g} for sex[T.m], {income:,.0f} for income" in hint
    assert "1 of 3 coefficients" in hint
    assert "standardize=True" in hint
    assert told(lam=0.1, standardize=True) == told(lam=1e-4) == []


def test_a_degenerate_hinge_is_told_until_it_is_cured():
    rng = np.random.default_rng(5)
    y = np.where(np.arange(300) % 10 == 0, "ill", "well")
    X = rng.normal(size=(300, 2)) + 0.8 * (y == "ill")[:, None]
    flat, cured = (
        ps.SVM(y, X, lam=0.01, weights=weights).fit(ps.Optimum(tol=1e-8, seed=1))
        for weights in (None, "balanced")
    )
    (note,) = of_topic(flat, "predictions")
    assert note.severity == "warning"
    assert "'well'" in note.text
    assert note.sentence == flat.summary().notes[0]
    assert of_topic(cured, "predictions") == []


# Where case or accents decide which level is first, a note says so at every door.
RNG = np.random.default_rng(4)
DATA = pd.DataFrame({"x": RNG.normal(size=80)})
DATA["dx"] = np.where(DATA["x"] + RNG.normal(size=80) > 0.0, "Malignant", "benign")
DATA["ward"] = RNG.choice(["Zürich", "aarau", "Bern"], size=80)
PLAIN = DATA.assign(dx=DATA["dx"].str.lower(), ward=DATA["ward"].str.lower())


def notes_on_order(model):
    return [note.text for note in of_topic(model.fit(), "level order")]


@pytest.mark.parametrize("make", [ps.svm, ps.logit, ps.kernel_svm])
def test_the_outcome_and_the_baseline_are_named(make):
    found = notes_on_order(make("dx ~ x + ward", DATA, lam=0.1))
    assert len(found) == 2
    assert "coding=('benign', 'Malignant')" in found[0]
    assert "relevel(ward, ref='aarau')" in found[1]
    assert not notes_on_order(make("dx ~ x + ward", PLAIN, lam=0.1))


def test_arrays_files_dask_and_the_command_line_have_the_note(tmp_path, capsys):
    assert len(notes_on_order(ps.SVM(DATA["dx"], DATA[["x"]], lam=0.1))) == 1
    DATA.to_csv(tmp_path / "rows.csv", index=False)
    formula, dask = "dx ~ x + ward", pytest.importorskip("dask.dataframe")
    for rows in (ps.scan(tmp_path / "rows.csv"), dask.from_pandas(DATA, npartitions=3)):
        assert len(notes_on_order(ps.svm(formula, rows, lam=0.1))) == 2
    shown = run(capsys, "fit", tmp_path / "rows.csv", "--formula", formula).out
    assert "coding=('benign', 'Malignant')" in " ".join(shown.split())


@pytest.mark.parametrize("memory", [(), ("--memory", "64MiB")])
def test_relevel_of_the_outcome_names_its_first_level(tmp_path, capsys, memory):
    DATA.to_csv(tmp_path / "rows.csv", index=False)
    formula = "relevel(dx, ref='benign') ~ x"
    given = ps.svm("dx ~ x", DATA, lam=0.1, coding=("benign", "Malignant")).fit()
    result = ps.svm(formula, DATA, lam=0.1).fit()
    assert result.coding.levels == ("benign", "Malignant")
    np.testing.assert_array_equal(result.params, given.params)
    assert result.confusion(DATA).n_errors == given.confusion(DATA).n_errors
    options = "--formula", formula, "--lam", "0.1", *memory
    shown = run(capsys, "fit", tmp_path / "rows.csv", *options).out
    assert "dx: benign or Malignant, modelled: Malignant" in shown
    numbers = DATA.assign(z=(DATA["dx"] == "Malignant").astype(int))
    for ref in ("1", "'1'"):
        model = ps.svm(f"relevel(factor(z), ref={ref}) ~ x", numbers, lam=0.1)
        assert model.coding.levels == (1, 0)
    for wrong in ("relevel(dx, ref='none') ~ x", "C(dx, levels=['a', 'b']) ~ x"):
        with pytest.raises(FormulaError, match="Malignant"):
            ps.svm(wrong, DATA, lam=0.1)

"""What there is to say of a fit: which facts are noted, and who is told of them."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import (
    ConvergenceWarning,
    OptionError,
    UndefinedMetricWarning,
)

X = np.array([[0.0, 1.0, 3.0, 2.0, 5.0, 4.0, 9.0], [2, -1, 0.5, -2, 1, 0.25, -3]]).T
Y = np.array(["no", "no", "yes", "no", "yes", "yes", "no"])
ONE = ps.Pegasos(epochs=1, seed=2)


def warned(result):
    return {note.topic: note for note in result.notes if note.severity == "warning"}


def test_a_fit_in_order_has_notes_and_no_warning():
    result = ps.SVM(Y, X, lam=0.01).fit(ps.SDCA(tol=1e-8, seed=3))
    topics = [note.topic for note in result.notes]
    assert topics == ["certificate", "labels", "model", "seed"]
    assert warned(result) == {}


def test_the_hinge_that_predicts_one_level_says_so_first():
    said = (
        "Every row is predicted 'no'. For probabilities or a ranking use the log loss "
        "(ps.logit, --loss log); for a balanced rule weights='balanced'."
    )
    flat = ps.SVM(Y, 0.01 * X, lam=1 / 7).fit(ps.SDCA(seed=3))
    assert flat.summary().notes[0] == said
    strong = ps.SVM(Y, X, lam=1e3).fit(ps.SDCA(seed=3)).summary().notes[0]
    assert strong.startswith(said)
    assert "smaller lam" in strong
    weights = np.array([1.0, 2.0, 1.0, 4.0, 0.5, 1.0, 1.0])
    weighted = ps.SVM(Y, X, lam=1e3, weights=weights).fit(ps.SDCA(seed=3))
    assert "balanced" not in warned(weighted)["predictions"].text
    log = ps.Logit(Y, X, lam=1e3).fit(ps.SDCA(seed=3)).summary().notes[0]
    assert log.startswith("Every row is predicted 'no'")
    assert "log loss" not in log


def test_cross_validation_that_uses_no_predictor_is_the_message():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(150) < 0.2, "a", "b")
    result = ps.SVM(labels, rng.normal(size=(150, 3)), lam="cv").fit(ps.SDCA(seed=3))
    assert "uses no predictor" in result.summary().notes[0]
    assert "by cross-validation" in result.summary().header[2]
    assert "taken as fixed" in result.summary().notes[-1]


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_a_kernel_that_ran_away_is_told_of_sdca(kernel):
    given = X @ X.T if kernel == "precomputed" else X
    result = ps.KernelSVM(Y, given, lam=1e-3, kernel=kernel).fit(ONE)
    assert "Leave the solver out" in warned(result)["run"].text


def test_resamples_that_are_left_out_are_noted_and_told_to_whoever_asks():
    labels, x = ["a"] * 2 + ["b"] * 18, np.linspace(-1.0, 1.0, 20) ** 3
    model = ps.SVM(labels, pd.DataFrame({"x": x}), lam=0.1)
    boot = ps.Bootstrap(replicates=40, seed=443)
    result = model.fit(ps.SDCA(tol=1e-8, seed=1), cov_type=boot)
    (note,) = result.estimated.notes
    assert note in result.notes_on_errors()
    with pytest.warns(UndefinedMetricWarning) as told:
        result.bse  # noqa: B018
    assert [str(one.message) for one in told] == [note.text]
    assert told[0].filename == __file__


def test_the_warning_and_the_summary_have_one_text():
    result = ps.Logit(Y, X, lam=0.1).fit(ps.Pegasos(epochs=20, seed=1))
    far = result.notes_on_errors()[0]
    assert (far.topic, far.severity) == ("run", "warning")
    with pytest.warns(ConvergenceWarning) as told:
        result.bse  # noqa: B018
    assert [str(one.message) for one in told] == [far.sentence]
    assert far.sentence in result.summary(details=True).notes


def test_the_error_and_the_summary_have_one_text():
    result = ps.SVM(Y, X, lam=0.1).fit(ps.SDCA(seed=1), cov_type="none")
    with pytest.raises(OptionError) as told:
        result.bse  # noqa: B018
    assert str(told.value) in result.summary().notes


def test_a_report_leaves_the_warning_to_whoever_asks_for_errors():
    columns = pd.DataFrame({"x": [-1.0, -1.0, 1.0, 1.0]})
    model = ps.SVM(["a", "a", "b", "b"], columns, lam=1e-3)
    result = model.fit(ps.SDCA(tol=1e-8, seed=1), cov_type="sandwich")
    page = result.report().to_markdown()
    with pytest.warns(UndefinedMetricWarning, match="not defined") as told:
        assert result.bse.isna().all()
    assert str(told[0].message) in " ".join(page.split())


@pytest.mark.parametrize("at", [0, 9])
def test_one_row_that_is_predicted_otherwise_is_an_answer_too(at):
    x = np.where(np.arange(10) == at, 50.0, 0.25)
    y = np.where(np.arange(10) == at, "yes", "no")
    result = ps.SVM(y, x[:, None], lam=1e-3).fit(ps.SDCA(tol=1e-8, seed=3))
    assert (result.predict() == y).all()
    assert "predictions" not in warned(result)

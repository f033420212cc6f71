"""Figures of a run, of its trace, and of the losses."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from tests.output.figures import legend, panels
from tests.output.figures import line as line_of

TRAIN, _ = ps.datasets.load_digits56()
pytestmark = pytest.mark.usefixtures("closed")


def test_the_trace_is_drawn_as_recorded(digits):
    objective, gap, errors = digits.plot.trace(ax=panels(3))
    trace = digits.trace
    above = line_of(objective, "Objective")
    np.testing.assert_array_equal(above.get_ydata(), trace["objective"])
    np.testing.assert_array_equal(above.get_xdata(), trace["epoch"])
    bound = (trace["objective"] - trace["gap"]).where(trace["gap"] < trace["objective"])
    below = line_of(objective, "Certified").get_ydata()
    np.testing.assert_array_equal(below, bound)
    np.testing.assert_array_equal(gap.get_lines()[0].get_ydata(), trace["gap"])
    assert gap.get_yscale() == "log"
    for name, column in (("Rows", "training_error"), ("Held-out", "test_error")):
        np.testing.assert_array_equal(line_of(errors, name).get_ydata(), trace[column])
    assert legend(errors)[
        1
    ] == f"Held-out rows, {trace['test_error'].iloc[-1]:.2%} " + ("at the end")


def test_the_trace_tells_where_sdca_went_on():
    model = ps.svm("digit ~ .", TRAIN, lam=1.0)
    found = model.fit(ps.Pegasos(epochs=4, seed=1), refine=1e-6, trace=True)
    (ax,) = found.plot.trace(ax=panels())
    assert line_of(ax, "SDCA from here").get_xdata() == [4, 4]


def test_the_trace_against_steps_has_distance_and_accuracy(digits):
    above, gap, accuracy = digits.plot.trace("steps", ax=panels(3))
    trace = digits.trace
    bound = max(digits.dual_objective, (trace["objective"] - trace["gap"]).max())
    line = line_of(above, "Objective above the optimum, at most")
    np.testing.assert_array_equal(line.get_xdata(), trace["steps"])
    np.testing.assert_array_equal(line.get_ydata(), trace["objective"] - bound)
    assert above.get_yscale() == "log"
    assert [panel.get_xlabel() for panel in (above, gap, accuracy)][-1] == "Steps"
    np.testing.assert_array_equal(gap.get_lines()[0].get_xdata(), trace["steps"])
    for name, column in (("Rows", "training_error"), ("Held-out", "test_error")):
        found = line_of(accuracy, name)
        np.testing.assert_array_equal(found.get_xdata(), trace["steps"])
        np.testing.assert_array_equal(found.get_ydata(), 1.0 - trace[column])
    low, high = accuracy.get_ylim()
    assert low < 1.0 - trace["test_error"].max()
    assert high > 1.0
    assert legend(accuracy)[0] == (
        f"Rows of the fit, {1.0 - trace['training_error'].iloc[-1]:.2%} at the end"
    )


def test_the_distance_is_from_the_optimum_that_is_given(digits):
    least = 0.5 * digits.trace["objective"].min()
    (above,) = digits.plot.trace("steps", optimum=least, ax=panels())
    (line,) = above.get_lines()
    assert line.get_label() == "Objective above the optimum"
    np.testing.assert_array_equal(line.get_ydata(), digits.trace["objective"] - least)
    for wrong, named in (
        ({"x": "rows"}, "x='rows'"),
        ({"optimum": 0.0}, "optimum="),
        ({"x": "steps", "optimum": 1e6}, r"optimum=1000000\.0"),
    ):
        with pytest.raises(OptionError, match=f"^{named}"):
            digits.plot.trace(**wrong)


def test_losses_are_drawn_by_their_formulas():
    ax = ps.plot_losses(ax=panels())
    m, error = line_of(ax, "0-1: an error").get_data()
    np.testing.assert_array_equal(error, m < 0)
    assert m.min() < -1
    assert m.max() > 2
    hinge = line_of(ax, "Hinge: max(0, 1 - m)").get_ydata()
    np.testing.assert_array_equal(hinge, [max(0.0, 1.0 - x) for x in m])
    log = line_of(ax, "Log: log(1 + exp(-m))").get_ydata()
    np.testing.assert_allclose(log, np.log1p(np.exp(-m)), rtol=1e-14)  # by two formulas
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Margin m", "Loss of a row")


def test_the_trace_needs_one_and_its_panels(digits, kernel):
    with pytest.raises(OptionError, match=r"fit\(trace=True\)"):
        kernel.plot.trace()
    with pytest.raises(OptionError, match="ax holds 4 panels"):
        digits.plot.trace(ax=panels(2, 2))
    with pytest.raises(OptionError, match="ax is of type str"):
        digits.plot.trace(ax="panel")
    assert len(digits.plot.trace(ax=panels(2))) == 2

"""Standard errors of fits from files: those of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan.measuring import Measured
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.models.inference import estimating
from pegasos_stats.models.inference.estimating import estimated_covariance
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.solvers.reads import rows
from tests.scan.scan_files import frame_of, told_apart, written

SOLVER = ps.SDCA(tol=1e-8, seed=1)
SAME = 1e-10  # relative to the largest: sums of the same numbers in another order
CANCELLED = 1e-13  # of a gradient, that is next to nothing of what is summed
CASES = {
    "hinge": (ps.svm, "y ~ x0 + x1 + x2", {}),
    "hinge, balanced": (ps.svm, "y ~ x0 + g", {"weights": "balanced"}),
    "hinge, weights": (ps.svm, "y ~ x0 + x2 - 1", {"weights": "w"}),
    "hinge, scaled": (ps.svm, "y ~ x0 + C(k)", {"standardize": True, "weights": "w"}),
    "hinge, far": (ps.svm, "y ~ x0 + I(x1 + 1000)", {}),
    "hinge, counts": (ps.svm, "y ~ x0 + x2", {"freq_weights": "k"}),
    "hinge, offset": (ps.svm, "y ~ x0 + offset(x1 / 2)", {"offset": "x2"}),
    "log, offset": (ps.logit, "y ~ x0 + I(x2 + 1000)", {"offset": "w"}),
    "log": (ps.logit, "y ~ x0 * x1 + g", {}),
    "log, scaled": (
        *(ps.logit, "y ~ x0 + I(x1 + 2) - 1"),
        {"weights": "balanced", "standardize": True},
    ),
    "log, far": (ps.logit, "y ~ x0 + I(x1 + 1000)", {"weights": "w"}),
}


@pytest.fixture(scope="module")
def data():
    return told_apart(frame_of(1500))


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    return written(data, tmp_path_factory.mktemp("scan"), group=130)


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def both(request, data, files):
    model, formula, options = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "NUMBERS", 300)  # several blocks in each piece
        there = model(formula, ps.scan(files), lam=0.01, **options).fit(SOLVER)
        yield there, model(formula, data, lam=0.01, **options)


def in_memory(there, model, options):
    """The covariance of the same solution, by the rows in memory."""
    given = there.solution, options, model.scaling
    return estimated_covariance(model.problem, *given)


def check(found, expected):
    np.testing.assert_allclose(
        found, expected, rtol=0.0, atol=SAME * np.abs(expected).max()
    )


@pytest.mark.parametrize("name", ["HC0", "HC1", "nonrobust", "rule"])
def test_covariances_are_those_of_the_rows_in_memory(name, both):
    there, model = both
    plain = there.problem.loss == "log" and there.problem.weights is None
    if name == "nonrobust" and not plain:
        with pytest.raises(OptionError):
            there.with_covariance(name)
        return
    options = (
        Sandwich("hall-sheather", factor=0.7, move=False)
        if name == "rule"
        else Sandwich(correction=name)
    )
    result = there.with_covariance(options)
    found, expected = result.estimated, in_memory(there, model, options)
    for field in ("matrix", "bread", "meat", "pull", "newton_step", "fixed"):
        one, other = getattr(found, field), getattr(expected, field)
        assert (one is None) == (other is None)
        if field == "newton_step" and one is not None:
            # H^-1 of a gradient: what is left where sums cancel, and what H brings.
            of_bread = SAME * np.linalg.cond(expected.bread) * np.abs(other).max()
            np.testing.assert_allclose(one, other, rtol=0.0, atol=CANCELLED + of_bread)
        elif one is not None:
            check(one, other)
    assert found.description == expected.description
    assert found.notes == expected.notes
    check(result.bse, expected.std_error)


def test_tests_of_several_hypotheses_are_those_in_memory(both):
    there, model = both
    if there.problem.loss == "log":
        return
    found = there.with_covariance("HC1").estimated
    assert found.joint is None
    expected = in_memory(there, model, Sandwich(correction="HC1"))
    completed = found.completed()
    check(completed.joint, expected.joint)
    assert completed.rows == pytest.approx(expected.rows, rel=SAME)


@pytest.fixture(scope="module")
def fitted(files):
    return ps.svm("y ~ x0 + x2 + g", ps.scan(files), lam=0.01).fit(SOLVER)


def test_they_take_two_reads_and_one_with_the_log_loss(fitted, files, monkeypatch):
    reads, read = [], Measured.tables
    monkeypatch.setattr(Measured, "tables", lambda m: reads.append(m) or read(m))
    result = fitted.with_covariance("HC1")
    assert (result.bse > 0.0).all()
    assert len(reads) == 2
    result.summary()
    result.conf_int()
    assert len(reads) == 2
    result.wald_test("x0 = 0, x2 = 0")
    assert len(reads) == 6
    result.wald_test_terms()
    assert len(reads) == 6
    reads.clear()
    for lam, number in ((0.1, 1), (0.001, 2)):  # to look at certain rows
        other = ps.logit("y ~ x0", ps.scan(files), lam=lam).fit(SOLVER)
        reads.clear()
        assert other.tidy()["p_value"].notna().all()
        assert len(reads) == number


def test_the_summary_shows_them(fitted, data):
    here = ps.svm("y ~ x0 + x2 + g", data, lam=0.01).fit(SOLVER, cov_type="sandwich")
    table, expected = fitted.tidy(), here.tidy()
    assert list(table) == list(expected)
    numbers = table.columns[1:]
    # The two fits are apart by their gaps, some 1e-9: sqrt(2 gap / lam).
    np.testing.assert_allclose(table[numbers], expected[numbers], atol=2e-3)
    assert "Standard errors: HC0" in str(fitted.summary())
    assert fitted.conf_int().shape == (6, 2)
    assert fitted.t_test("x0 = x2").pvalue.shape == (1,)


def test_a_warning_stands_where_resamples_would_be_needed(fitted):
    notes = [each for each in fitted.notes_on_errors() if each.severity == "warning"]
    assert [(note.text, note.cure) for note in notes] == [
        (
            "rows can tie at the margin of the hinge, as 3 of 5 predictors have few "
            "different values: these intervals may be too short.",
            None,
        )
    ]


@pytest.mark.parametrize(
    ("cov_type", "why"),
    [
        ("bootstrap", "cov_type='bootstrap' fits again and again"),
        (ps.Bootstrap(99, seed=1), "cov_type='bootstrap' fits again and again"),
        ("HC2", "cov_type='HC2' asks for the leverage of every row"),
        (Sandwich(correction="HC3"), "cov_type='HC3' asks for the leverage of every"),
    ],
)
def test_what_needs_rows_in_memory_is_refused(cov_type, why, fitted, files):
    model = ps.svm("y ~ x0", ps.scan(files), lam=0.01)
    for ask in (fitted.with_covariance, lambda kind: model.fit(cov_type=kind)):
        with pytest.raises(OptionError) as found:
            ask(cov_type)
        message = str(found.value)
        assert message.startswith(why)
        assert message.endswith(
            ", which needs the rows in memory, and does not go with ps.scan(); give "
            "'sandwich', 'HC1' or 'none'."
        )


def test_groups_are_refused(fitted):
    with pytest.raises(OptionError) as found:
        fitted.with_covariance("cluster", groups=np.ones(3))
    assert str(found.value) == (
        "groups= needs the rows in memory and does not go with ps.scan(); leave it out."
    )


def test_they_are_saved_with_the_fit(fitted, tmp_path):
    errors = fitted.with_covariance("HC1")
    table, test = errors.tidy(), errors.wald_test("x0 = 0, x2 = 0")
    ps.save(errors, tmp_path / "fit.model")
    loaded = ps.load(tmp_path / "fit.model")
    pd.testing.assert_frame_equal(loaded.tidy(), table)
    assert loaded.wald_test("x0 = 0, x2 = 0").pvalue == test.pvalue
    ps.save(fitted.with_covariance("HC1"), tmp_path / "none.model")
    with pytest.raises(DataError, match="The training rows are not in a saved "):
        _ = ps.load(tmp_path / "none.model").bse


def test_many_coefficients_are_left_to_be_asked_for(fitted, monkeypatch):
    monkeypatch.setattr(estimating, "MOST_PRODUCTS", 1.0)
    result = fitted.with_covariance("HC1")
    (note,) = result.notes_on_errors()
    assert "1,496 rows and 5 coefficients" in note.text
    assert result.summary().params.columns.tolist() == ["coef"]
    assert (result.conf_int()[0] < result.conf_int()[1]).all()

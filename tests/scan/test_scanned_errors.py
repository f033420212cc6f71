"""Standard errors of fits from files: those of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan import rows
from pegasos_stats.data.scan.rows import StreamedRows
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.sandwich import sandwich
from tests.scan.scan_files import frame_of, told_apart, written

SOLVER = ps.Optimum(tol=1e-8, seed=1)
SAME = 1e-10  # relative to the largest: sums of the same numbers in another order
CANCELLED = 1e-13  # of a gradient, that is next to nothing of what is summed
SCALED = {"weights": "balanced", "standardize": True}
CASES = {
    "hinge, balanced": (ps.svm, "y ~ x0 + g", {"weights": "balanced"}),
    "hinge, weights": (ps.svm, "y ~ x0 + x2 - 1", {"weights": "w"}),
    "hinge, scaled": (ps.svm, "y ~ x0 + C(k)", {"standardize": True, "weights": "w"}),
    "hinge, far": (ps.svm, "y ~ x0 + I(x1 + 1000)", {}),
    "hinge, offset": (ps.svm, "y ~ x0 + offset(x1 / 2)", {"offset": "x2"}),
    "log, offset": (ps.logit, "y ~ x0 + I(x2 + 1000)", {"offset": "w"}),
    "log": (ps.logit, "y ~ x0 * x1 + g", {}),
    "log, scaled": (ps.logit, "y ~ x0 + I(x1 + 2) - 1", SCALED),
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
        patch.setattr(rows, "STREAM_BLOCK", 300)  # several blocks in each piece
        there = model(formula, ps.scan(files), lam=0.01, **options).fit(SOLVER)
        yield there, model(formula, data, lam=0.01, **options)


def check(found, expected):
    np.testing.assert_allclose(
        found, expected, rtol=0.0, atol=SAME * np.abs(expected).max()
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HC0", "HC1", "HC2", "HC3", "nonrobust"])
def test_covariances_are_those_of_the_rows_in_memory(name, both):
    there, model = both
    options = Sandwich(correction=name)
    if (there.problem.loss == "hinge" and name != "HC0") or (
        name == "nonrobust" and there.problem.weights is not None
    ):
        with pytest.raises(OptionError, match=name):
            there.with_covariance(options)
        return
    result = there.with_covariance(options)
    given = model.problem, there.solution, options, model.scaling
    found, expected = result.estimated, sandwich(*given)
    for field in ("matrix", "bread", "newton_step", "fixed"):
        one, other = getattr(found, field), getattr(expected, field)
        assert (one is None) == (other is None)
        if field == "newton_step" and one is not None:
            # H^-1 of a gradient: what is left where sums cancel, and what H brings.
            of_bread = SAME * np.linalg.cond(expected.bread) * np.abs(other).max()
            np.testing.assert_allclose(one, other, rtol=0.0, atol=CANCELLED + of_bread)
        elif one is not None:
            check(one, other)
    assert found.rows == expected.rows
    assert found.notes == expected.notes
    check(result.bse, expected.std_error)


@pytest.fixture(scope="module")
def fitted(files):
    model = ps.svm("y ~ x0 + x2 + g", ps.scan(files), lam=0.01)
    return model.fit(SOLVER, cov_type="sandwich")


def test_they_take_two_or_three_reads(fitted, files, monkeypatch):
    """For sums, for the influence of each row, and for the kernel of the hinge."""
    reads, read = [], StreamedRows._pieces
    monkeypatch.setattr(StreamedRows, "_pieces", lambda m: reads.append(m) or read(m))
    result = fitted.with_covariance("sandwich")
    assert (result.bse > 0.0).all()
    assert len(reads) == 3
    result.summary()
    result.conf_int()
    result.wald_test("x0 = 0, x2 = 0")
    assert len(reads) == 3
    # A strong penalty holds margins back, and more reads look for separated rows.
    for lam, number in ((None, 2), (0.1, 4)):
        other = ps.logit("y ~ x0", ps.scan(files), lam=lam).fit(SOLVER)
        reads.clear()
        assert other.tidy()["p_value"].notna().all()
        assert len(reads) == number


def test_they_are_saved_with_the_fit(fitted, tmp_path):
    table, test = fitted.tidy(), fitted.wald_test("x0 = 0, x2 = 0")
    ps.save(fitted, tmp_path / "fit.model")
    loaded = ps.load(tmp_path / "fit.model")
    pd.testing.assert_frame_equal(loaded.tidy(), table)
    assert loaded.wald_test("x0 = 0, x2 = 0").pvalue == test.pvalue
    ps.save(fitted.with_covariance("sandwich"), tmp_path / "none.model")
    with pytest.raises(DataError):
        _ = ps.load(tmp_path / "none.model").bse

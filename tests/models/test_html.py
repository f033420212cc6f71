"""What a notebook shows of results and tables: whole, and escaped."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.output.test_report import Reader

WICKED = "<script>alert('x')</script> & co"
N = 40


def shown(thing):
    page = Reader(thing._repr_html_())
    assert "script" not in {tag for tag, _ in page.tags}
    return page.text


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    y = np.where(np.arange(N) % 2, WICKED, "plain <b>")
    x = rng.normal(size=N) + (np.arange(N) % 2)
    return pd.DataFrame({WICKED: y, f"x {WICKED}": x, "z": rng.normal(size=N)})


@pytest.fixture(scope="module")
def logit(data):
    return ps.Logit(data[WICKED], data.drop(columns=WICKED), lam=0.01)


def everything(data, logit):
    """Fits, studies and tables, with names that are written in HTML."""
    y, X = data[WICKED], data.drop(columns=WICKED)
    quick = ps.SDCA(seed=1)
    result = logit.fit(ps.SDCA(tol=1e-8, seed=1))
    return {
        "fit": result,
        "kernel": ps.KernelSVM(y, X, lam=0.1).fit(ps.Pegasos(epochs=2, seed=1)),
        "validation": ps.cross_validate(logit, quick, folds=3, seed=1),
        "path": ps.lambda_path(logit, [0.1, 0.01]),
        "calibrated": ps.calibrate(logit, quick, folds=3, seed=1),
        "confusion": result.confusion(),
        "test": result.with_covariance("HC0").t_test("z = 0"),
        "compared": ps.compare_predictions(
            y, y, result.predict(), names=(WICKED, "B & B")
        ),
    }


def test_everything_is_whole_and_escaped_in_a_notebook(data, logit):
    found = everything(data, logit)
    text = {name: shown(thing) for name, thing in found.items()}
    for name in ("fit", "confusion", "compared"):
        assert WICKED in text[name]
    for name in ("kernel", "validation", "path", "calibrated"):
        assert found[name]._repr_html_() == found[name].summary().to_html()


def test_a_notebook_computes_no_standard_errors_by_itself(logit):
    result = logit.fit(ps.SDCA(tol=1e-8, seed=1))
    assert "std err" not in shown(result)
    assert not result.has_covariance
    result.bse  # noqa: B018
    assert "std err" in shown(result)

"""Numbers of how-to pages, beside those of the programs that they name."""

import re
from functools import cache
from pathlib import Path
from textwrap import dedent

import matplotlib as mpl
import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import logit
from statsmodels.nonparametric.smoothers_lowess import lowess

import pegasos_stats as ps  # noqa: F401

mpl.use("Agg")

HOWTO = Path(__file__).parents[1] / "docs" / "howto"
ROUNDING = 1e-12  # the same sums in another order
BLOCK = re.compile(r"^\.\. run::\n(?:   :.*\n)*\n((?:   .*\n|\n)+)", re.MULTILINE)


@cache
def page(name):
    """What the names on a page stand for once its lines were run."""
    names = {}
    text = (HOWTO / f"{name}.rst").read_text(encoding="utf-8")
    for block in BLOCK.findall(text):
        exec(compile(dedent(block), name, "exec"), names)
    mpl.pyplot.close("all")
    return names


def r_vector(values):
    return f"c({', '.join(f'{value:.17g}' for value in values)})"


def test_areas_are_compared_as_by_proc(r):
    if not r.eval('nzchar(system.file(package = "pROC"))')[0]:
        pytest.skip("R's package pROC is not installed")
    names = page("compare_areas")
    test = names["test"]
    scores = [names[fit].decision_function(test) for fit in ("both", "radius")]
    for found, pair in (
        (names["found"], scores),
        (names["one"], [test["mean_concavity"], test["mean_radius"]]),
    ):
        a, b = map(r_vector, pair)
        expected = r.eval(
            f"local({{y <- {r_vector(test['tumour'] == 'malignant')}\n"
            "of <- function(s) pROC::roc(y, s, levels = 0:1, direction = '<')\n"
            f"t <- pROC::roc.test(of({a}), of({b}), method = 'delong')\n"
            "c(t$estimate, t$statistic, t$p.value, t$conf.int)})"
        )
        values = [found.area_a, found.area_b, found.statistic, found.pvalue]
        np.testing.assert_allclose([*values, *found.interval], expected, ROUNDING)


def test_calibration_is_that_of_statsmodels():
    names = page("check_calibration")
    new = names["new"]
    happened = (new["affair"] == "yes").to_numpy(dtype=float)
    for fit, found in (("few", "found"), ("all_rows", "better")):
        p = names[fit].predict_proba(new)["yes"].to_numpy()
        family, z = sm.families.Binomial(), logit(p)
        slope = sm.GLM(happened, sm.add_constant(z), family).fit(tol=1e-12)
        large = sm.GLM(happened, np.ones(len(z)), family, offset=z).fit(tol=1e-12)
        smooth = lowess(happened, p, it=0, delta=0.0, return_sorted=False)
        found = names[found]
        for value, interval, peer in (
            (found.slope, found.slope_interval, slope),
            (found.intercept, found.intercept_interval, large),
        ):
            expected = [peer.params[-1], *peer.conf_int()[-1]]
            np.testing.assert_allclose([value, *interval], expected, 1e-8)
        assert found.ici == pytest.approx(np.abs(smooth - p).mean(), rel=1e-4)

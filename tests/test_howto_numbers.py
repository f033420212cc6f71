"""Numbers of how-to pages, beside those of the programs that they name."""

import re
from functools import cache
from html import unescape
from pathlib import Path
from textwrap import dedent

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from matplotlib import pyplot
from scipy.special import logit
from sklearn.metrics import (
    average_precision_score,
    precision_score,
    recall_score,
    roc_auc_score,
)
from statsmodels.imputation.mice import MICE
from statsmodels.nonparametric.smoothers_lowess import lowess

import pegasos_stats as ps

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
    pyplot.close("all")
    return names


def r_vector(values):
    return f"c({', '.join(f'{value:.17g}' for value in values)})"


def test_areas_are_compared_as_by_proc(r):
    if not r.eval('nzchar(system.file(package = "pROC"))')[0]:
        pytest.skip("R's package pROC is not installed")
    names = page("compare_models")
    new, fits = names["new"], names["fits"]
    scores = [fits[fit].decision_function(new) for fit in ("numbers", "years")]
    for found, pair in (
        (names["areas"], scores),
        (names["one"], [-new["rate_marriage"], new["yrs_married"]]),
    ):
        a, b = map(r_vector, pair)
        expected = r.eval(
            f"local({{y <- {r_vector(new['affair'] == 'yes')}\n"
            "of <- function(s) pROC::roc(y, s, levels = 0:1, direction = '<')\n"
            f"t <- pROC::roc.test(of({a}), of({b}), method = 'delong')\n"
            "c(t$estimate, t$statistic, t$p.value, t$conf.int)})"
        )
        values = [found.area_a, found.area_b, found.statistic, found.pvalue]
        np.testing.assert_allclose(values, expected[:4], ROUNDING)


def test_calibration_is_that_of_statsmodels():
    names = page("check_calibration")
    new = names["new"]
    happened = (new["affair"] == "yes").to_numpy(dtype=float)
    for fit, found in (("few", "small"), ("all_rows", "better")):
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


def test_pooled_fits_are_those_of_mice(monkeypatch):
    pytest.importorskip("statsmodels", "0.15")  # whose MICE takes rng=, as on the page
    monkeypatch.chdir(HOWTO.parent / "data")
    names = page("multiple_imputation")
    formula, given = names["formula"], {"family": sm.families.Binomial()}
    chain = MICE(formula, sm.GLM, names["chain"], init_kwds=given)
    frames = [
        frame.assign(readmitted=1.0 * frame["readmitted"].eq("yes"))
        for frame in names["frames"]
    ]
    models = [sm.GLM.from_formula(formula, frame, **given) for frame in frames]
    chain.results_list = [model.fit(cov_type="HC0", tol=1e-12) for model in models]
    chain.exog_names, chain.endog_names = models[0].exog_names, "readmitted"
    peer = chain.combine()
    columns = {"b": peer.params, "se": peer.bse, "share": peer.frac_miss_info}
    peer = pd.DataFrame(columns, index=peer.exog_names)
    of_hc0 = ps.pool([fit.with_covariance("HC0") for fit in names["fits"]])
    table = of_hc0.tidy().set_index("term")
    peer = peer.loc[table.index]
    np.testing.assert_allclose(table["estimate"], peer["b"], 1e-8)
    np.testing.assert_allclose(table["std_error"], peer["se"], 1e-8)
    np.testing.assert_allclose(table["lambda"], peer["share"], 1e-8)
    assert table["estimate"].tolist() == names["pooled"].params.tolist()
    np.testing.assert_allclose(names["pooled"].bse, of_hc0.bse, 0.02)  # HC3


def test_rows_are_predicted_as_by_statsmodels(monkeypatch):
    monkeypatch.chdir(HOWTO.parent / "data")
    names = page("predictions_with_errors")
    data = names["data"].assign(readmitted=1.0 * names["data"]["readmitted"].eq("yes"))
    peer = smf.logit(names["formula"], data).fit(disp=0, cov_type="HC0")
    found, result, new = names["frame"], names["result"], names["new"]
    expected = peer.get_prediction(new).summary_frame()
    np.testing.assert_allclose(found, expected, 1e-8)
    link = result.get_prediction(new, scale="link").summary_frame(alpha=0.1)
    peer = peer.get_prediction(new, which="linear").summary_frame(alpha=0.1)
    np.testing.assert_allclose(link, peer, 1e-8)
    errors = result.augment(new, se_fit=True)[["score_se", "probability_se"]]
    np.testing.assert_allclose(errors, np.c_[peer["se"], expected["se"]], 1e-8)


def test_a_rare_class_is_judged_as_by_scikit_learn():
    names = page("rare_class")
    new, found = names["new"], names["curve"]
    ill, scores = new["ill"] == "yes", names["result"].decision_function(new)
    expected = average_precision_score(ill, scores)
    assert found.average_precision == pytest.approx(expected, rel=ROUNDING)
    area = names["roc"].loc["auc", "estimate"]
    assert area == pytest.approx(roc_auc_score(ill, scores), rel=ROUNDING)
    for line in (names["half"], names["most"]):
        called = scores >= line["threshold"]
        assert line["recall"] == recall_score(ill, called)
        assert line["precision"] == precision_score(ill, called)


def test_a_decision_curve_is_that_of_its_formula():
    names = page("decision_curve")
    table, malignant = names["table"], names["test"]["tumour"] == "malignant"
    assert len(table) == 50
    models = {k: p["malignant"] for k, p in names["probabilities"].items()}
    for name, p in (models | {"all": 0.0 * models["radius"] + 1.0}).items():
        for at, value in table[name].items():
            true, false = (
                ((p >= at) & malignant).mean(),
                ((p >= at) & ~malignant).mean(),
            )
            expected = true - false * at / (1.0 - at)
            assert value == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


def test_terms_that_are_explained_are_those_of_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page("read_report")
    texts = [
        unescape(re.sub(r"<(style|svg).*?</\1>|<[^>]+>", "", path.read_text("utf-8")))
        for path in tmp_path.glob("*.html")
    ]
    source = (HOWTO / "read_report.rst").read_text(encoding="utf-8")
    terms = re.findall(r"^\*([^*]+)\*\n   ", source, flags=re.MULTILINE)
    assert len(terms) == 15
    assert [term for term in terms if not any(term in text for text in texts)] == []

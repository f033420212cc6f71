"""Fits side by side: numbers, alignment by name, and every form of the table."""

import re

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

SOLVER = ps.SDCA(tol=1e-9, seed=1)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x_1", "z"])
    data["y"] = np.where(data["x_1"] + rng.normal(size=120) > 0.3, "yes", "no")
    return data


@pytest.fixture(scope="module")
def fits(data):
    return {
        "a|b": ps.logit("y ~ x_1", data, lam=0.01).fit(SOLVER, cov_type="HC0"),
        "<b>": ps.logit("y ~ z + x_1", data, lam=0.02, standardize=True).fit(
            SOLVER, cov_type="HC1"
        ),
        "50%": ps.svm("y ~ z", data, lam=0.01).fit(SOLVER, cov_type="sandwich"),
        "k_1": ps.kernel_svm("y ~ z", data, lam=0.01, kernel="gaussian").fit(SOLVER),
    }


@pytest.fixture(scope="module")
def found(fits, data):
    tested = ps.cross_validate(
        ps.logit("y ~ x_1", data, lam=0.01), seed=1, metrics=["error_rate", "auc"]
    )
    return ps.compare_models(fits, stars=True, cross_validations={"a|b": tested})


def test_terms_are_matched_by_name(found, fits):
    frame = found.to_frame()
    assert list(frame) == ["a|b", "<b>", "50%", "k_1"]
    labels = frame.index.tolist()
    assert labels[:8] == ["Outcome", "Loss", "Intercept", "", "x_1", "", "z", ""]
    for name in ("a|b", "<b>", "50%"):
        table = fits[name].tidy().set_index("term")
        for term in ("Intercept", "x_1", "z"):
            at = labels.index(term)
            cell, below = frame[name].iloc[at], frame[name].iloc[at + 1]
            if term not in table.index:
                assert (cell, below) == ("", "")
                continue
            line = table.loc[term]
            assert float(cell.rstrip("*")) == pytest.approx(line["estimate"], rel=1e-3)
            assert float(below.strip("()")) == pytest.approx(
                line["std_error"], rel=1e-3
            )
            bounds = (0.001, 0.01, 0.05)
            assert cell.count("*") == sum(line["p_value"] < bound for bound in bounds)
    assert (frame["k_1"].iloc[2:8] == "").all()


def test_statistics_of_the_fits_are_below(found, fits):
    frame = found.to_frame()
    cells = {name: frame.loc[name].tolist() for name in frame.index if name}
    assert cells["Outcome"] == ["y = yes"] * 4
    assert cells["Loss"] == ["log", "log", "hinge", "hinge"]
    assert cells["Rows"] == ["120"] * 4
    assert cells["Standard errors"] == ["HC0", "HC1", "HC0", ""]
    assert cells["lambda"] == ["0.01", "0.02", "0.01", "0.01"]
    for title, name in (("Log-likelihood", "llf"), ("AIC", "aic"), ("BIC", "bic")):
        assert float(cells[title][0]) == pytest.approx(
            getattr(fits["a|b"], name), rel=1e-4
        )
        assert cells[title][2:] == ["", ""]
    for j, fit in enumerate(fits.values()):
        objective = float(cells["Objective"][j])
        assert objective == pytest.approx(fit.objective, rel=1e-4)
        assert cells["Training error"][j] == f"{fit.training_table.error_rate:.2%}"
    assert cells["Out of fold: error_rate"][0].endswith(")")
    assert cells["Out of fold: auc"][1:] == ["", "", ""]


def test_numbers_are_there_too(found, fits):
    table = found.tidy()
    assert list(table)[:3] == ["model", "term", "estimate"]
    one = table[table["model"] == "a|b"].drop(columns="model").reset_index(drop=True)
    pd.testing.assert_frame_equal(one, fits["a|b"].tidy())
    glance = found.glance()
    assert glance["model"].tolist() == list(fits)
    assert glance["outcome"].tolist() == ["y"] * 4
    assert glance["nobs"].tolist() == [120] * 4


@pytest.mark.parametrize("brackets", ["conf_int", "statistic"])
def test_no_name_or_interval_upsets_latex(data, brackets):
    """A star after a line's end, an empty line in a cell, minus signs in brackets."""
    names = {"x_1": "*x", "z": "a\n\nb [c]"}
    odd = data[["x_1", "z"]].rename(columns=names)
    fit = ps.Logit(data["y"], odd, lam=0.01).fit(SOLVER, cov_type="nonrobust")
    found = ps.compare_models({"*": fit, "- m": fit}, brackets=brackets)
    latex, frame = found.to_latex(), found.to_frame()
    rows = [line[:-3] for line in latex.splitlines() if line.endswith(r" \\")]
    assert not any(row.startswith(("*", "[")) for row in rows)
    assert not re.search(r"[({}\s]-\d", latex)
    rows = [re.sub(r"\\phantom\{[^}]*\}", "", row) for row in rows]
    for sign, shown in {"$-$": "-", "{[}": "[", "{}*": "*", r"\%": "%"}.items():
        rows = [row.replace(sign, shown) for row in rows]
    expected = [["", "*", "- m"], *(list(line) for line in frame.itertuples(name=None))]
    assert [row.split(" & ") for row in rows] == [
        [cell.replace("\n", " ") for cell in line] for line in expected
    ]


def test_every_form_escapes_names(found):
    html, latex = found._repr_html_(), found.to_latex()
    assert "a|b" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert r" & a$|$b & $<$b$>$ & 50\% & k\_1 \\" in latex
    assert r"x\_1 & " in latex
    lines = found.to_markdown().splitlines()
    assert lines[0] == r"|  | a\|b | \<b> | 50% | k\_1 |"
    assert lines[6].startswith(r"| x\_1 | ")
    assert str(found).splitlines()[1].split() == ["a|b", "<b>", "50%", "k_1"]


@pytest.mark.parametrize("kind", ["conf_int", "statistic", "p_value", "none"])
def test_what_stands_below_an_estimate(fits, kind):
    fit = fits["a|b"]
    frame = ps.compare_models([fit], brackets=kind, conf_level=0.9).to_frame()
    line, at = fit.tidy(0.9).iloc[1], frame.index.get_loc("x_1")
    if kind == "none":
        assert frame.index[at + 1] == "Rows"
        return
    below = frame["(1)"].iloc[at + 1]
    if kind == "conf_int":
        low, high = map(float, below.strip("[]").split(", "))
        assert low == pytest.approx(line["conf_low"], rel=1e-3)
        assert high == pytest.approx(line["conf_high"], rel=1e-3)
    else:
        # p-values have three digits after the point.
        assert float(below.strip("()")) == pytest.approx(line[kind], rel=1e-3, abs=5e-4)


def test_coefficients_of_the_predictors_as_they_were(fits):
    found = ps.compare_models({"s": fits["<b>"]}, original=True).tidy()
    peer = fits["<b>"].tidy(original=True).drop(columns="term")
    order = found["term"].map({"Intercept": 0, "z": 1, "x_1": 2})
    assert order.tolist() == [0, 1, 2]
    pd.testing.assert_frame_equal(found[peer.columns], peer)


def test_chosen_terms_in_their_order_and_stars_of_ones_own(fits):
    found = ps.compare_models(fits, terms=["z", "Intercept"], stars=(0.1, 0.9999999))
    assert found.to_frame().index.tolist()[2:6] == ["z", "", "Intercept", ""]
    assert found.stars == (0.1, 0.9999999)


@pytest.mark.parametrize(
    ("results", "given", "named"),
    [
        ({}, {}, "results={}"),
        ({"a": 1}, {}, "'a' is of type int"),
        (None, {"brackets": "se"}, "brackets='se'"),
        (None, {"stars": (0.1, 0.1)}, r"stars=\(0\.1, 0\.1\)"),
        (None, {"terms": ["q"]}, r"terms=\['q'\]"),
        (None, {"cross_validations": {"a|b": 1}}, "'a.b' is of type int"),
    ],
)
def test_what_is_not_allowed_is_named(fits, results, given, named):
    with pytest.raises(OptionError, match=named):
        ps.compare_models(fits if results is None else results, **given)
    with pytest.raises(OptionError, match="the name 1"):
        ps.compare_models({1: fits["a|b"]})

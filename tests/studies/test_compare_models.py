"""Fits side by side, and differences of their errors out of fold."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.studies.comparisons import paired_mean

# ---- Fits side by side: numbers, alignment by name, and every form of the table.

SOLVER = ps.Optimum(tol=1e-9, seed=1)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x_1", "z"])
    data["y"] = np.where(data["x_1"] + rng.normal(size=120) > 0.3, "yes", "no")
    return data


@pytest.fixture(scope="module")
def fits(data):
    scaled = ps.logit("y ~ z + x_1", data, lam=0.02, standardize=True)
    return {
        "a|b": ps.logit("y ~ x_1", data, lam=0.01).fit(SOLVER, cov_type="HC0"),
        "<b>": scaled.fit(SOLVER, cov_type="HC1"),
        "50%": ps.svm("y ~ z", data, lam=0.01).fit(SOLVER, cov_type="sandwich"),
        "k_1": ps.kernel_svm("y ~ z", data, lam=0.01, kernel="gaussian").fit(SOLVER),
    }


@pytest.fixture(scope="module")
def found(fits, data):
    model = ps.logit("y ~ x_1", data, lam=0.01)
    tested = ps.cross_validate(model, seed=1, metrics=["error_rate", "auc"])
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
            assert cell.rstrip("*") == f"{line['estimate']:.3f}"
            assert below == f"({line['std_error']:.3f})"
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
        value = getattr(fits["a|b"], name)
        assert cells[title][0] == f"{value:.1f}"
        assert cells[title][2:] == ["", ""]
    for j, fit in enumerate(fits.values()):
        objective = float(cells["Objective"][j])
        assert objective == pytest.approx(fit.objective, rel=1e-4)
        assert cells["Training error"][j] == f"{fit.training_table.error_rate:.1%}"
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
    assert found.notes[-1] == "Coefficients of standardized predictors: <b>."


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
    shown = [float(part) for part in below.strip("[()]").split(", ")]
    names = ["conf_low", "conf_high"] if kind == "conf_int" else [kind]
    # p-values have three digits after the point.
    assert shown == pytest.approx([*line[names]], rel=1e-3, abs=5e-4)


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
        ({"a": 1}, {}, "'a' is of type int"),
        (None, {"brackets": "se"}, "brackets='se'"),
        (None, {"stars": (0.1, 2.0)}, r"stars=2\.0"),
        (None, {"cross_validations": {"a|b": 1}}, "'a.b' is of type int"),
    ],
)
def test_what_is_not_allowed_is_named(fits, results, given, named):
    with pytest.raises(OptionError, match=named):
        ps.compare_models(fits if results is None else results, **given)
    with pytest.raises(OptionError, match="the name 1"):
        ps.compare_models({1: fits["a|b"]})


# ---- Differences of errors out of fold, paired by fold.


@pytest.fixture(scope="module")
def pupils():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(103, 3)), columns=list("uvw"))
    data["y"] = np.where(data["u"] + rng.normal(size=103) > 0.4, "yes", "no")
    return data.assign(school=np.arange(103) % 7, weight=1.0 + np.arange(103) % 3)


@pytest.fixture(scope="module")
def models(pupils):
    return {
        "u": ps.logit("y ~ u", pupils, lam=0.01),
        "v": ps.svm("y ~ v", pupils, lam=0.01),
        "all": ps.logit("y ~ u + v + w", pupils, lam=0.01),
    }


@pytest.fixture(scope="module")
def compared(models):
    return ps.compare_errors(models, folds=5, repeats=2, seed=3, workers=1)


def test_pairs_are_those_of_the_corrected_t_test(compared, models):
    table = compared.tidy()
    assert table["term"].tolist() == ["u - v", "u - all", "v - all"]
    by_fold = [each.by_fold for each in compared.cross_validations.values()]
    d = (by_fold[0]["error_rate"] - by_fold[1]["error_rate"]).to_numpy()
    n_test = by_fold[0]["n_test"].to_numpy()  # 21 and 20, so that means are weighted
    mean = np.average(d, weights=n_test)
    variance = np.average((d - mean) ** 2, weights=n_test) * 10 / 9
    share = np.mean(n_test / (103 - n_test))
    error = np.sqrt((1 / 10 + share) * variance)
    reach = t.ppf(0.975, 9) * error
    expected = {"estimate": mean, "std_error": error, "df": 9}
    expected |= {"conf_low": mean - reach, "conf_high": mean + reach}
    expected["p_value"] = 2 * t.sf(abs(mean / error), 9)
    found = table.iloc[0][list(expected)].to_dict()
    assert found == pytest.approx(expected, rel=1e-9)
    assert mean < -0.1
    again = ps.cross_validate(models["u"], folds=5, repeats=2, seed=3, workers=1)
    assert compared.means["u"] == again.mean["error_rate"]
    wide = compared.tidy(0.99)
    assert (wide["conf_high"] > table["conf_high"]).all()


def test_groups_stay_together_in_folds_by_group(models, pupils):
    pair = {name: models[name] for name in ("u", "all")}
    found = ps.compare_errors(pair, folds=3, groups="school", metric="auc", seed=1)
    assert found.tidy()["df"].tolist() == [2]
    for each in found.cross_validations.values():
        for train, test in each.folds:
            schools = [set(pupils["school"].iloc[rows]) for rows in (train, test)]
            assert schools[0].isdisjoint(schools[1])


def test_held_out_rows_count_with_their_weights(pupils):
    pair = {f: ps.logit(f"y ~ {f}", pupils, lam=0.01, weights="weight") for f in "uv"}
    found = ps.compare_errors(pair, folds=4, seed=1)
    one, two = (each.by_fold for each in found.cross_validations.values())
    d = one["error_rate"] - two["error_rate"]
    mean = np.average(d, weights=one["weight"])
    assert found.tidy()["estimate"][0] == pytest.approx(mean, rel=1e-12)
    assert mean != pytest.approx(np.average(d, weights=one["n_test"]), rel=1e-6)


def test_counts_are_rows(pupils):
    table = pupils.assign(n=1 + np.arange(len(pupils)) % 2)
    rows = table.iloc[np.repeat(np.arange(len(pupils)), table["n"])]
    short = {f: ps.logit(f"y ~ {f}", table, lam=0.01, freq_weights="n") for f in "uv"}
    long = {f: ps.logit(f"y ~ {f}", rows, lam=0.01) for f in "uv"}
    a, b = (ps.compare_errors(m, folds=4, seed=1).tidy() for m in (short, long))
    pd.testing.assert_frame_equal(a, b)


def test_folds_without_a_value_are_left_out():
    d, w = np.array([0.5, np.nan, 0.1, -0.3]), np.array([1.0, 9.0, 2.0, 1.0])
    found = paired_mean(d, w, 0.25)
    error = np.sqrt((1 / 3 + 0.25) * 0.08 * 1.5)
    assert found == pytest.approx((0.1, error, 2.0), rel=1e-12)
    assert np.isnan(paired_mean(d[:1], w[:1], 0.25)[1])


def test_a_cross_validation_gives_the_folds_wherever_it_stands(models):
    def misses(y, scores):
        return float(np.mean(y != np.sign(scores)))

    given = {"folds": 3, "seed": 2, "metrics": ["error_rate", misses]}
    done = ps.cross_validate(models["v"], **given)
    found = ps.compare_errors({"u": models["u"], "v": done}, metric=misses, seed=9)
    assert found.metric == "misses"
    assert list(found.means) == ["u", "v"]
    assert found.means["v"] == done.mean["misses"] != found.means["u"]
    again = ps.compare_errors(found.cross_validations, metric=misses)
    assert again.tidy().equals(found.tidy())


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (["u"], "models="),
        ({2: 1, "a": 2}, "the name 2"),
        ({"a": 1, "b": 2}, "'a' is of type int"),
    ],
)
def test_what_cannot_be_compared_is_named(asked, named):
    with pytest.raises(OptionError, match=named):
        ps.compare_errors(asked, folds=3, seed=1)


def test_models_of_other_rows_or_folds_are_refused(models, pupils):
    other = ps.svm("y ~ u", pupils.iloc[1:], lam=1.0)
    with pytest.raises(DataError, match="have 103 rows, but the model uses 102"):
        ps.compare_errors({"a": models["u"], "b": other}, folds=3, seed=1)
    done = [ps.cross_validate(models["u"], folds=3, seed=seed) for seed in (1, 2)]
    folds = dict(zip("ab", done, strict=True))
    with pytest.raises(DataError, match=r"^'b' and the first model differ"):
        ps.compare_errors(folds)


def test_models_that_err_alike_have_no_test_and_a_note_says_why(models):
    same = {"u": models["u"], "again": models["u"]}
    found = ps.compare_errors(same, folds=5, seed=3, workers=1)
    assert np.isnan(found.tidy()["p_value"].item())
    assert "'u - again': no test, because the standard error is 0 or missing." in str(
        found
    )

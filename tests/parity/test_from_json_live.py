"""R reads the JSON of a fit and gives the scores and labels of Python."""

import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

CLOSE = {"rtol": 1e-13, "atol": 1e-13}  # sums of terms in another order

FORMULAS = [
    "y ~ x + g + k",
    "y ~ g*x + C(h) - 1",
    "y ~ C(g, contr.sum) + C(h, contr.helmert):x",
    "y ~ log(x) + sqrt(k) + I(x**2) + I(k / 3) + log(k, 2) + exp(-x) + abs(k - 4)",
    "y ~ ifelse(x > 2, k, -1) + pmin(x, k) + pmax(x, 2) + I((x > 1) & (k < 6))",
    "y ~ scale(x) + I(k - mean(k)) + I(g in c('u', 'w\\\"s')) + C(k > 3) + I(g == 'v')",
]


@pytest.fixture
def data():
    draw = np.random.default_rng(5)
    n = 30
    return pd.DataFrame(
        {
            "y": draw.choice(["Ja", "Nö"], n),
            "x": draw.uniform(0.1, 4.0, n),
            "k": draw.integers(1, 9, n),
            "g": draw.choice(["u", "v", 'w"s'], n),
            "h": draw.choice([1, 2, 4], n),
        }
    )


def in_r(r, result, data, tmp_path):
    """Scores and labels that R computes from the file."""
    file = tmp_path / "fit.json"
    file.write_text(result.to_json(), encoding="utf-8")
    r.set("json_fit", None)
    r.eval(f"json_fit <- read_fit({json.dumps(str(file))})")
    r.set("json_data", {name: data[name] for name in data.columns})
    r.eval("json_data <- structure(json_data, class = 'data.frame', "
           f"row.names = seq_len({len(data)}L))")  # fmt: skip
    scores = r.eval("as.numeric(score_fit(json_fit, json_data))")
    return scores, r.eval("predict_fit(json_fit, json_data)")


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("standardize", [False, True])
def test_scores_and_labels(r, data, formula, standardize, tmp_path):
    model = ps.logit(formula, data, lam=0.05, standardize=standardize)
    result = model.fit(ps.Pegasos(3, seed=2))
    scores, labels = in_r(r, result, data, tmp_path)
    expected = result.decision_function(data)
    assert expected.std() > 1e-2
    np.testing.assert_allclose(scores, expected, **CLOSE)
    assert list(labels) == result.predict(data).tolist()


def test_one_column_gives_every_bit(r, data, tmp_path):
    result = ps.SVM(data["y"], data[["x"]], lam=1.0).fit(ps.Optimum(seed=1))
    scores, _ = in_r(r, result, data, tmp_path)
    assert np.array_equal(scores, result.decision_function(data))


def test_missing_values_and_unknown_levels(r, data, tmp_path):
    result = ps.svm("y ~ x + g + C(h)", data, lam=0.1).fit(ps.Pegasos(2, seed=1))
    holes = data.copy().astype({"g": object})
    holes.loc[0, "x"] = np.nan
    holes.loc[1, "g"] = None
    scores, labels = in_r(r, result, holes, tmp_path)
    np.testing.assert_allclose(scores, result.decision_function(holes), **CLOSE)
    assert list(labels[:2]) == [None, None]
    holes = data.assign(g=["new", *data["g"].tolist()[1:]])
    scores, _ = in_r(r, result, holes, tmp_path)
    assert np.isnan(scores).tolist() == [True] + [False] * 29


def test_a_condition_hides_no_missing_value(r, data, tmp_path):
    formula = "y ~ ifelse(x > 2, k, 0) + I((x > 2) | (k > 4)) + C(h)"
    result = ps.svm(formula, data, lam=0.1).fit(ps.Pegasos(2, seed=1))
    holes = data.astype({"k": float, "h": float}).assign(x=1.0, k=2.0)
    holes.loc[0, "k"], holes.loc[1, "x"], holes.loc[2, "h"] = [np.nan] * 3
    scores, _ = in_r(r, result, holes, tmp_path)
    assert np.isnan(scores).tolist() == [True] * 3 + [False] * 27
    np.testing.assert_allclose(scores, result.decision_function(holes), **CLOSE)


def test_hostile_names(r, data, tmp_path):
    names = [
        'a"b',
        "two\nlines",
        "tab\there",
        "\\n",
        "日本",
        "{}[],:",
        "C:\\dir",
        "\x01",
    ]
    draw = np.random.default_rng(1)
    X = pd.DataFrame(draw.normal(size=(30, len(names))), columns=names)
    result = ps.SVM(data["y"], X, lam=0.1).fit(ps.Pegasos(2, seed=1))
    scores, _ = in_r(r, result, X, tmp_path)
    np.testing.assert_allclose(scores, result.decision_function(X), **CLOSE)


def test_the_document(data):
    model = ps.svm("y ~ x + g", data, lam=0.1, standardize=True)
    result = model.fit(ps.Pegasos(2, seed=1))
    found = json.loads(result.to_json())
    assert list(found) == [
        "format", "version", "loss", "lam", "formula", "outcome", "solver",
        "methods", "seed", "has_intercept", "intercept", "terms",
    ]  # fmt: skip
    assert (found["loss"], found["lam"]["value"]) == ("hinge", 0.1)
    assert found["formula"] == "y ~ x + g"
    assert found["outcome"] == {"name": "y", "negative": "Ja", "positive": "Nö"}
    for term, name, beta, centre, scale in zip(
        found["terms"],
        result.coef.index,
        result.coef,
        result.scaling.centre,
        result.scaling.scale,
        strict=True,
    ):
        assert term["name"] == name
        for key, value in (("coefficient", beta), ("centre", centre), ("scale", scale)):
            assert term[key]["value"] == value
            assert float.fromhex(term[key]["hex"]) == value
    assert found["terms"][1]["parts"] == [
        [
            "levels",
            ["column", "g"],
            ["u", "v", 'w"s'],
            [{"value": v, "hex": v.hex()} for v in (0.0, 1.0, 0.0)],
        ]
    ]


def test_other_files_are_refused(r, tmp_path):
    file = tmp_path / "other.json"
    file.write_text('{"format": "something", "version": 1}', encoding="utf-8")
    code = f"tryCatch(read_fit({json.dumps(str(file))}), error = conditionMessage)"
    assert r.eval(code).tolist() == [
        "the file is not a linear fit of version 1 by pegasos_stats"
    ]

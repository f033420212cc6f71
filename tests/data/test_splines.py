"""Natural splines of formulas: columns of R, straight beyond the outer knots, kept."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.language.formula_design import design_of
from pegasos_stats.data.language.vocabulary import natural_spline

# round(rbind(ns(x, df = 3), predict(ns(x, df = 3), c(-1, 20))), 12) of R 4.2.2
X = np.array([0.0, 0.5, 1.0, 2.5, 3.0, 4.5, 6.0, 9.0])
OF_R = np.array(
    [
        [0.000000000000, 0.000000000000, 0.000000000000],
        [-0.081385200390, 0.209250038013, -0.125550022808],
        [-0.138882249221, 0.393501919350, -0.236101151610],
        [0.008227388605, 0.603255602561, -0.357686694870],
        [0.136466565106, 0.572833587235, -0.329300152341],
        [0.448223948711, 0.418440128221, -0.136664076933],
        [0.442748616382, 0.349128459044, 0.128122924574],
        [-0.157894736842, 0.394736842105, 0.763157894737],
        [0.170733117967, -0.426832794918, 0.256099676951],
        [-2.936842105263, 0.742105263158, 3.194736842105],
    ]
)
ROUNDED = 1e-11  # R's numbers are written with 12 places; far rows are up to 20 large


def columns(x, **given):
    return np.column_stack(list(natural_spline(x, **given).values()))


def test_columns_are_those_of_r_also_beyond_the_outer_knots():
    state = {}
    ours = np.vstack([columns(x, df=3, state=state) for x in (X, np.array([-1.0, 20]))])
    np.testing.assert_allclose(ours, OF_R, rtol=0.0, atol=ROUNDED)
    assert state["boundary"] == [0.0, 9.0]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("knots", [[], [2.0], [1.0, 2.0, 7.0], [2.0, 2.0, 3.0]])
def test_columns_are_straight_beyond_and_span_every_line(knots, intercept):
    given = {"knots": knots, "intercept": intercept, "Boundary_knots": [0.0, 9.0]}
    far = columns(np.array([-30.0, -20.0, -10.0, 19.0, 29.0, 39.0]), **given)
    assert far.shape[1] == len(knots) + 1 + intercept
    # Second differences of values of some 100: their rounding is some 1e-13.
    np.testing.assert_allclose(np.diff(far[:3], n=2, axis=0), 0.0, atol=1e-11)
    np.testing.assert_allclose(np.diff(far[3:], n=2, axis=0), 0.0, atol=1e-11)
    x = np.linspace(-2.0, 12.0, 40)
    basis = columns(x, **given)
    if not intercept:
        basis = np.column_stack([np.ones(40), basis])
    left = np.linalg.lstsq(basis, np.column_stack([np.ones(40), x]), rcond=None)[1]
    assert (left < 1e-20).all()  # squares of roundings


def test_knots_on_an_outer_one_are_moved_inside():
    x = np.array([0.0] * 30 + list(range(1, 21)))
    state = {}
    found = columns(x, df=4, state=state)
    quantiles = np.quantile(x, [0.25, 0.5, 0.75])
    assert quantiles[:2].tolist() == [0.0, 0.0]
    assert state["knots"] == [quantiles[2] / 8] * 2 + [quantiles[2]]  # R 4.4 and later
    same = columns(x, knots=state["knots"])
    np.testing.assert_array_equal(found, same)
    mirrored = {}
    columns(20.0 - x, df=4, state=mirrored)
    assert [20.0 - knot for knot in mirrored["knots"][::-1]] == state["knots"]


def frame(n=90):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.gamma(2.0, size=n), "g": rng.choice(["a", "b"], n)})
    data["y"] = np.where(np.sin(data["x"]) + rng.normal(size=n) > 0.3, "yes", "no")
    return data


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        ("ns(x, 2)", "ns(x, 2)[{}]"),
        ("splines::ns(x, knots=c(1))", "ns(x, knots=c(1))[{}]"),
        (
            "ns(x, Boundary.knots = c(0, 4), df=2)",
            "ns(x, Boundary_knots=c(0, 4), df=2)[{}]",
        ),
        ("ns(x, df=2, intercept=TRUE)", "ns(x, df=2, intercept=TRUE)[{}]"),
    ],
)
def test_formulas_of_r_are_read_as_they_are(terms, names):
    data = frame()
    design, matrix = design_of(f"y ~ {terms}", data, np.ones(len(data), dtype=bool))[:2]
    assert design.names == (names.format(1), names.format(2))
    assert matrix.values.shape == (len(data), 2)


def test_ns_with_the_knots_of_rcs_is_the_same_curve():
    """Harrell, Regression Modeling Strategies, eq. 2.25: k - 2 truncated cubics."""
    data = frame()
    first, *inner, last = (
        float(q) for q in data["x"].quantile([0.05, 0.35, 0.65, 0.95])
    )

    def cubic(knot):
        return np.maximum(data["x"] - knot, 0.0) ** 3

    width = last - inner[-1]
    for name, knot in {"a": first, "b": inner[0]}.items():
        before = cubic(inner[-1]) * (last - knot) / width
        data[name] = cubic(knot) - before + cubic(last) * (inner[-1] - knot) / width
    ours = f"ns(x, knots=c({inner[0]}, {inner[1]}), Boundary.knots=c({first}, {last}))"
    fits = [ps.logit(f"y ~ {terms}", data).fit() for terms in (ours, "x + a + b")]
    assert fits[0].params.size == 4
    # One space of curves in two bases. Maximum likelihood has eight digits of each
    # coefficient, and the log-likelihood, flat at its maximum, has more.
    assert fits[0].llf == pytest.approx(fits[1].llf, rel=1e-8)
    other_knots = ps.logit("y ~ ns(x, df=3)", data).fit()
    assert abs(other_knots.llf - fits[0].llf) > 1e-3


def test_a_saved_fit_codes_new_rows_as_the_fit_did(tmp_path):
    data = frame()
    result = ps.logit("y ~ ns(x, df=3) + g", data, lam=0.01).fit()
    new = pd.DataFrame({"x": [-4.0, 0.3, 60.0], "g": ["a", "b", "a"]})
    ps.save(result, tmp_path / "fit")
    again = ps.load(tmp_path / "fit")
    assert again.predict_proba(new).equals(result.predict_proba(new))
    slopes = result.params.filter(like="ns(")
    ends = [data["x"].min(), data["x"].max()]
    state = {"boundary": ends, "knots": np.quantile(data["x"], [1 / 3, 2 / 3]).tolist()}
    by_hand = columns(new["x"], df=3, state=state) @ slopes.to_numpy()
    by_hand += result.intercept + (new["g"] == "b") * result.params["g[T.b]"]
    # sums of four products, by another order
    np.testing.assert_allclose(result.decision_function(new), by_hand, rtol=1e-13)


@pytest.mark.parametrize("term", ["ns(x, df=3)", "scale((x > 0) & (x < 1))"])
def test_rows_are_not_coded_without_what_was_found_at_the_fit(term):
    """As the state of a file that has a call under another text: no other basis."""
    data = frame()
    design, _, _ = design_of(f"y ~ {term}", data, np.ones(len(data), dtype=bool))
    assert len(design.state) == 1
    lost = dataclasses.replace(design, state={})
    with pytest.raises(ps.errors.FormulaError, match="fit again"):
        lost.matrix(data)

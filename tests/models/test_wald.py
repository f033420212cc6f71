"""Tests of linear hypotheses: against statsmodels, and how hypotheses are read."""

import numpy as np
import pytest
import statsmodels.api as sm

from pegasos_stats.data.language.hypotheses import constraints
from pegasos_stats.errors import OptionError
from pegasos_stats.models.inference.wald import wald_test, whitening
from tests.models.peers import t_test

# The same sums in another order.
SAME = 1e-9

NAMES = ["Intercept", "GPA", "TUCE", "PSI"]
HYPOTHESES = [
    "GPA = 0",
    "GPA = TUCE, PSI = 1",
    "2 * GPA - PSI = 3 * TUCE + 1, Intercept = -13",
    "GPA = TUCE = 0",
    np.eye(4)[1:],
    (np.array([[0.0, 1.0, -1.0, 0.0], [0.0, 0.0, 1.0, 2.0]]), np.array([0.5, 1.0])),
]


@pytest.fixture(scope="module")
def logit():
    data = sm.datasets.spector.load_pandas()
    X = sm.add_constant(data.exog).rename(columns={"const": "Intercept"})
    return sm.Logit(data.endog, X).fit(disp=0, cov_type="HC0")


@pytest.fixture(scope="module")
def ols():
    data = sm.datasets.spector.load_pandas()
    X = sm.add_constant(data.exog).rename(columns={"const": "Intercept"})
    return sm.OLS(data.endog, X).fit()


@pytest.mark.parametrize("hypotheses", HYPOTHESES, ids=str)
@pytest.mark.parametrize("model", ["logit", "ols"])
def test_it_is_that_of_statsmodels(hypotheses, model, request):
    """Logit has the normal and the chi-squared law, OLS Student's t and the F law."""
    peer = request.getfixturevalue(model)
    theta, V = peer.params.to_numpy(), peer.cov_params().to_numpy()
    df = peer.df_resid if model == "ols" else np.inf
    R, q = constraints(hypotheses, NAMES)
    theirs = (R, q)  # their text forms differ from one version to the next
    each = t_test(theta, V, R, q, df)
    one_by_one = peer.t_test(theirs)
    np.testing.assert_allclose(each.estimate, one_by_one.effect, rtol=SAME)
    np.testing.assert_allclose(each.std_error, one_by_one.sd.ravel(), rtol=SAME)
    np.testing.assert_allclose(each.statistic, one_by_one.tvalue.ravel(), rtol=SAME)
    np.testing.assert_allclose(each.p_value, one_by_one.pvalue, rtol=SAME)
    limits = np.column_stack([each.conf_low, each.conf_high])
    np.testing.assert_allclose(limits, one_by_one.conf_int(), rtol=SAME)
    together, joint = wald_test(theta, V, R, q, df), peer.wald_test(theirs, scalar=True)
    assert together.statistic == pytest.approx(joint.statistic, rel=SAME)
    assert together.pvalue == pytest.approx(joint.pvalue, rel=SAME)
    assert together.df_num == len(R)


def test_a_hypothesis_that_follows_from_others_is_not_counted_twice(logit):
    theta, V = logit.params.to_numpy(), logit.cov_params().to_numpy()
    twice = wald_test(
        theta, V, *constraints("GPA = TUCE, TUCE = PSI, GPA = PSI", NAMES)
    )
    once = wald_test(theta, V, *constraints("GPA = TUCE = PSI", NAMES))
    assert twice.df_num == once.df_num == 2
    assert twice.statistic == pytest.approx(once.statistic, rel=SAME)


def test_units_do_not_matter(logit):
    theta, V = logit.params.to_numpy(), logit.cov_params().to_numpy()
    scale = np.array([1.0, 1e-9, 1e9, 1.0])
    plain = wald_test(theta, V, np.eye(4)[1:])
    scaled = wald_test(theta * scale, V * np.outer(scale, scale), np.eye(4)[1:])
    assert scaled.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert scaled.df_num == 3


READ = {
    "a": ([[1, 0, 0]], [0]),
    "a = 1": ([[1, 0, 0]], [1]),
    "1 = a": ([[-1, 0, 0]], [-1]),
    "a = b = c = 2": ([[1, -1, 0], [0, 1, -1], [0, 0, 1]], [0, 0, 2]),
    "a = b = 0": ([[1, -1, 0], [0, 1, 0]], [0, 0]),
    "(a = b), (c = 2)": ([[1, -1, 0], [0, 0, 1]], [0, 2]),
    "a + 2 * (b - c) / 4 = -1e-1": ([[1, 0.5, -0.5]], [-0.1]),
    "a - 1 = b + 1": ([[1, -1, 0]], [2]),
    "1e5 * a - b / 4 = -2.5e-3 + 1": ([[1e5, -0.25, 0]], [-2.5e-3 + 1]),
}


@pytest.mark.parametrize("text", READ)
def test_what_text_says(text):
    R, q = constraints(text, ["a", "b", "c"])
    np.testing.assert_allclose(R, READ[text][0])
    np.testing.assert_allclose(q, READ[text][1])


def test_lists_dictionaries_and_matrices():
    names = ["a", "b", "c"]
    expected = [[1, -1, 0], [0, 0, 1]]
    for hypotheses in (
        ["a = b", "c = 3"],
        {"a - b": 0, "c": np.float64(3.0)},
        (expected, [0, 3]),
    ):
        R, q = constraints(hypotheses, names)
        np.testing.assert_allclose(R, expected)
        np.testing.assert_allclose(q, [0, 3])
    assert constraints({"a": 1e-20}, names)[1] == 1e-20
    R, q = constraints([1, 0, -1], names)
    assert (R == [[1, 0, -1]]).all()
    assert (q == [0]).all()


def test_every_name_can_be_read():
    names = ["C(b)[T.x]", "C(b)[T.xy]", "a:b", "np.log(a)", "poly(a, 2)[1]", "e", "ä ö"]
    names += ["a", "a_b", "a.b", "x=y", 7, ""]
    for i, name in enumerate(names):
        expected = np.where(np.arange(len(names)) == i, 2.0, 0.0)
        R, _ = constraints(f"2 * `{name}` = 3", names)
        assert (expected == R).all()
        if name not in ("x=y", 7, ""):
            assert (constraints(f"2 * {name} = 3", names)[0] == expected).all()
    R, _ = constraints("a:b - np.log(a) = 7 * a - `7`", names)
    assert R[0, [2, 3, 7, 11]].tolist() == [1.0, -1.0, -7.0, 1.0]


@pytest.mark.parametrize(
    ("hypotheses", "why"),
    [
        ("a = d", "cannot be read"),
        ("a * b = 0", "cannot be read"),
        ("a == 0", "cannot be read"),
        ("", "cannot be read"),
        ({"a": "x"}, "cannot be read"),
        ("1 = 0", "name no coefficient"),
        ("a - a = 0", "name no coefficient"),
        ("a = 0, a = 1", "contradict"),
        ([1, 0], "3 columns"),
        ([[1, np.nan, 0]], "not finite"),
    ],
)
def test_what_cannot_be_a_hypothesis_is_refused(hypotheses, why):
    with pytest.raises(OptionError, match=why):
        constraints(hypotheses, ["a", "b", "c"])


@pytest.mark.parametrize(
    "text",
    [
        "x / 0 = 1",
        "x * z = 1",
        "x = 10**10**10",
        "__import__('os').system('true') = x",
        "x = 1e400",
        "x = " + "9" * 5000,
        "(" * 3000 + "x" + ")" * 3000,
        {"x": 10**400},
        {"x": "1; x"},
    ],
    ids=lambda text: ascii(text)[:40],
)
def test_hypotheses_that_are_not_linear_are_one_sentence(text):
    with pytest.raises(OptionError) as caught:
        constraints(text, ["x", "z"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("diagonal", "rank"),
    [([5e-324, 1.0], 2), ([1e308, 1e-308], 2), ([-1e-20, 1.0], 1), ([np.nan, 1.0], 0)],
)
def test_variances_of_any_size_are_brought_to_1(diagonal, rank):
    whiten = whitening(np.diag(diagonal))
    assert len(whiten) == rank
    image = whiten @ np.diag(diagonal) @ whiten.T if rank else np.zeros((0, 0))
    np.testing.assert_allclose(image, np.eye(rank), rtol=1e-3)  # a subnormal's digits


def test_hotellings_test_needs_more_rows_than_hypotheses():
    given = np.ones(3), np.eye(3), np.eye(3)
    assert np.isnan(wald_test(*given, rows=2.0).pvalue)
    found = wald_test(*given, rows=3.0)  # F = W / 9 on 3 and 1
    assert (found.statistic, found.df_denom) == (pytest.approx(1.0 / 3.0), 1.0)
    one = wald_test(np.ones(1), np.eye(1), np.eye(1), rows=3.0)
    assert (one.statistic, one.df_denom) == (1.0, np.inf)

"""Standard errors by default: which estimate, its tests, and what it says of itself."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import UndefinedMetricWarning
from pegasos_stats.models.inference import choosing, long_tails
from pegasos_stats.models.inference.bootstrap import moments
from pegasos_stats.models.inference.bootstrap_options import Bootstrap
from pegasos_stats.models.inference.joint_tests import hotelling_test, resampled_test
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.solvers.problem import Problem
from tests.models.fitted_problems import at, at_zero
from tests.models.made_resamples import resampled

TIGHT = ps.SDCA(tol=1e-10, epochs=2000, seed=1)


def outcome(rng, X, g, c=0.0):
    likely = 1.0 / (1.0 + np.exp(-c - X @ np.array(g)))
    return np.where(rng.random(len(X)) < likely, 1.0, -1.0)


def normal_rows(n=120):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 3))
    return X, outcome(rng, X, [1.0, -0.5, 0.0])


def binary_rows(n=120):
    rng = np.random.default_rng(5)
    X = (rng.random((n, 3)) < 0.5).astype(float)
    return X, outcome(rng, X, [1.0, -1.0, 0.0])


def test_the_hinge_resamples_where_predictors_have_few_values():
    X, y = binary_rows()
    chosen = ps.SVM(y, X, lam=0.01).fit(TIGHT).cov_type
    assert chosen == Bootstrap(999, seed=1, interval="symmetric")
    assert ps.SVM(y, X, lam=0.01).fit(TIGHT, cov_type="sandwich").cov_type == Sandwich()
    assert isinstance(ps.Logit(y, X, lam=0.01).fit(TIGHT).cov_type, Sandwich)


def test_the_hinge_has_the_sandwich_where_rows_do_not_tie():
    X, y = normal_rows(400)
    assert ps.SVM(y, X, lam=0.01).fit(TIGHT).cov_type == Sandwich()
    mixed = np.column_stack([X, X[:, 0] > 0.0])
    assert isinstance(ps.SVM(y, mixed, lam=0.01).fit(TIGHT).cov_type, Bootstrap)


def test_a_rare_class_and_its_share_are_named():
    X, y = normal_rows()
    y = np.where(np.arange(len(y)) < 12, 1.0, -1.0)
    X[:, 0] += 3.0 * y  # which tells the levels apart
    why = choosing.Reasons(*at(Problem(X, y, lam=0.01))).words
    assert why == "the smaller class has 10% of the rows, and the hinge may give it up"


def test_long_tails_of_standardized_predictors_are_resampled():
    X, y = normal_rows(300)
    X[:, 1] = np.exp(1.5 * X[:, 1])
    for model in (ps.SVM, ps.Logit):
        fitted = model(y, X, lam=0.01, standardize=True).fit(TIGHT)
        assert isinstance(fitted.cov_type, Bootstrap)
        plain = model(y, X, lam=0.01).fit(TIGHT)
        assert plain.cov_type == Sandwich(correction="HC3")
        assert plain.with_covariance("HC3").bse.equals(plain.bse)
    assert "1 of 3 standardized predictors has long tails" in fitted.covariance.why


@pytest.mark.parametrize("of", [np.asarray, csr_array])
def test_tails_are_long_where_a_deviation_is_rough(of):
    """A share q of ones has the kurtosis ``1 / (q (1 - q)) - 3``, here 11.2 and 10.6.

    The deviation of 1,000 numbers is known to 5% with a kurtosis of 11.
    """
    for ones, tails in ((76, True), (80, False)):
        X = of((np.arange(1000.0) < ones)[:, None].astype(float))
        kurtosis = 1000.0**2 / (ones * (1000.0 - ones)) - 3.0
        assert (kurtosis > 11.0) == tails
        assert choosing.has_long_tails(Problem(X, np.ones(1000), lam=0.1)) == tails


def test_values_of_any_size_have_no_long_tails():
    X = np.linspace(-1.0, 1.0, 400)[:, None] * [1e200, 1e-200, 1.0]
    assert not choosing.has_long_tails(Problem(X, np.ones(400), lam=0.1))


def test_few_rows_to_a_coefficient_are_left_to_the_sandwich():
    X, y = binary_rows(120)
    assert choosing.Reasons(*at(Problem(X[:20], y[:20], lam=0.01))).words
    assert not choosing.Reasons(*at(Problem(X[:19], y[:19], lam=0.01))).words


@pytest.mark.parametrize(
    ("n", "replicates"), [(10_000, 999), (100_000, 239), (400_000, 199)]
)
def test_more_rows_have_fewer_resamples(n, replicates):
    X, y = np.tile([0.0, 1.0], (4, n // 2)).T.copy(), np.tile([-1.0, 1.0], n // 2)
    options = choosing.default_options(*at_zero(Problem(X, y, lam=0.01)))
    assert options.replicates == replicates
    assert ((replicates + 1) * 0.025) % 1.0 == pytest.approx(0.0, abs=1e-9)


def test_very_many_rows_have_the_sandwich():
    X, y = np.zeros((3_000_000, 4), dtype=np.float32), np.ones(3_000_000)
    y[::2] = -1.0
    problem = Problem(X, y, lam=0.01)
    assert choosing.default_options(*at_zero(problem)) == Sandwich()


def test_a_sandwich_where_rows_tie_warns():
    X, y = binary_rows()
    result = ps.SVM(y, X, lam=0.01).fit(TIGHT, cov_type="sandwich")
    said = [note for note in result.notes_on_errors() if "tie at" in note.text]
    assert [note.severity for note in said] == ["warning"]
    assert "cov_type='default' resamples" in said[0].written()


def test_a_joint_test_of_one_hypothesis_is_that_of_the_interval():
    draws = np.random.default_rng(3).standard_normal((199, 2)) + 1.5
    found = resampled(draws, 1.5)
    for column in range(2):
        R, q = np.eye(2)[[column]], np.zeros(1)
        joint = resampled_test(found, R, q)
        assert joint.pvalue == found.p_values(np.zeros(2))[column]
        assert (joint.distribution, joint.df_num) == ("bootstrap", 1)


def test_what_is_pinned_has_no_statistic():
    # Level "c" decides the outcome of all its rows, and no other level does.
    X = np.repeat([[0.0], [1.0]], 60, axis=0)
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    y[:15] = 1.0
    y[60:70] = -1.0
    result = ps.SVM(y, X, lam=1e-3).fit(TIGHT)
    table = result.tidy().set_index("term")
    assert table[["statistic", "p_value"]].isna().all(axis=None)
    np.testing.assert_allclose(table["estimate"], [-1.0, 2.0], atol=1e-6)
    assert (table["conf_high"] - table["conf_low"]).max() < 1e-3
    (note,) = (n for n in result.notes_on_errors() if n.topic == "resamples")
    assert "'Intercept', 'x1' are identical" in note.text
    with pytest.warns(UndefinedMetricWarning, match="There is no test of 'x1 = 0'"):
        assert np.isnan(result.wald_test("x1 = 0").pvalue)


def test_headings_of_resampled_tests_do_not_say_z():
    """The p-values are no function of estimate and error, as a z would have them."""
    X, y = binary_rows()
    result = ps.SVM(y, X, lam=0.01).fit(TIGHT)
    heads = ["std", "err", "p-value", "[0.025", "0.975]"]
    assert "boot sd" in result.summary().params
    assert "std err" in result.with_covariance("HC0").summary().params
    for text, first in (
        (str(result.t_test("x1 = x2")), "coef"),
        (str(result.margins("x1", scale="link").summary()), "estimate"),
    ):
        assert [first, *heads] in [line.split() for line in text.splitlines()]
        assert "P>|z|" not in text
    frame = result.t_test("x1 = x2").summary_frame()
    columns = ["coef", "std err", "p-value", "Conf. Int. Low", "Conf. Int. Upp."]
    assert list(frame) == columns
    assert frame["p-value"].item() == result.t_test("x1 = x2").pvalue.item()
    shares = str(result.predictions("x1").summary())
    assert "p-value" not in shares.split("Notes:")[0]


def test_tests_and_intervals_come_from_the_same_resamples():
    X, y = binary_rows(200)
    result = ps.SVM(y, X, lam=0.01).fit(TIGHT)
    single, table = result.t_test("x1 = 0"), result.tidy().set_index("term")
    assert single.pvalue[0] == table.loc["x1", "p_value"] == result.pvalues["x1"]
    np.testing.assert_array_equal(
        single.conf_int()[0], table.loc["x1", ["conf_low", "conf_high"]]
    )
    assert result.wald_test("x1 = 0, x2 = 0").distribution == "bootstrap"
    assert "3 of 3 predictors have few different values" in result.covariance.why
    again = ps.SVM(y, X, lam=0.01).fit(TIGHT)
    assert again.conf_int().equals(result.conf_int())


def test_joint_tests_of_the_hinge_are_hotellings():
    X, y = normal_rows(200)
    result = ps.SVM(y, X, lam=0.01).fit(TIGHT)
    V, theta, R = result.covariance, result.params.to_numpy(), np.eye(4)[1:]
    W = theta[1:] @ np.linalg.solve(V.joint[1:, 1:], theta[1:])
    found = result.wald_test(R)
    assert found.df_denom == pytest.approx(V.rows - 2.0)
    assert found.statistic == pytest.approx(W * (V.rows - 2.0) / (3.0 * V.rows))
    assert 20.0 < V.rows < 200.0
    assert result.wald_test("x1 = 0").pvalue == pytest.approx(result.pvalues["x1"])
    assert ps.Logit(y, X, lam=0.01).fit(TIGHT).wald_test(R).distribution == "chi2"


@pytest.mark.parametrize("tails", ["normal", "long"])
@pytest.mark.parametrize("home", ["memory", "file"])
def test_joint_tests_take_half_the_width_but_with_long_tails(
    tmp_path, monkeypatch, tails, home
):
    X, y = normal_rows(400)
    data = pd.DataFrame(np.exp(1.5 * X) if tails == "long" else X, columns=list("abc"))
    data["y"] = np.where(y > 0.0, "yes", "no")
    if home == "file":
        data.to_parquet(tmp_path / "rows.parquet")
        data = ps.scan(tmp_path / "rows.parquet")
    result = ps.svm("y ~ a + b + c", data=data, lam=0.01).fit()
    joint = result.with_covariance(Sandwich()).covariance.completed().joint
    assert long_tails.JOINT_FACTOR == 0.5
    monkeypatch.setattr(long_tails, "JOINT_FACTOR", 1.0)
    wide = result.with_covariance(Sandwich()).covariance.completed().joint
    assert np.array_equal(joint, wide) == (tails == "long")


def test_a_joint_test_needs_more_rows_than_hypotheses():
    assert np.isnan(hotelling_test(np.ones(3), np.eye(3), 2.0, np.eye(3), 0.0).pvalue)


@pytest.mark.parametrize("weights", [None, "balanced"])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_resample_is_the_model_fitted_to_its_rows(standardize, weights):
    X, y = normal_rows(80)
    X = np.exp(X)
    given = {"lam": 0.1, "standardize": standardize, "weights": weights}
    result = ps.SVM(y, X, **given).fit(TIGHT, cov_type=Bootstrap(3, seed=7, tol=1e-11))
    found = result.covariance
    rows = ps.RRandom(7).sample_int(80, 240, replace=True).reshape(3, 80) - 1
    for b in range(3):
        again = ps.SVM(y[rows[b]], X[rows[b]], **given).fit(TIGHT)
        # Both are within 1e-10 of the objective of the optimum: sqrt(2e-10 / 0.1).
        np.testing.assert_allclose(found.estimates[b], again.params, atol=1e-4)
        undone = result.scaling.undoing(True) if standardize else np.eye(4)
        original = undone @ (found.fixed if standardize else found.estimates)[b]
        np.testing.assert_allclose(original, again.params_original, atol=1e-4)


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
def test_standardized_predictors_have_errors_like_their_bootstrap(model):
    rng = np.random.default_rng(8)
    X = rng.gamma(1.0, size=(600, 2))
    y = outcome(rng, X, [1.0, -0.5])
    result = model(y, X, lam=0.1, standardize=True).fit(TIGHT, cov_type="sandwich")
    other = result.with_covariance(Bootstrap(400, seed=1, tol=1e-7))
    for original in (False, True):
        ours, theirs = (r.tidy(original=original)["std_error"] for r in (result, other))
        # 400 resamples know an error to 3.5%; the kernel of the hinge, in one sample of
        # skewed predictors, to a third.
        atol = 0.15 if model is ps.Logit else 0.33
        np.testing.assert_allclose(ours / theirs, 1.0, atol=atol)


def test_moments_are_those_of_the_rows_drawn():
    X, drawn = np.random.default_rng(1).standard_normal((9, 2)), np.arange(9.0)
    rows = np.repeat(X, drawn.astype(int), axis=0)
    means, deviations = moments(X, drawn)
    np.testing.assert_allclose(means, rows.mean(axis=0))
    np.testing.assert_allclose(deviations, rows.std(axis=0, ddof=1))


def test_a_small_p_value_that_is_the_penaltys_is_named():
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((500, 1))
    X = np.sqrt(0.3) * rng.standard_normal((500, 3)) + np.sqrt(0.7) * shared
    y = outcome(rng, X, [1.5, 0.5, 0.0])
    strong = ps.SVM(y, X, lam=1.0).fit(TIGHT)
    assert strong.pvalues["x3"] < 0.05
    (note,) = (note for note in strong.notes_on_errors() if note.topic == "penalty")
    assert "'x3'" in note.text
    other = ps.SVM(y, X, lam=1e-6).fit(TIGHT).params["x3"]
    assert other < strong.params["x3"] - strong.bse["x3"]
    weak = ps.SVM(y, X, lam=0.01).fit(TIGHT)
    assert not [note for note in weak.notes_on_errors() if note.topic == "penalty"]


def test_saved_defaults_are_there_again(tmp_path):
    X, y = binary_rows()
    result = ps.SVM(y, X, lam=0.01, standardize=True).fit(TIGHT)
    ps.save(result, tmp_path / "fit.pegasos")
    loaded = ps.load(tmp_path / "fit.pegasos")
    assert loaded.tidy(original=True).equals(result.tidy(original=True))
    assert repr(loaded.wald_test("x1 = x2 = 0")) == repr(
        result.wald_test("x1 = x2 = 0")
    )
    kernel = ps.SVM(y, X, lam=0.01).fit(TIGHT, cov_type="sandwich")
    ps.save(kernel, tmp_path / "kernel.pegasos")
    loaded = ps.load(tmp_path / "kernel.pegasos")
    assert (
        loaded.wald_test(np.eye(4)[1:]).pvalue == kernel.wald_test(np.eye(4)[1:]).pvalue
    )


def test_resamples_of_a_hinge_agree_where_rows_tie_and_of_a_log_loss_do_not():
    X, y = binary_rows()
    boot = Bootstrap(199, seed=1, interval="symmetric")
    tied = ps.SVM(y, X, lam=0.01).fit(TIGHT, cov_type=boot).covariance
    apart = np.abs(tied.estimates[:, None] - tied.estimates).max(axis=2)
    share = (apart[np.triu_indices(199, 1)] < 1e-3).mean()  # corners are farther apart
    # Steps of about 1e-5 part some that refits to a gap of 1e-10 leave so far apart.
    assert 0.01 < 0.95 * share <= tied.agreeing <= share
    assert ps.Logit(y, X, lam=0.01).fit(TIGHT, cov_type=boot).covariance.agreeing == 0.0
    Z = np.random.default_rng(1).standard_normal((200, 2))
    free = ps.SVM(np.sign(Z[:, 0] + Z[:, 1] ** 2 - 0.5), Z, lam=0.1)
    assert free.fit(TIGHT, cov_type=boot).covariance.agreeing == 0.0

"""Logistic regression is maximum likelihood where it exists, at every door."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.datasets import anes96

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError, UndefinedMetricWarning
from tests.output.command_line import run

FORMULA = "vote ~ C(PID) + selfLR + age + educ + income"
ELECTION = anes96.load_pandas().data
NO_ERRORS = ["std_error", "statistic", "p_value", "conf_low", "conf_high"]


def simulated(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    frame["g"] = rng.choice(list("abc"), n)
    score = frame["x"] - (frame["g"] == "b") + rng.logistic(size=n)
    return frame.assign(y=np.where(score > 0.0, "yes", "no"))


def glm(y, X, **options):
    """statsmodels' GLM on standardized columns, to rounding."""
    Z = sm.add_constant((X - X.mean(axis=0)) / X.std(axis=0))
    family = sm.families.Binomial()
    return sm.GLM(y, Z, family=family, **options).fit(tol=1e-14, tol_criterion="params")


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_those_of_glm_in_any_units(weighted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 4)) * [1e-6, 1.0, 1e3, 1e6] + [0.0, 50.0, -7e3, 1e6]
    y = (X[:, 1] - 50.0 + rng.logistic(size=500) > 0.0).astype(int)
    options, counts, offset = {}, np.ones(500, dtype=int), rng.normal(size=500)
    if weighted:
        counts = rng.integers(0, 4, 500)
        options = {"freq_weights": counts, "offset": offset}
    reference = glm(y, X, **options)
    result = ps.Logit(y, X, **options).fit(cov_type="nonrobust")
    scale = X.std(axis=0)
    np.testing.assert_allclose(result.coef * scale, reference.params[1:], rtol=1e-8)
    np.testing.assert_allclose(result.bse[1:] * scale, reference.bse[1:], rtol=1e-8)
    assert result.deviance == pytest.approx(reference.deviance, rel=1e-8)
    assert result.aic == pytest.approx(reference.aic, rel=1e-8)
    assert 0.0 <= result.relative_gap < 1e-9


def test_files_partitions_sparse_rows_and_the_command_line_agree(tmp_path, capsys):
    frame = simulated().assign(c=5.0)
    frame["twice"] = 2.0 * frame["x"] + 1.0
    frame.to_csv(tmp_path / "rows.csv", index=False)
    formula = "y ~ x + g + twice + c"
    result = ps.logit(formula, frame).fit()
    models = [ps.logit(formula, ps.scan(tmp_path / "rows.csv"))]
    dask = pytest.importorskip("dask.dataframe")
    models.append(ps.logit(formula, dask.from_pandas(frame, npartitions=3)))
    for other in (model.fit() for model in models):
        np.testing.assert_allclose(other.params, result.params, rtol=1e-9)
        np.testing.assert_allclose(other.bse, result.bse, rtol=1e-9)
        assert other.aic == pytest.approx(result.aic)
    assert result.params.index[result.params.isna()].tolist() == ["twice", "c"]
    assert result.df_model == 3
    options = "--formula", formula, "--loss", "log", "--json"
    printed = json.loads(run(capsys, "fit", tmp_path / "rows.csv", *options).out)
    assert (printed["lam"], printed["lambda_rule"]) == (0.0, "ml")
    assert printed["params"]["x"] == pytest.approx(result.params["x"], rel=1e-9)
    ps.save(result, tmp_path / "fit.model")
    loaded = ps.load(tmp_path / "fit.model")
    pd.testing.assert_frame_equal(loaded.tidy(), result.tidy())
    new = frame.assign(twice=-1e6)  # predictions leave the column out
    for fit in (result, loaded):
        np.testing.assert_array_equal(
            fit.decision_function(new), result.decision_function(frame)
        )


def separated():
    return simulated(60).assign(dose=lambda d: np.where(d["y"] == "yes", 2.0, 1.0))


def test_without_an_estimate_the_fit_is_penalised_and_has_no_errors(tmp_path):
    frame = separated()
    model = ps.logit("y ~ x + dose", frame)
    assert model.lam is None
    with pytest.warns(UndefinedMetricWarning, match="'dose' separates the classes"):
        table = (result := model.fit()).tidy()
    assert model.lam is None
    assert result.model.lam == result.problem.lam == 1.0 / 60
    assert table[NO_ERRORS].isna().all(axis=None)
    named = ps.logit("y ~ x + dose", frame, lam=1.0 / 60).fit()
    np.testing.assert_array_equal(result.params, named.params)
    text = str(result.summary())
    assert "penalty='firth'" in text.replace("\n", " ")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    streamed = ps.logit("y ~ x + dose", ps.scan(tmp_path / "rows.csv")).fit()
    assert streamed.problem.no_ml == result.problem.no_ml
    assert "sample" not in text
    ps.save(streamed, tmp_path / "streamed.model")
    for in_files in (streamed, ps.load(tmp_path / "streamed.model")):
        told = str(in_files.summary()).replace("\n", " ")
        assert "on a sample of the rows in memory" in told
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        again = ps.logit("y ~ x + dose", frame).fit(cov_type="bootstrap")
        assert again.tidy()[NO_ERRORS].isna().all(axis=None)
        ps.save(result, tmp_path / "fit.model")
        assert str(ps.load(tmp_path / "fit.model").summary()) == text
    with pytest.raises(DataError, match="'dose' separates"):
        ps.logit("y ~ x + dose", frame, lam=0).fit()
    with pytest.raises(DataError, match="on a sample of the rows in memory"):
        ps.logit("y ~ x + dose", ps.scan(tmp_path / "rows.csv"), lam=0).fit()


def test_a_level_with_one_outcome_is_named():
    frame = simulated().assign(y=lambda d: d["y"].mask(d["g"] == "c", "yes"))
    result = ps.logit("y ~ x + g", frame).fit(cov_type="none")
    assert "'g[T.c]' separates" in result.problem.no_ml


@pytest.mark.parametrize("solver", [ps.Pegasos(2, seed=1), ps.SDCA()])
@pytest.mark.parametrize("lam", [None, 0])
def test_steps_that_need_a_penalty_ask_for_one(solver, lam):
    with pytest.raises(OptionError, match="lam="):
        ps.logit("y ~ x - 1", simulated(), lam=lam).fit(solver)


def test_only_the_log_loss_goes_without_a_penalty():
    with pytest.raises(OptionError, match="Only logistic regression"):
        ps.svm("y ~ x", simulated(), lam=0)


def test_folds_without_an_estimate_are_counted():
    frame = simulated(90).assign(rare=lambda d: (d.index < 3) * 1.0)
    frame.loc[:2, "y"] = ["yes", "no", "yes"]
    found = ps.cross_validate(ps.logit("y ~ x + rare", frame), folds=10, seed=1)
    penalised = found.by_fold["lam"] > 0.0
    n_train = found.by_fold["n_train"]
    np.testing.assert_allclose(found.by_fold["lam"][penalised], 1 / n_train[penalised])
    assert 0 < penalised.sum() < 10
    text = " ".join(str(found.summary()).split())
    assert f"does not exist in {penalised.sum()} of 10 folds" in text


def test_resamples_without_an_estimate_count_as_infinite():
    few = simulated(16, seed=3)
    result = ps.logit("y ~ x + z", few).fit(cov_type=ps.Bootstrap(199))
    with pytest.warns(UndefinedMetricWarning, match="count as infinite"):
        table = result.tidy()
    assert result.covariance.n_infinite / 199 > 0.025
    assert table[NO_ERRORS].isna().all(axis=None)
    assert np.isnan(result.wald_test("x = z = 0").pvalue)
    assert result.margins().tidy()["conf_low"].isna().all()
    many = ps.logit("y ~ x + z", simulated()).fit(cov_type=ps.Bootstrap(199))
    robust = many.with_covariance("HC3").bse
    np.testing.assert_allclose(many.bse, robust, rtol=0.2)  # 199 resamples: 5%


def test_the_penalty_moves_coefficients_as_far_as_is_said():
    ml = ps.logit(FORMULA, ELECTION).fit(cov_type="nonrobust")
    ridge = ps.logit(FORMULA, ELECTION, lam=1.0 / len(ELECTION)).fit()
    moved = ((ml.params - ridge.params) / ml.bse).abs().iloc[1:]
    name, shift = ridge.penalty_shift
    assert name == moved.idxmax()
    assert shift == pytest.approx(moved.max(), rel=0.05)  # one step of Newton's
    assert f"The penalty moves {name} by about {shift:.1f}" in " ".join(
        str(ridge.summary()).split()
    )
    assert np.isnan(ml.penalty_shift[1])
    weak = ps.logit(FORMULA, ELECTION, lam=1e-7).fit()
    assert "penalty moves" not in str(weak.summary())
    chosen = ps.logit(FORMULA, ELECTION, lam="cv").fit()
    assert "penalty moves" in str(chosen.summary())
    assert ps.svm(FORMULA, ELECTION).fit(cov_type="none").penalty_shift[0] == ""


def test_sql_and_json_leave_out_what_is_not_estimable():
    result = ps.logit("y ~ x + I(2 * x) + z", simulated()).fit()
    written = json.loads(result.to_json())
    assert [term["name"] for term in written["terms"]] == ["x", "z"]
    assert result.to_sql() == ps.logit("y ~ x + z", simulated()).fit().to_sql()

"""lam="cv" takes the best lambda of the path, once for a model."""

import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli.program import main
from pegasos_stats.sklearn import KernelSVMClassifier, LogitClassifier, SVMClassifier

N = 150
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 4))
Y = np.where(X @ [1.0, -0.5, 0.5, 0.0] + RNG.normal(size=N) > 0.0, "yes", "no")
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
QUICK = ps.SDCA(tol=1e-3, seed=1)
MODELS = {
    "hinge": ps.SVM,
    "log": ps.Logit,
    "kernel": ps.KernelSVM,
    "given kernel": lambda y, X, lam=None: ps.KernelSVM(
        y, X @ X.T, lam=lam, kernel="precomputed"
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_it_is_the_least_of_the_path(kind):
    build = MODELS[kind]
    result = build(Y, X, lam="cv").fit(QUICK)
    path = ps.lambda_path(build(Y, X), folds=10, seed=1)
    assert result.problem.lam == result.lambda_path.lambda_min == path.lambda_min
    assert result.problem.lam_rule == "cv"
    assert result.lambda_path.table.equals(path.table)
    named = build(Y, X, lam=path.lambda_min).fit(QUICK)
    assert result.objective == named.objective
    assert named.lambda_path is None


@pytest.mark.parametrize("kind", ["hinge", "log"])
def test_cross_validation_of_it_is_nested(kind):
    build = MODELS[kind]
    given = {"folds": 2, "seed": 2}
    model = build(Y, X, lam="cv")
    expected = ps.cross_validate(
        build(Y, X), lambda_path=True, rule="min", **given
    ).by_fold
    assert ps.cross_validate(model, **given).by_fold.equals(expected)
    model = model.fit(QUICK).model  # whose lambda is known
    assert ps.cross_validate(model, **given).by_fold.equals(expected)
    assert len(set(expected["lam"])) > 1


def test_a_model_chooses_once_and_by_its_groups():
    model = ps.svm("y ~ .", FRAME, lam="cv")
    first, again = model.fit(QUICK), model.fit(ps.Pegasos(epochs=2, seed=1))
    assert again.lambda_path is first.lambda_path
    assert again.problem.lam == first.problem.lam
    groups = np.arange(N) // 6
    grouped = model.fit(QUICK, groups=groups)
    path = ps.lambda_path(model, folds=10, groups=groups, seed=1)
    assert grouped.problem.lam == path.lambda_min
    assert model.fit(QUICK).lambda_path is first.lambda_path


def test_errors_and_saved_fits_keep_it(tmp_path):
    result = ps.logit("y ~ .", FRAME, lam="cv").fit(QUICK)
    named = ps.logit("y ~ .", FRAME, lam=result.problem.lam).fit(QUICK)
    assert result.bse.equals(named.bse)
    ps.save(result, tmp_path / "fit.model")
    again = ps.load(tmp_path / "fit.model")
    assert (again.problem.lam, again.problem.lam_rule) == (result.problem.lam, "cv")
    assert again.lambda_path is None
    chosen = result.thresholds(folds=3, seed=1).table
    assert chosen.equals(named.thresholds(folds=3, seed=1).table)
    solvers = {"sdca": QUICK}
    runs = ps.compare_solvers(result.model, solvers, runs=1, seed=1).runs["objective"]
    assert runs.iloc[-1] == pytest.approx(named.objective, rel=1e-2)


def test_calibration_is_of_scores_at_lambdas_of_the_folds():
    found = ps.calibrate(ps.svm("y ~ .", FRAME, lam="cv"), folds=2, seed=2)
    nested = ps.cross_validate(
        ps.svm("y ~ .", FRAME), folds=2, seed=2, lambda_path=True, rule="min"
    )
    assert np.array_equal(found.validation.scores, nested.scores)
    assert found.result.problem.lam_rule == "cv"


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)

    def facts(*options):
        assert main(["fit", str(path), "--outcome", "y", "--json", *options]) == 0
        return json.loads(capsys.readouterr().out)

    found, plain = facts("--lam", "cv", "--cv", "2"), facts("--cv", "2")
    expected = ps.lambda_path(ps.svm("y ~ .", FRAME), seed=1).lambda_min
    assert (found["lambda"], found["lambda_rule"]) == (expected, "cv")
    assert (plain["lambda"], plain["lambda_rule"]) == (1.0 / N, "1/n")
    for each in (found, plain):
        assert np.sum(each["confusion"]["out-of-fold"]["table"]) == N


def test_rows_elsewhere_refuse_it(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)
    for rows in (ps.scan(path), dask.from_pandas(FRAME, npartitions=2)):
        with pytest.raises(OptionError, match="lam='cv'"):
            ps.svm("y ~ a + b", rows, lam="cv")
    with pytest.raises(OptionError, match="lam='cv'"):
        SVMClassifier(lam="cv", solver="pegasos").partial_fit(X, Y)
    with pytest.raises(OptionError, match="lam='1se'"):
        ps.svm("y ~ .", FRAME, lam="1se")


@pytest.mark.parametrize("build", [ps.SVM, ps.Logit])
def test_a_path_without_use_for_predictors_is_noted(build):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(150, 3))
    y = np.where(rng.random(150) < 0.2, "a", "b")

    def noted(y, rows):
        notes = build(y, rows, lam="cv").fit(QUICK).notes
        return any("ross-validation" in note.text for note in notes)

    assert noted(y, noise)
    assert not noted(Y, X)


@pytest.mark.parametrize(
    "classifier", [SVMClassifier, LogitClassifier, KernelSVMClassifier]
)
def test_classifiers_take_it(classifier):
    found = classifier(lam="cv").fit(X, Y).result_
    assert found.problem.lam == found.lambda_path.lambda_min

"""Lambda without a value is 1/n, C = 1 of LIBSVM; lam="cv" is the best of the path."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli import main
from pegasos_stats.sklearn import KernelSVMClassifier, LogitClassifier, SVMClassifier

pytestmark = pytest.mark.slow

N = 150
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 4))
Y = np.where(X @ [1.0, -0.5, 0.5, 0.0] + RNG.normal(size=N) > 0.0, "yes", "no")
COUNTS = RNG.integers(0, 4, size=N)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
LACKING = FRAME.copy()  # four incomplete rows
LACKING.loc[[1, 5], "a"] = np.nan
LACKING.loc[[7, 8], "y"] = None
QUICK = ps.Optimum(tol=1e-3, seed=1)
CLASSIFIERS = pytest.mark.parametrize(
    "classifier", [SVMClassifier, LogitClassifier, KernelSVMClassifier]
)
DOORS = {
    "arrays": (lambda: ps.SVM(Y, X), N),
    "incomplete rows": (lambda: ps.svm("y ~ .", LACKING), N - 4),
    "counts": (lambda: ps.SVM(Y, X, freq_weights=COUNTS), COUNTS.sum()),
    "weights": (lambda: ps.SVM(Y, X, weights=COUNTS), (COUNTS > 0).sum()),
    "kernel": (lambda: ps.KernelSVM(Y, X, freq_weights=COUNTS), COUNTS.sum()),
    "kernel formula": (lambda: ps.kernel_svm("y ~ .", LACKING), N - 4),
}


@pytest.mark.parametrize("door", DOORS)
def test_lambda_is_one_by_the_rows(door):
    model, n = DOORS[door]
    problem = model().problem
    assert (problem.lam, problem.lam_rule) == (1.0 / n, "1/n")
    assert model().fit(ps.Optimum(seed=1)).nobs == n


@CLASSIFIERS
@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3.0}])
def test_a_sample_weight_of_two_is_two_rows(classifier, class_weight):
    given = {"class_weight": class_weight}
    if classifier is KernelSVMClassifier:
        if class_weight == "balanced":
            return  # as in SVC by the rows, whatever they weigh
        given["gamma"] = 0.1  # whose default is of the rows, as in SVC
    found = classifier(**given).fit(X, Y, sample_weight=COUNTS)
    problem = found.result_.problem
    heavy = class_weight == {"yes": 3.0}
    total = COUNTS @ np.where(heavy & (Y == "yes"), 3.0, 1.0)
    assert (problem.lam, problem.lam_rule) == (pytest.approx(1.0 / total), "1/n")
    repeated = np.repeat(np.arange(N), COUNTS)
    again = classifier(**given).fit(X[repeated], Y[repeated])
    scores = again.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, atol=1e-4)


@pytest.fixture(params=["file", "dask"])
def elsewhere(request, tmp_path):
    """Rows of a frame in a file, or in partitions."""
    if request.param == "dask":
        dask = pytest.importorskip("dask.dataframe")
        return lambda frame: dask.from_pandas(frame, npartitions=3)

    def written(frame):
        frame.to_csv(tmp_path / "rows.csv", index=False)
        return ps.scan(tmp_path / "rows.csv")

    return written


def test_rows_of_files_and_of_dask(elsewhere):
    model = ps.svm("y ~ a + b + c", elsewhere(LACKING))
    assert (model.problem.lam, model.problem.lam_rule) == (1.0 / (N - 4), "1/n")
    with pytest.raises(OptionError):
        model.fit(ps.Pegasos(epochs=2, seed=1))


def test_rows_elsewhere_refuse_the_best_of_a_path(elsewhere):
    with pytest.raises(OptionError, match="lam='cv'"):
        ps.svm("y ~ a + b", elsewhere(FRAME), lam="cv")
    with pytest.raises(OptionError, match="lam='cv'"):
        SVMClassifier(lam="cv", solver="pegasos").partial_fit(X, Y)
    with pytest.raises(OptionError, match="lam='1se'"):
        ps.svm("y ~ .", FRAME, lam="1se")


def test_the_command_line(tmp_path, capsys):
    LACKING.to_csv(tmp_path / "rows.csv", index=False)
    given = ["fit", str(tmp_path / "rows.csv"), "--outcome", "y"]

    def lambda_of(*options):
        assert main([*given, "--json", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        return found["lam"], found["lambda_rule"]

    assert lambda_of() == lambda_of("--kernel", "gaussian") == (1.0 / (N - 4), "1/n")
    assert lambda_of("--lam", "0.5") == lambda_of("--lambda", "0.5") == (0.5, "given")
    assert main([*given, "--epochs", "2"]) == 2
    assert "lam=" in capsys.readouterr().err


def test_folds_and_saved_fits_keep_it(tmp_path):
    model = ps.svm("y ~ .", FRAME)
    ps.save(model.fit(ps.Optimum(seed=1)), tmp_path / "fit.model")
    again = ps.load(tmp_path / "fit.model").problem
    assert (again.lam, again.lambda_text) == (1.0 / N, "0.00667 (1/n)")
    given = {"solver": QUICK, "folds": 5, "seed": 1}
    named = ps.cross_validate(ps.svm("y ~ .", FRAME, lam=1.0 / N), **given)
    assert np.array_equal(ps.cross_validate(model, **given).scores, named.scores)


@pytest.mark.parametrize("standardize", [False, None])
def test_a_kernel_machine_is_that_of_libsvm(standardize):
    ours = ps.KernelSVM(Y, X, standardize=standardize).fit(ps.Optimum(tol=1e-9, seed=1))
    scaled = standardize is None
    rows = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) if scaled else X
    theirs = SVC(tol=1e-9, gamma="auto" if scaled else "scale").fit(rows, Y)
    gamma = 0.25 if scaled else 1.0 / (4.0 * X.var())
    assert ours.problem.kernel.gamma == pytest.approx(gamma, rel=1e-12)
    scores = theirs.decision_function(rows)
    np.testing.assert_allclose(ours.decision_function(X), scores, atol=1e-5)


PEGASOS = ps.Pegasos(epochs=2, seed=1)
RUNS = {
    "fit": lambda: ps.svm("y ~ .", FRAME).fit(PEGASOS),
    "kernel": lambda: ps.kernel_svm("y ~ .", FRAME).fit(PEGASOS),
    "compare": lambda: ps.compare_solvers(ps.Logit(Y, X), {"steps": PEGASOS}, runs=2),
    "folds": lambda: ps.cross_validate(ps.SVM(Y, X), PEGASOS, folds=3),
    "classifier": lambda: SVMClassifier(solver="pegasos").fit(X, Y),
}


@pytest.mark.parametrize("run", RUNS)
def test_pegasos_has_no_default_lambda(run):
    with pytest.raises(OptionError, match=r"lam=1\.0"):
        RUNS[run]()


# The best lambda of the path, once for a model.
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


@pytest.mark.parametrize("build", [ps.SVM, ps.Logit])
def test_cross_validation_of_it_is_nested(build):
    given, model = {"folds": 2, "seed": 2}, build(Y, X, lam="cv")
    nested = ps.cross_validate(build(Y, X), lambda_path=True, rule="min", **given)
    for each in (model, model.fit(QUICK).model):  # whose lambda is known
        assert ps.cross_validate(each, **given).by_fold.equals(nested.by_fold)
    assert len(set(nested.by_fold["lam"])) > 1


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
    few = np.arange(N) % 8
    each = ps.lambda_path(model, folds=8, groups=few, seed=1)
    assert model.fit(QUICK, groups=few).problem.lam == each.lambda_min


def test_errors_and_saved_fits_have_the_lambda_that_was_chosen(tmp_path):
    result = ps.logit("y ~ .", FRAME, lam="cv").fit(QUICK)
    named = ps.logit("y ~ .", FRAME, lam=result.problem.lam).fit(QUICK)
    assert result.bse.equals(named.bse)
    ps.save(result, tmp_path / "fit.model")
    again = ps.load(tmp_path / "fit.model")
    assert (again.problem.lam, again.problem.lam_rule) == (result.problem.lam, "cv")
    assert again.lambda_path is None
    chosen = result.thresholds(folds=3, seed=1).table
    assert chosen.equals(named.thresholds(folds=3, seed=1).table)
    runs = ps.compare_solvers(result.model, {"sdca": QUICK}, runs=1, seed=1).runs
    assert runs["objective"].iloc[-1] == pytest.approx(named.objective, rel=1e-2)


def test_calibration_is_of_scores_at_lambdas_of_the_folds():
    given = {"folds": 2, "seed": 2}
    found = ps.calibrate(ps.SVM(Y, X, lam="cv"), **given)
    nested = ps.cross_validate(ps.SVM(Y, X), lambda_path=True, rule="min", **given)
    assert np.array_equal(found.validation.scores, nested.scores)
    assert found.result.problem.lam_rule == "cv"


@pytest.mark.parametrize("build", [ps.SVM, ps.Logit])
def test_a_path_without_use_for_predictors_is_noted(build):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(150, 3)), np.where(rng.random(150) < 0.2, "a", "b")
    for rows, y, noted in ((*noise, True), (X, Y, False)):
        notes = build(y, rows, lam="cv").fit(QUICK).notes
        assert any("ross-validation" in note.text for note in notes) == noted


@CLASSIFIERS
def test_classifiers_take_it(classifier):
    found = classifier(lam="cv").fit(X, Y).result_
    assert found.problem.lam == found.lambda_path.lambda_min

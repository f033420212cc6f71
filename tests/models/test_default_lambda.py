"""Lambda without a value is 1/n, C = 1 of LIBSVM, from every door."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli import main
from pegasos_stats.sklearn import KernelSVMClassifier, LogitClassifier, SVMClassifier

N = 60
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 3)) * [1.0, 2.0, 0.5]
Y = np.where(X @ [1.0, -0.5, 1.0] + RNG.normal(size=N) > 0.0, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
COUNTS = RNG.integers(0, 4, size=N)
TIGHT = ps.SDCA(tol=1e-10, gap_tol=1e-12, seed=1)


def lacking():
    """The frame with four incomplete rows."""
    frame = FRAME.copy()
    frame.loc[[1, 5], "a"] = np.nan
    frame.loc[[7, 8], "y"] = None
    return frame


DOORS = {
    "arrays": (lambda: ps.SVM(Y, X), N),
    "formula": (lambda: ps.logit("y ~ .", FRAME), N),
    "incomplete rows": (lambda: ps.svm("y ~ .", lacking()), N - 4),
    "counts": (lambda: ps.SVM(Y, X, freq_weights=COUNTS), COUNTS.sum()),
    "weights": (lambda: ps.SVM(Y, X, weights=COUNTS), (COUNTS > 0).sum()),
    "kernel": (lambda: ps.KernelSVM(Y, X, freq_weights=COUNTS), COUNTS.sum()),
    "kernel formula": (lambda: ps.kernel_svm("y ~ .", lacking()), N - 4),
}


@pytest.mark.parametrize("door", DOORS)
def test_lambda_is_one_by_the_rows(door):
    model, n = DOORS[door]
    problem = model().problem
    assert (problem.lam, problem.lam_rule) == (1.0 / n, "1/n")
    assert model().fit(ps.SDCA(seed=1)).nobs == n


@pytest.mark.parametrize(
    "classifier", [SVMClassifier, LogitClassifier, KernelSVMClassifier]
)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3.0}])
def test_a_sample_weight_of_two_is_two_rows(classifier, class_weight):
    found = classifier(class_weight=class_weight).fit(X, Y, sample_weight=COUNTS)
    assert found.result_.problem.lam == 1.0 / COUNTS.sum()
    assert found.result_.problem.lam_rule == "1/n"
    assert classifier().fit(X, Y).result_.problem.lam == 1.0 / N
    repeated = np.repeat(np.arange(N), COUNTS)
    again = classifier(class_weight=class_weight).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(
        found.decision_function(X), again.decision_function(X), atol=1e-4
    )


@pytest.mark.parametrize("counts", [None, "w"])
def test_rows_of_files_and_of_dask(counts, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    frame = lacking().assign(w=COUNTS)
    n = frame.dropna()["w"].sum() if counts else N - 4
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    for rows in (ps.scan(path), dask.from_pandas(frame, npartitions=3)):
        model = ps.svm("y ~ a + b + c", rows, freq_weights=counts)
        assert (model.problem.lam, model.problem.lam_rule) == (1.0 / n, "1/n")
        with pytest.raises(OptionError):
            model.fit(ps.Pegasos(epochs=2, seed=1))


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    lacking().to_csv(path, index=False)
    given = ["fit", str(path), "--outcome", "y", "--json"]

    def facts(*options):
        assert main([*given, *options]) == 0
        return json.loads(capsys.readouterr().out)

    found = facts()
    assert (found["lambda"], found["lambda_rule"]) == (1.0 / (N - 4), "1/n")
    found = facts("--kernel", "gaussian")
    assert (found["solver"], found["lambda"]) == ("SDCA", 1.0 / (N - 4))
    assert facts("--lam", "0.5")["lambda"] == facts("--lambda", "0.5")["lambda"] == 0.5
    homework = facts("--profile", "homework")
    assert (homework["lambda"], homework["lambda_rule"]) == (1e-4, "given")
    assert main([*given, "--epochs", "2"]) == 2
    assert "--lambda" in capsys.readouterr().err


def test_folds_and_saved_fits_keep_it(tmp_path):
    model = ps.logit("y ~ .", FRAME)
    result = model.fit(ps.SDCA(seed=1))
    ps.save(result, tmp_path / "fit.model")
    again = ps.load(tmp_path / "fit.model").problem
    assert (again.lam, again.lam_rule) == (1.0 / N, "1/n")
    assert again.lambda_text == "0.0167 (1/n)"
    found = ps.cross_validate(model, TIGHT, folds=5, seed=1)
    named = ps.logit("y ~ .", FRAME, lam=1.0 / N)
    expected = ps.cross_validate(named, TIGHT, folds=5, seed=1)
    assert np.array_equal(found.scores, expected.scores)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_kernel_machine_is_that_of_libsvm(standardize):
    ours = ps.KernelSVM(Y, X, standardize=standardize).fit(ps.SDCA(tol=1e-9, seed=1))
    rows = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) if standardize else X
    theirs = SVC(tol=1e-9).fit(rows, Y)
    gamma = ours.problem.kernel.gamma
    assert gamma == pytest.approx(1.0 / (3.0 * rows.var()), rel=1e-12)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(rows), atol=1e-5
    )


def test_it_is_one_for_c_of_logistic_regression():
    ours = ps.Logit(Y, X).fit(TIGHT)
    theirs = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(X, Y)
    np.testing.assert_allclose(ours.params[1:], theirs.coef_[0], rtol=1e-4)
    assert ours.intercept == pytest.approx(theirs.intercept_[0], rel=1e-4)


PEGASOS = ps.Pegasos(epochs=2, seed=1)
RUNS = {
    "fit": lambda: ps.svm("y ~ .", FRAME).fit(PEGASOS),
    "kernel": lambda: ps.kernel_svm("y ~ .", FRAME).fit(PEGASOS),
    "compare": lambda: ps.compare_solvers(
        ps.logit("y ~ .", FRAME), {"steps": PEGASOS}, runs=2
    ),
    "folds": lambda: ps.cross_validate(ps.svm("y ~ .", FRAME), PEGASOS, folds=3),
    "classifier": lambda: SVMClassifier(solver="pegasos").fit(X, Y),
}


@pytest.mark.parametrize("run", RUNS)
def test_pegasos_has_no_default_lambda(run):
    with pytest.raises(OptionError, match=r"lam=1\.0"):
        RUNS[run]()

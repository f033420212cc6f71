"""The classifiers for scikit-learn: equal numbers, and at home in its tools."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import pegasos_stats as ps
from pegasos_stats.errors import LabelError, OptionError, PegasosStatsWarning
from pegasos_stats.sklearn import KernelSVMClassifier, LogitClassifier, SVMClassifier

pytestmark = [
    pytest.mark.filterwarnings("ignore:The fit has not converged"),
    pytest.mark.filterwarnings("ignore:Every training row"),
]

LINEAR = [(SVMClassifier, ps.SVM), (LogitClassifier, ps.Logit)]
SQUARED = {"loss": "squared_hinge"}
NEAR = ps.Optimum(tol=1e-10, gap_tol=1e-12, seed=4)


def near(classifier, result):
    """The same minimum: a relative gap of 1e-10 leaves so much of the coefficients."""
    params = [*classifier.intercept_, *classifier.coef_[0]]
    np.testing.assert_allclose(params, result.params_original, rtol=1e-5, atol=1e-7)
    assert classifier.relative_gap_ < 1e-9


def same(classifier, result):
    """Every bit, as with a solver by name."""
    assert np.array_equal(classifier.coef_, [result.params_original.iloc[1:]])
    assert np.array_equal(classifier.intercept_, result.params_original.iloc[:1])
    assert classifier.n_iter_ == result.n_iter
    assert classifier.relative_gap_ == result.relative_gap


# Options of a classifier, the same of the model, and the solver.
BATCHES = {"batch_size": 7, "average": "all"}
FITS = [
    ({"solver": NEAR}, {}, NEAR),
    ({"solver": "pegasos", "epochs": 3}, {}, ps.Pegasos(epochs=3, seed=4)),
    ({"tol": 1e-3}, {}, ps.Optimum(tol=1e-3, seed=4)),
    ({"solver": ps.Optimum(epochs=50, seed=1)}, {}, ps.Optimum(epochs=50, seed=4)),
    ({"solver": ps.Pegasos(**BATCHES)}, {}, ps.Pegasos(**BATCHES, seed=4)),
    ({"solver": NEAR, "standardize": True}, {"standardize": True}, NEAR),
    (
        {"solver": NEAR, "class_weight": {"ill": 0.5}},
        {"weights": {"ill": 0.5, "well": 1.0}},
        NEAR,
    ),
]


@pytest.mark.parametrize(("classifier", "model"), LINEAR)
class TestEqualNumbers:
    """As the models have them."""

    @pytest.mark.parametrize(("options", "of_model", "solver"), FITS)
    def test_options(self, classifier, model, rows, options, of_model, solver):
        X, y, _ = rows
        found = classifier(lam=0.5, random_state=4, **options).fit(X, y)
        result = model(y, X, lam=0.5, **of_model).fit(solver)
        same(found, result)
        assert found.classes_.tolist() == ["ill", "well"]
        scores = result.decision_function(X)
        # of coefficients for the predictors as they are: scaled, they round otherwise
        rtol = 1e-12 if found.standardize else 0.0
        np.testing.assert_allclose(found.decision_function(X), scores, rtol=rtol)
        assert np.array_equal(found.predict(X), result.predict(X))
        # sums of four products in another order
        np.testing.assert_allclose(
            X @ found.coef_[0] + found.intercept_[0], scores, rtol=1e-10, atol=1e-10
        )

    @pytest.mark.parametrize("by_class", [{"well": 3.0}, "balanced"])
    def test_weights_of_rows_and_classes(self, classifier, model, rows, by_class):
        X, y, w = rows
        ill, well = 1.0, 3.0
        if by_class == "balanced":
            ill, well = (w.sum() / (2 * w[y == each].sum()) for each in ("ill", "well"))
        given = {"class_weight": by_class, "lam": 0.02, "random_state": 4}
        found = classifier(**given).fit(X, y, sample_weight=w)
        each = w * np.where(y == "ill", ill, well)
        near(found, model(y, X, lam=0.02, weights=each).fit(NEAR))

    def test_sparse(self, classifier, model, rows):
        X, y, _ = rows
        X = np.where(np.abs(X) > 1.0, X, 0.0)
        given, X = sparse.csc_matrix(X), sparse.csr_array(X)
        found = classifier(lam=0.1, random_state=4).fit(given, y)
        result = model(y, X, lam=0.1).fit(NEAR)
        near(found, result)
        assert np.array_equal(found.predict(given), result.predict(X))

    def test_names_of_columns(self, classifier, model, rows):
        X, y, _ = rows
        names = "a", "b c", "é", "d"
        frame = pd.DataFrame(X, columns=names)
        found = classifier(random_state=4).fit(frame, y)
        assert tuple(found.feature_names_in_) == found.result_.design.names == names
        near(found, model(y, frame, lam=1.0 / len(y)).fit(NEAR))


def test_the_squared_hinge_is_that_of_the_model_and_of_linear_svc(rows):
    X, y, _ = rows
    found = SVMClassifier(lam=0.02, solver=NEAR, **SQUARED).fit(X, y)
    near(found, ps.SVM(y, X, lam=0.02, **SQUARED).fit(NEAR))
    without = SVMClassifier(lam=0.02, intercept=False, **SQUARED).fit(X, y)
    peer = LinearSVC(C=1 / (0.02 * len(y)), fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(without.coef_, peer.coef_, rtol=1e-5)  # of their tol
    assert clone(without).get_params()["loss"] == "squared_hinge"
    grid = GridSearchCV(SVMClassifier(lam=0.02), {"loss": ["hinge", "squared_hinge"]})
    assert set(grid.fit(X, y).cv_results_["param_loss"]) == {"hinge", "squared_hinge"}
    with pytest.raises(OptionError, match="squared_hinge"):
        SVMClassifier(lam=0.02, loss="log").fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_steps_over_parts_are_of_the_loss(rows, loss):
    X, y, _ = rows
    solver = ps.Pegasos(order="sequential", first_step=1000)
    found = SVMClassifier(lam=0.1, loss=loss, solver=solver).partial_fit(X, y)
    same(found, ps.SVM(y, X, lam=0.1, loss=loss).fit(replace(solver, epochs=1)))


def test_probabilities_are_those_of_the_logit(rows):
    X, y, _ = rows
    found = LogitClassifier(lam=0.02, solver=NEAR).fit(X, y)
    result = ps.Logit(y, X, lam=0.02).fit(NEAR)
    # one logistic function by two formulas
    np.testing.assert_allclose(
        found.predict_proba(X), result.predict_proba(X), rtol=1e-13
    )
    far = found.predict_log_proba(1e6 * X)
    assert np.isfinite(far).all()
    assert far.min() < -1000.0
    assert not hasattr(SVMClassifier(lam=1.0), "predict_proba")
    assert not hasattr(KernelSVMClassifier(lam=1.0), "predict_proba")


GAUSSIAN = {"kernel": "gaussian", "gamma": 2.0, "lam": 0.3, "standardize": True}
CUBIC = {"kernel": "polynomial", "degree": 3, "offset": 0.5, "lam": 10.0}
CUBIC |= {"standardize": False, "gamma": 0.5}


@pytest.mark.parametrize("options", [GAUSSIAN, CUBIC])
def test_kernels(rows, options):
    X, y, w = rows
    given = {"class_weight": {"ill": 2.0}, "solver": "pegasos", "random_state": 4}
    found = KernelSVMClassifier(**options, **given).fit(X, y, w)
    weights = w * np.where(y == "ill", 2.0, 1.0)
    result = ps.KernelSVM(y, X, **options, weights=weights).fit(ps.Pegasos(seed=4))
    assert np.array_equal(found.dual_coef_, [result.dual_coef])
    assert np.array_equal(found.support_, result.dual_coef.index)
    assert found.intercept_.tolist() == [result.intercept]
    assert found.relative_gap_ == result.relative_gap
    assert np.array_equal(found.decision_function(X), result.decision_function(X))
    assert np.array_equal(found.predict(X), result.predict(X, ties="negative"))


PEERS = [
    (LogitClassifier(), LogisticRegression(tol=1e-10, max_iter=1000), True),
    (SVMClassifier(), SVC(kernel="linear", tol=1e-9), False),
    (KernelSVMClassifier(), SVC(tol=1e-9), True),
    (KernelSVMClassifier(kernel="poly"), SVC(kernel="poly", tol=1e-9), True),
    (
        KernelSVMClassifier(kernel="poly", gamma="auto", degree=2, offset=0.5),
        SVC(kernel="poly", gamma="auto", degree=2, coef0=0.5, tol=1e-9),
        True,
    ),
    (KernelSVMClassifier(gamma="auto"), SVC(gamma="auto", tol=1e-9), True),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "by_class",
    [None, "balanced", {"ill": 5.0}, {"ill": 5.0, "well": 0.5, "unknown": 3.0}],
)
@pytest.mark.parametrize(("ours", "peer", "balances"), PEERS, ids=repr)
def test_weights_mean_what_they_mean_in_scikit_learn(
    rows, ours, peer, balances, by_class, weighted
):
    """By default, C = 1; SVC balances the rows, whatever they weigh, LinearSVC not."""
    X, y, w = rows
    X = StandardScaler().fit_transform(X)
    w = w + 1.0 if weighted else None
    if by_class == "balanced" and weighted and not balances:
        return
    found, theirs = (
        clone(each).set_params(class_weight=by_class).fit(X, y, sample_weight=w)
        for each in (ours, peer)
    )
    expected = theirs.decision_function(X)
    # libsvm ends with a violation of 1e-9 of the conditions, up to 5e-5 of a score
    np.testing.assert_allclose(found.decision_function(X), expected, atol=1e-4)


def test_a_kernel_goes_to_the_optimum(rows):
    X, y, w = rows
    found = KernelSVMClassifier(lam=0.1, gamma=0.01, random_state=4).fit(X, y, w)
    model = ps.KernelSVM(y, X, lam=0.1, gamma=0.01, weights=w, standardize=False)
    result = model.fit(ps.Optimum(tol=1e-9, gap_tol=1e-9, seed=4))
    scores = result.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, atol=1e-4)
    assert found.relative_gap_ < 1e-8


def test_a_precomputed_kernel_is_cut_in_rows_and_columns(rows):
    X, y, _ = rows
    given = {"lam": 50.0, "solver": "pegasos", "random_state": 1}
    scores = [
        cross_val_score(KernelSVMClassifier(kernel=kernel, **given), Z, y, cv=3)
        for kernel, Z in (("linear", X), ("precomputed", X @ X.T))
    ]
    assert np.array_equal(*scores)


def test_a_score_of_zero_is_of_the_first_class():
    X, y = np.array([[-1.0], [1.0]]), ["no", "yes"]
    found = SVMClassifier(lam=0.1, intercept=False).fit(X, y)
    assert found.decision_function([[0.0]]).tolist() == [0.0]
    assert found.predict([[0.0]]).tolist() == ["no"]
    positive = found.set_params(solver=ps.Optimum(ties="positive")).fit(X, y)
    assert positive.predict([[0.0], [-1.0], [2.0]]).tolist() == ["yes", "no", "yes"]


class TestParameters:
    """Names, clones and refusals."""

    def test_options_of_a_solver_are_parameters(self, rows):
        X, y, _ = rows
        classifier = SVMClassifier(solver=ps.Pegasos(epochs=4), random_state=2, lam=1.0)
        assert classifier.get_params()["solver__epochs"] == 4
        assert "solver__epochs" not in classifier.get_params(deep=False)
        solver = classifier.solver
        classifier.set_params(solver__batch_size=5, lam=3.0)
        assert (classifier.solver.epochs, classifier.solver.batch_size) == (4, 5)
        assert (solver.batch_size, classifier.lam) == (1, 3.0)
        classifier.set_params(solver="pegasos", solver__average="all")
        expected = ps.SVM(y, X, lam=3.0).fit(ps.Pegasos(average="all", seed=2))
        same(classifier.fit(X, y), expected)

    def test_refused(self, rows):
        for given, named in (
            ("even", "class_weight='even'"),
            ({"sick": 2.0}, "names 'sick', .* 'ill', 'well'"),
        ):
            with pytest.raises(OptionError, match=named):
                SVMClassifier(class_weight=given).fit(*rows[:2])
        with pytest.raises(OptionError, match=r"^Pegasos has no option 'gap_tol'; it"):
            SVMClassifier(solver="pegasos", lam=1.0).set_params(solver__gap_tol=0.1)

    @pytest.mark.parametrize(
        ("labels", "weights", "named"),
        [
            (["a"] * 4, None, "only one class, 'a'"),
            (list("abca"), None, r"'a', 'b', 'c'.*OneVsRestClassifier"),
            (list("abab"), [1.0, 0.0, 2.0, 0.0], "class 'b' has no row"),
        ],
    )
    def test_labels(self, labels, weights, named):
        with pytest.raises(LabelError, match=named):
            SVMClassifier(lam=1.0).fit(np.arange(4.0).reshape(-1, 1), labels, weights)

    def test_seeds(self, rows):
        X, y, _ = rows
        random = np.random.RandomState(5)
        drawn = SVMClassifier(solver="pegasos", random_state=random, lam=1.0)
        seed = int(np.random.RandomState(5).randint(2**31 - 1))
        assert drawn.fit(X, y).result_.seed == seed
        assert drawn.fit(X, y).result_.seed != seed  # the next one
        kept = SVMClassifier(solver=ps.Pegasos(seed=11), lam=1.0).fit(X, y)
        assert kept.result_.seed == 11


@pytest.mark.parametrize("dtype", ["datetime64[D]", "timedelta64[s]"])
def test_labels_may_be_dates(dtype, rows):
    X, y, _ = rows
    dates = np.where(y == "ill", 18000, 19000).astype("int64").astype(dtype)
    classes = np.unique(dates)
    found = SVMClassifier(lam=0.1, class_weight={classes[1]: 2.0}).fit(X, dates)
    plain = SVMClassifier(lam=0.1, class_weight={"well": 2.0}).fit(X, y)
    assert np.array_equal(found.classes_, classes)
    expected = np.where(plain.predict(X) == "ill", *classes)
    assert np.array_equal(found.predict(X), expected)
    assert found.score(X, dates) == plain.score(X, y)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=repr)
@pytest.mark.parametrize("make", [list, pd.Series])
def test_missing_labels_are_an_error_that_names_the_first(missing, make):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = make([*(["a", "b"] * 19), missing, "a"])
    partial = LogitClassifier(lam=1.0, solver="pegasos").partial_fit
    for fit in (SVMClassifier().fit, KernelSVMClassifier().fit, partial):
        with pytest.raises(LabelError, match=r"NaN.* 38"):
            fit(X, y)


def test_categories_are_sorted_as_scikit_learn_sorts_them(rows):
    X, y, _ = rows
    turned = pd.Series(pd.Categorical(y, categories=["well", "ill"]))
    each = SVMClassifier(lam=0.02, random_state=1)
    found, plain = clone(each).fit(X, turned), each.fit(X, y)
    assert found.classes_.tolist() == ["ill", "well"]
    assert np.array_equal(found.coef_, plain.coef_)


def imbalanced(draw):
    """97 rows to 3 of the other class, which the predictors do not tell apart."""
    return draw.normal(size=(300, 3)), np.repeat(["no", "yes"], [291, 9])


@pytest.mark.parametrize(
    "classifier", [SVMClassifier(), LogitClassifier(), KernelSVMClassifier()]
)
def test_one_class_for_every_row_is_warned_of(classifier):
    X, y = imbalanced(np.random.default_rng(1))
    with pytest.warns(PegasosStatsWarning, match="as 'no'; .*class_weight='balanced'"):
        found = classifier.fit(X, y).predict(X)
    assert set(found) == {"no"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier.set_params(class_weight="balanced").fit(X, y)


def test_a_refined_fit_is_not_further_from_the_minimum():
    rng = np.random.default_rng(1)
    income = rng.normal(5e4, 1e4, 400)
    X = np.column_stack([rng.normal(50, 10, 400), income, income**2, income**3])
    y = X[:, 0] / 10 + income / 1e4 + rng.normal(0, 1, 400) > 10
    with pytest.warns(ps.errors.ConvergenceWarning, match="has not reached"):
        classifier = LogitClassifier().fit(X, y)
    with pytest.warns(ps.errors.ConvergenceWarning, match="has not reached"):
        result = ps.Logit(y, X, lam=1 / 400).fit(cov_type=None)
    assert classifier.relative_gap_ <= result.relative_gap

"""One of each object that a user keeps, on small data."""

import inspect

import numpy as np
import pandas as pd

import pegasos_stats as ps

N = 40


def frame():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N)})
    data["g"] = np.array(list("uvw"))[np.arange(N) % 3]
    data["y"] = np.where(data["a"] + rng.normal(size=N) > 0, "yes", "no")
    data.index = pd.Index([f"row {i}" for i in range(N)], name="id")
    return data


DATA = frame()
FORMULA = "y ~ a + scale(b) + g"


def misses(y, scores):
    """A metric of one's own."""
    return float(np.sum(y * scores < 0.0))


def model(build=ps.svm, **options):
    return build(FORMULA, DATA, lam=0.1, **options)


def exact():
    return ps.Optimum(tol=1e-8, seed=1)


def two_fits():
    return [model(build).fit(exact()) for build in (ps.svm, ps.logit)]


def cross_validation():
    model_ = model(ps.logit, weights="balanced")
    return ps.cross_validate(model_, exact(), folds=3, repeats=3, seed=443)


def nested():
    given = {"lambda_path": [1.0, 0.1], "metrics": ["auc", misses], "folds": 3}
    return ps.cross_validate(model(), **given, seed=1)


def path():
    return ps.lambda_path(model(standardize=True), [1.0, 0.1, 0.01], folds=3, seed=1)


def path_of_runs():
    solver = ps.Pegasos(epochs=1, step=np.linspace(1.0, 0.1, N), seed=5)
    return ps.lambda_path(model(), [1.0, 0.1], solver, folds=None)


def tuning():
    kernel = ps.kernel_svm("y ~ a + b", DATA, lam=1.0)
    return ps.tune_kernel(kernel, [0.1, 1.0], [0.1, 0.01], folds=3, seed=1)


def gram():
    K = DATA[["a", "b"]].to_numpy() @ DATA[["a", "b"]].to_numpy().T
    kernel = ps.KernelSVM(DATA["y"].to_numpy(), K, kernel="precomputed", lam=1.0)
    folds = np.arange(N) % 3
    return ps.cross_validate(kernel, folds=pd.Series(folds).map(dict(enumerate("pqr"))))


def calibrated():
    found = ps.calibrate(model(), exact(), folds=3, seed=443)
    found.result.summary()  # whose standard errors are then in the file
    return found


def calibrated_kernel():
    return ps.calibrate(ps.kernel_svm("y ~ a + b", DATA, lam=1.0), folds=3, seed=443)


def thresholds():
    fit = model(ps.logit).fit(exact())
    return fit.thresholds(cost={"no": 1, "yes": 4}, folds=3, seed=443)


def reliability():
    return calibrated().reliability(5)


def errors():
    models = {"hinge": model(), "log": model(ps.logit)}
    return ps.compare_errors(models, folds=3, seed=443)


def models():
    fits = {
        "hinge": model().fit(exact(), cov_type="sandwich"),
        "log": model(ps.logit).fit(exact()),
        "kernel": ps.kernel_svm("y ~ a + b", DATA, lam=1.0).fit(),
    }
    return ps.compare_models(fits, stars=True)


def solvers():
    given = {"Pegasos": ps.Pegasos(epochs=3), "SDCA": ps.Optimum(tol=1e-3)}
    return ps.compare_solvers(model(), given, runs=3, seed=443, test=DATA)


def predictions():
    labels = [fit.predict(DATA) for fit in two_fits()]
    return ps.compare_predictions(DATA["y"], *labels, names=("hinge", "log"))


def pooled():
    frames = [DATA.assign(a=DATA["a"] + move) for move in (0.0, 0.1)]
    return ps.pool([ps.logit("y ~ a + b", frame, lam=0.1).fit() for frame in frames])


def likelihood_ratio():
    models = [ps.logit(f"y ~ {terms}", DATA, lam=1e-9) for terms in ("a", "a + b")]
    return ps.anova(*(model.fit(exact()) for model in models))


def areas():
    scores = [fit.decision_function(DATA) for fit in two_fits()]
    return ps.compare_roc(DATA["y"], *scores, names=("hinge", "log"))


def recall():
    scores = model().fit(exact()).decision_function(DATA)
    return ps.precision_recall(DATA["y"], scores)


def benefit():
    p = model(ps.logit).fit(exact()).predict_proba(DATA)
    return ps.decision_curve(DATA["y"], {"one": p, "other": p["yes"] / 2})


def table():
    fit = model(ps.logit).fit(exact())
    return fit.confusion(DATA, positive="yes")


def weighted_table():
    days = pd.date_range("2020-01-01", periods=N, freq="D")
    actual = pd.Series(list("abc") * 13 + [None], days)
    predicted = pd.Series(list("abcb") * 10, days)
    return ps.confusion(actual, predicted, weights=np.linspace(0.5, 1.5, N))


def several_labels():
    rows = pd.MultiIndex.from_product([list("pq"), range(20)], names=["clinic", None])
    data = DATA.set_index(rows)
    fit = ps.logit(FORMULA, data, lam=0.1).fit(exact())
    return fit.confusion(data)


def report_of_table():
    return table().summary()


def margins():
    return model(ps.logit).fit(exact()).margins()


def resampled_margins():
    fit = model(ps.logit).fit(exact())
    return fit.with_covariance(ps.Bootstrap(replicates=20, seed=3)).predictions("g")


def contrasts():
    return model(ps.logit).fit(exact()).t_test("a = 0")


def joint():
    return model(ps.logit).fit(exact()).wald_test("a = 0, b = 0".replace("b", "g[T.v]"))


def parity():
    table_ = pd.DataFrame({"python": "3", "r": "3", "same": "every bit"}, ["steps"])
    ran = {"rows": np.arange(4), "alpha": 0.5, "levels": ["no", "yes"], "none": None}
    facts = {"version": "4.2.2"}
    return ps.ParityCheck(table_, "svm", "", "", facts, ran, dict(ran))


def folds():
    return ps.Folds.stratified(DATA["y"], 4, groups=np.arange(N) // 4, seed=443)


def coding():
    return model().coding


def summary():
    return model().fit(exact()).summary()


def session():
    return ps.session_info()


HELPERS = (frame, misses, model, exact, two_fits)
OBJECTS = {
    name: made
    for name, made in list(globals().items())
    if inspect.isfunction(made) and made not in HELPERS
}
FUNCTIONS = {"nested": {"misses": misses}}

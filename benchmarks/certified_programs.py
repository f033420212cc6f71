"""Certify how near the minimum six other programs end, with their defaults.

    python benchmarks/certified_programs.py > docs/certified_programs.csv

The table contains relative gaps from `ps.certify`: the objective at the coefficients
minus a lower bound of its minimum, divided by the objective. The penalty is ``lam =
1/n``, which is ``C = 1`` in scikit-learn and e1071; `statsmodels` has no penalty.
LIBLINEAR also penalises the intercept, so it minimises another function: its gap
includes the effect of this penalty. R's packages run in Rscript.
"""

import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn import datasets, svm
from sklearn.linear_model import LogisticRegression

import pegasos_stats as ps

SCRIPT = """
data <- read.csv("{path}", check.names = FALSE)
y <- data[[1]]; X <- as.matrix(data[-1]); n <- nrow(X)
fit <- {fit}
cat(sprintf("%.17g", {coefficients}))
"""
R = {
    "glmnet": (
        'glmnet::glmnet(X, y, "binomial", alpha = 0, lambda = 1 / n, '
        "standardize = FALSE)",
        "as.numeric(stats::coef(fit))",
    ),
    "e1071": (
        'e1071::svm(X, factor(y), kernel = "linear", scale = FALSE)',
        "c(-fit$rho, crossprod(fit$SV, fit$coefs)) * c(-1, 1)[fit$labels[1]]",
    ),
}


def simulated(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Simulate 5,000 rows of 20 columns with standard deviation 1 and mean `shift`."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((5000, 20))
    return X + shift, X[:, :5].sum(axis=1) + rng.logistic(size=5000) > 0.0


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return predictors and outcome of each data set, by name."""
    affairs = ps.datasets.load_affairs()
    spector = sm.datasets.spector.load_pandas()
    cancer, wine = datasets.load_breast_cancer(), datasets.load_wine()
    numbers = affairs.drop(columns="affair").select_dtypes("number")
    return {
        "affairs (6,366 x 8)": (
            numbers.to_numpy(float),
            affairs["affair"].to_numpy() == affairs["affair"].max(),
        ),
        "spector (32 x 3)": (spector.exog.to_numpy(), spector.endog.to_numpy() > 0),
        "breast cancer (569 x 30)": (cancer.data, cancer.target > 0),
        "wine (178 x 13)": (wine.data, wine.target > 0),
        "simulated (5,000 x 20)": simulated(0.0),
        "the same, column means 100": simulated(100.0),
    }


def in_r(name: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return intercept and coefficients by a package of R."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        frame = pd.DataFrame(X).assign(y=np.where(y, 1, -1))
        frame[["y", *range(X.shape[1])]].to_csv(path, index=False)
        fit, coefficients = R[name]
        script = SCRIPT.format(path=path, fit=fit, coefficients=coefficients)
        run = subprocess.run(
            ["Rscript", "--vanilla", "-e", script],
            capture_output=True,
            text=True,
            check=True,
        )
    return np.array(run.stdout.split(), dtype=np.float64)


def sklearn_fit(model: LogisticRegression | svm.LinearSVC) -> Callable[..., np.ndarray]:
    """Return a function from rows and labels to intercept and coefficients."""

    def fit(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        model.fit(X, y)
        return np.append(model.intercept_, model.coef_)

    return fit


def likelihood(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return sm.Logit(y.astype(float), sm.add_constant(X)).fit(disp=0).params


PROGRAMS: dict[str, tuple[type, dict[str, object], Callable[..., np.ndarray]]] = {
    "scikit-learn LogisticRegression": (
        ps.Logit,
        {},
        sklearn_fit(LogisticRegression()),
    ),
    "scikit-learn SVC": (ps.SVM, {}, sklearn_fit(svm.SVC(kernel="linear"))),
    "LIBLINEAR LinearSVC": (
        ps.SVM,
        {"loss": "squared_hinge"},
        sklearn_fit(svm.LinearSVC()),
    ),
    "statsmodels Logit": (ps.Logit, {"lam": 0.0}, likelihood),
    "glmnet, alpha = 0": (ps.Logit, {}, lambda X, y: in_r("glmnet", X, y)),
    "e1071 svm": (ps.SVM, {}, lambda X, y: in_r("e1071", X, y)),
}


def relative_gap(program: str, X: np.ndarray, y: np.ndarray) -> str:
    """Return the relative gap of a program's coefficients, or "no estimate"."""
    kind, options, fit = PROGRAMS[program]
    model = kind(np.where(y, 1, -1), X, **{"lam": 1.0 / len(y), **options})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theta = fit(X, y)
            return f"{ps.certify(model, theta[1:], theta[0]).relative_gap:.0e}"
    except (ps.errors.DataError, ps.errors.OptionError, np.linalg.LinAlgError):
        return "no estimate"


def main() -> None:
    """Print the table as CSV."""
    lines = {
        name: {program: relative_gap(program, X, y) for program in PROGRAMS}
        for name, (X, y) in sets().items()
    }
    print(pd.DataFrame(lines).rename_axis("Program").to_csv(), end="")


if __name__ == "__main__":
    main()

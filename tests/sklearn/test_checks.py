"""The classifiers for scikit-learn pass its whole suite of estimator checks.

Of the classifiers as they come no failure is expected. Two checks run on what a
two-class classifier declares through its tags: labels are reduced to two classes, and
three classes must be refused.
"""

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos_stats.errors import DataError
from pegasos_stats.sklearn import KernelSVMClassifier, LogitClassifier, SVMClassifier

pytestmark = [  # random labels, for which one class is often the best prediction
    pytest.mark.filterwarnings("ignore:The fit has not converged"),
    pytest.mark.filterwarnings("ignore:Every training row"),
]

WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "Pegasos ends at other coefficients for repeated rows than for weights: its "
        "steps are random, and do not go to the optimum."
    )
    for kind in ("dense", "sparse")
}
# In 1.6 it makes two classes of three by the label of the first row, which is another
# one in the repeated rows: another outcome. From 1.7 on by the least label.
LABELS = (
    dict.fromkeys(WEIGHTS, "The check compares fits of two different outcomes.")
    if sklearn.__version__.startswith("1.6.")
    else {}
)
NO_KERNEL = dict.fromkeys(
    [
        "check_positive_only_tag_during_fit",
        "check_estimators_dtypes",
    ],
    "The matrix that the check makes, rounded to whole numbers or to single precision, "
    "is that of no kernel: it has eigenvalues below 0, and is refused.",
)

GAMMA = dict.fromkeys(
    WEIGHTS, "As in SVC, the default gamma is of the rows, whatever they weigh."
)

CLASSIFIERS = [
    SVMClassifier(lam=1.0),
    LogitClassifier(lam=1.0),
    SVMClassifier(),
    LogitClassifier(),
    LogitClassifier(lam=1e-4),
    KernelSVMClassifier(gamma=0.5),
    KernelSVMClassifier(),
    SVMClassifier(lam=0.01, class_weight="balanced", standardize=True),
    SVMClassifier(solver="pegasos", lam=1.0),
    KernelSVMClassifier(solver="pegasos", lam=1.0),
    KernelSVMClassifier(kernel="precomputed", tol=1e-6, lam=1.0),
]


def expected_failures(estimator):
    if getattr(estimator, "kernel", "") == "precomputed":
        return NO_KERNEL
    if estimator.solver == "pegasos":
        return WEIGHTS
    if getattr(estimator, "gamma", 0.5) is None:
        return GAMMA
    return LABELS


@pytest.mark.slow
@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=expected_failures)
def test_of_scikit_learn(estimator, check):
    is_rounded = getattr(check, "keywords", {}).get("X_dtype") == "float32"
    if is_rounded and getattr(estimator, "kernel", "") == "precomputed":
        with pytest.raises(DataError, match="not positive semi-definite"):
            check(estimator)  # see NO_KERNEL
        return
    check(estimator)

"""Classifiers for scikit-learn's pipelines, searches and meta-estimators.

They take rows first and labels second, store results in attributes that end in ``_``,
and reproduce `SVM`, `Logit` and `KernelSVM` bit for bit.

>>> from pegasos_stats.sklearn import SVMClassifier
>>> SVMClassifier(lam=0.1, random_state=1).fit([[0.0], [1.0], [3.0]], [0, 0, 1])
SVMClassifier(lam=0.1, random_state=1)
"""

from typing import TYPE_CHECKING

from pegasos_stats.errors import DependencyError
from pegasos_stats.foreign_names import missing_in_module

try:
    import sklearn  # noqa: F401
except ImportError:
    raise DependencyError(
        "pegasos_stats.sklearn needs scikit-learn, which is not installed; run "
        "pip install 'pegasos_stats[sklearn]'."
    ) from None

from pegasos_stats.sklearn.classifiers import (
    KernelSVMClassifier,
    LogitClassifier,
    SVMClassifier,
)

__all__ = ["KernelSVMClassifier", "LogitClassifier", "SVMClassifier"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise missing_in_module(__name__, name, __all__, "classifier")

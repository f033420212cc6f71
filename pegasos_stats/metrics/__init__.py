"""Statistics of a confusion table: one function each, NaN where undefined.

Tables are arrays of counts, rows actual and columns predicted levels: the transpose of
caret's. A class is named by its position, and the functions of one class compare it
with the rest.
"""

from typing import TYPE_CHECKING

from pegasos_stats.foreign_names import missing_in_module
from pegasos_stats.metrics.intervals import (
    Interval,
    Method,
    balanced_accuracy_interval,
    check_interval,
    kappa_interval,
    matthews_interval,
    negative_predictive_interval,
    paired_difference_interval,
    predictive_interval,
    proportion_interval,
)
from pegasos_stats.metrics.rates import (
    ChiSquare,
    accuracy,
    accuracy_p_value,
    balanced_accuracy,
    detection_prevalence,
    detection_rate,
    f_beta,
    kappa,
    matthews_correlation,
    mcnemar,
    mcnemar_exact,
    mcnemar_mid_p,
    neg_pred_value,
    no_information_rate,
    pos_pred_value,
    precision,
    prevalence,
    recall,
    sensitivity,
    specificity,
)
from pegasos_stats.metrics.scores import (
    RocCurve,
    area_under_curve,
    auc_interval,
    brier_score,
    log_loss,
    roc_curve,
)

__all__ = [
    "ChiSquare",
    "Interval",
    "Method",
    "RocCurve",
    "accuracy",
    "accuracy_p_value",
    "area_under_curve",
    "auc_interval",
    "balanced_accuracy",
    "balanced_accuracy_interval",
    "brier_score",
    "check_interval",
    "detection_prevalence",
    "detection_rate",
    "f_beta",
    "kappa",
    "kappa_interval",
    "log_loss",
    "matthews_correlation",
    "matthews_interval",
    "mcnemar",
    "mcnemar_exact",
    "mcnemar_mid_p",
    "neg_pred_value",
    "negative_predictive_interval",
    "no_information_rate",
    "paired_difference_interval",
    "pos_pred_value",
    "precision",
    "predictive_interval",
    "prevalence",
    "proportion_interval",
    "recall",
    "roc_curve",
    "sensitivity",
    "specificity",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise missing_in_module(__name__, name, __all__)

"""Statistics of a confusion table: one function each, NaN where undefined.

Tables are arrays of counts, rows actual and columns predicted levels: the transpose of
caret's. A class is named by its position, and the functions of one class compare it
with the rest.
"""

from typing import TYPE_CHECKING

from pegasos_stats.foreign_names import missing_in_module
from pegasos_stats.metrics.intervals import Interval as Interval
from pegasos_stats.metrics.intervals import Method as Method
from pegasos_stats.metrics.intervals import (
    balanced_accuracy_interval as balanced_accuracy_interval,
)
from pegasos_stats.metrics.intervals import check_interval as check_interval
from pegasos_stats.metrics.intervals import kappa_interval as kappa_interval
from pegasos_stats.metrics.intervals import matthews_interval as matthews_interval
from pegasos_stats.metrics.intervals import (
    negative_predictive_interval as negative_predictive_interval,
)
from pegasos_stats.metrics.intervals import (
    paired_difference_interval as paired_difference_interval,
)
from pegasos_stats.metrics.intervals import predictive_interval as predictive_interval
from pegasos_stats.metrics.intervals import proportion_interval as proportion_interval
from pegasos_stats.metrics.rates import ChiSquare as ChiSquare
from pegasos_stats.metrics.rates import accuracy as accuracy
from pegasos_stats.metrics.rates import accuracy_p_value as accuracy_p_value
from pegasos_stats.metrics.rates import balanced_accuracy as balanced_accuracy
from pegasos_stats.metrics.rates import detection_prevalence as detection_prevalence
from pegasos_stats.metrics.rates import detection_rate as detection_rate
from pegasos_stats.metrics.rates import f_beta as f_beta
from pegasos_stats.metrics.rates import kappa as kappa
from pegasos_stats.metrics.rates import matthews_correlation as matthews_correlation
from pegasos_stats.metrics.rates import mcnemar as mcnemar
from pegasos_stats.metrics.rates import mcnemar_exact as mcnemar_exact
from pegasos_stats.metrics.rates import mcnemar_mid_p as mcnemar_mid_p
from pegasos_stats.metrics.rates import neg_pred_value as neg_pred_value
from pegasos_stats.metrics.rates import no_information_rate as no_information_rate
from pegasos_stats.metrics.rates import pos_pred_value as pos_pred_value
from pegasos_stats.metrics.rates import precision as precision
from pegasos_stats.metrics.rates import prevalence as prevalence
from pegasos_stats.metrics.rates import recall as recall
from pegasos_stats.metrics.rates import sensitivity as sensitivity
from pegasos_stats.metrics.rates import specificity as specificity
from pegasos_stats.metrics.scores import RocCurve as RocCurve
from pegasos_stats.metrics.scores import area_under_curve as area_under_curve
from pegasos_stats.metrics.scores import auc_interval as auc_interval
from pegasos_stats.metrics.scores import brier_score as brier_score
from pegasos_stats.metrics.scores import log_loss as log_loss
from pegasos_stats.metrics.scores import roc_curve as roc_curve

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise missing_in_module(__name__, name, [*globals()])

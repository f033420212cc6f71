"""Public names and their modules: for type checkers, and read by ``__init__.py``."""

from pegasos_stats import datasets as datasets
from pegasos_stats import errors as errors
from pegasos_stats.data.files import read_svmlight as read_svmlight
from pegasos_stats.data.labels import LabelCoding as LabelCoding
from pegasos_stats.data.scan.files import scan as scan
from pegasos_stats.datasets import load_affairs as load_affairs
from pegasos_stats.metrics.confusion import ConfusionMatrix as ConfusionMatrix
from pegasos_stats.metrics.confusion import PairedComparison as PairedComparison
from pegasos_stats.metrics.confusion import compare_predictions as compare_predictions
from pegasos_stats.metrics.confusion import confusion as confusion
from pegasos_stats.metrics.scores import DecisionCurve as DecisionCurve
from pegasos_stats.metrics.scores import PrecisionRecall as PrecisionRecall
from pegasos_stats.metrics.scores import decision_curve as decision_curve
from pegasos_stats.metrics.scores import precision_recall as precision_recall
from pegasos_stats.metrics.scores import roc_band as roc_band
from pegasos_stats.models.diagnostics import anova as anova
from pegasos_stats.models.inference.options import Bootstrap as Bootstrap
from pegasos_stats.models.inference.options import Cluster as Cluster
from pegasos_stats.models.inference.options import Sandwich as Sandwich
from pegasos_stats.models.kernel import KernelResults as KernelResults
from pegasos_stats.models.kernel import KernelSVM as KernelSVM
from pegasos_stats.models.kernel import kernel_svm as kernel_svm
from pegasos_stats.models.linear import SVM as SVM
from pegasos_stats.models.linear import Logit as Logit
from pegasos_stats.models.linear import logit as logit
from pegasos_stats.models.linear import svm as svm
from pegasos_stats.models.linear_results import LinearResults as LinearResults
from pegasos_stats.models.results import Results as Results
from pegasos_stats.output.plotting.curves import plot_losses as plot_losses
from pegasos_stats.output.report.report import Report as Report
from pegasos_stats.output.report.report import report as report
from pegasos_stats.persist import load as load
from pegasos_stats.persist import save as save
from pegasos_stats.proofs.proof import Certification as Certification
from pegasos_stats.proofs.proof import certify as certify
from pegasos_stats.rng import RRandom as RRandom
from pegasos_stats.solvers.optimum import Optimum as Optimum
from pegasos_stats.solvers.pegasos import Pegasos as Pegasos
from pegasos_stats.solvers.sdca import SDCA as SDCA
from pegasos_stats.studies.calibration import CalibratedResults as CalibratedResults
from pegasos_stats.studies.calibration import Reliability as Reliability
from pegasos_stats.studies.calibration import calibrate as calibrate
from pegasos_stats.studies.calibration import reliability as reliability
from pegasos_stats.studies.comparisons import ErrorComparison as ErrorComparison
from pegasos_stats.studies.comparisons import ModelComparison as ModelComparison
from pegasos_stats.studies.comparisons import RocComparison as RocComparison
from pegasos_stats.studies.comparisons import SolverComparison as SolverComparison
from pegasos_stats.studies.comparisons import compare_errors as compare_errors
from pegasos_stats.studies.comparisons import compare_models as compare_models
from pegasos_stats.studies.comparisons import compare_roc as compare_roc
from pegasos_stats.studies.comparisons import compare_solvers as compare_solvers
from pegasos_stats.studies.cross_validation import (
    CrossValidation as CrossValidation,
)
from pegasos_stats.studies.cross_validation import (
    KernelTuning as KernelTuning,
)
from pegasos_stats.studies.cross_validation import LambdaPath as LambdaPath
from pegasos_stats.studies.cross_validation import (
    cross_validate as cross_validate,
)
from pegasos_stats.studies.cross_validation import lambda_grid as lambda_grid
from pegasos_stats.studies.cross_validation import lambda_path as lambda_path
from pegasos_stats.studies.cross_validation import tune_kernel as tune_kernel
from pegasos_stats.studies.folds import Folds as Folds
from pegasos_stats.studies.parity import ParityCheck as ParityCheck
from pegasos_stats.studies.parity import check_against_r as check_against_r
from pegasos_stats.studies.pooling import PooledEstimates as PooledEstimates
from pegasos_stats.studies.pooling import PooledResults as PooledResults
from pegasos_stats.studies.pooling import pool as pool
from pegasos_stats.studies.thresholds import Thresholds as Thresholds
from pegasos_stats.studies.validation import Subgroups as Subgroups
from pegasos_stats.studies.validation import Validation as Validation
from pegasos_stats.studies.validation import validate as validate
from pegasos_stats.tables import SessionInfo as SessionInfo
from pegasos_stats.tables import session_info as session_info

__version__: str
__all__: list[str]

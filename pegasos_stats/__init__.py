"""Support vector machines and logistic regression for two-level outcomes.

>>> import pegasos_stats as ps
>>> train, test = ps.datasets.load_digits56()
>>> result = ps.svm("digit ~ .", data=train, lam=1.0).fit(ps.Pegasos(seed=443))
>>> result.confusion(test).n_errors
1
"""

from importlib import import_module
from typing import TYPE_CHECKING

from pegasos_stats import interrupts  # noqa: F401, before what takes long to load

if TYPE_CHECKING:
    from pegasos_stats.data.labels import LabelCoding
    from pegasos_stats.data.scan.files import scan
    from pegasos_stats.data.svmlight import read_svmlight
    from pegasos_stats.metrics.confusion import ConfusionMatrix, confusion
    from pegasos_stats.metrics.curves import (
        DecisionCurve,
        PrecisionRecall,
        decision_curve,
        precision_recall,
    )
    from pegasos_stats.metrics.paired import PairedComparison, compare_predictions
    from pegasos_stats.models.diagnostics import anova
    from pegasos_stats.models.inference.options import Bootstrap, Cluster, Sandwich
    from pegasos_stats.models.kernel import KernelSVM, kernel_svm
    from pegasos_stats.models.kernel_results import KernelResults
    from pegasos_stats.models.linear import SVM, Logit, logit, svm
    from pegasos_stats.models.linear_results import LinearResults
    from pegasos_stats.models.results import Results
    from pegasos_stats.output.plotting.curves import plot_losses
    from pegasos_stats.output.report.report import Report, report
    from pegasos_stats.persist import load, save
    from pegasos_stats.rng import RRandom
    from pegasos_stats.session import SessionInfo, session_info
    from pegasos_stats.solvers.pegasos import Pegasos
    from pegasos_stats.solvers.sdca import SDCA
    from pegasos_stats.studies.calibration import CalibratedResults, calibrate
    from pegasos_stats.studies.comparisons import (
        ErrorComparison,
        ModelComparison,
        RocComparison,
        compare_errors,
        compare_models,
        compare_roc,
    )
    from pegasos_stats.studies.parity.check import ParityCheck, check_against_r
    from pegasos_stats.studies.pooling import PooledResults, pool
    from pegasos_stats.studies.reliability import Reliability, reliability
    from pegasos_stats.studies.selection.cross_validation import (
        CrossValidation,
        cross_validate,
    )
    from pegasos_stats.studies.selection.folds import Folds
    from pegasos_stats.studies.selection.lambda_path import (
        KernelTuning,
        LambdaPath,
        lambda_grid,
        lambda_path,
        tune_kernel,
    )
    from pegasos_stats.studies.solver_comparison import (
        SolverComparison,
        compare_solvers,
    )
    from pegasos_stats.studies.thresholds import Thresholds

__version__ = "0.1.0"

__all__ = [
    "SDCA",
    "SVM",
    "Bootstrap",
    "CalibratedResults",
    "Cluster",
    "ConfusionMatrix",
    "CrossValidation",
    "DecisionCurve",
    "ErrorComparison",
    "Folds",
    "KernelResults",
    "KernelSVM",
    "KernelTuning",
    "LabelCoding",
    "LambdaPath",
    "LinearResults",
    "Logit",
    "ModelComparison",
    "PairedComparison",
    "ParityCheck",
    "Pegasos",
    "PooledResults",
    "PrecisionRecall",
    "RRandom",
    "Reliability",
    "Report",
    "Results",
    "RocComparison",
    "Sandwich",
    "SessionInfo",
    "SolverComparison",
    "Thresholds",
    "anova",
    "calibrate",
    "check_against_r",
    "compare_errors",
    "compare_models",
    "compare_predictions",
    "compare_roc",
    "compare_solvers",
    "confusion",
    "cross_validate",
    "datasets",
    "decision_curve",
    "errors",
    "kernel_svm",
    "lambda_grid",
    "lambda_path",
    "load",
    "logit",
    "plot_losses",
    "pool",
    "precision_recall",
    "read_svmlight",
    "reliability",
    "report",
    "save",
    "scan",
    "session_info",
    "svm",
    "tune_kernel",
]

MODULES = ("datasets", "errors")
PUBLIC = {  # modules that are loaded when one of their public names is asked for
    "data.labels": "LabelCoding",
    "data.scan.files": "scan",
    "data.svmlight": "read_svmlight",
    "metrics.confusion": "confusion ConfusionMatrix",
    "metrics.curves": "decision_curve DecisionCurve precision_recall PrecisionRecall",
    "metrics.paired": "compare_predictions PairedComparison",
    "models.diagnostics": "anova",
    "models.inference.options": "Bootstrap Cluster Sandwich",
    "models.kernel": "kernel_svm KernelSVM",
    "models.kernel_results": "KernelResults",
    "models.linear": "Logit logit SVM svm",
    "models.linear_results": "LinearResults",
    "models.results": "Results",
    "rng": "RRandom",
    "session": "session_info SessionInfo",
    "solvers.pegasos": "Pegasos",
    "solvers.sdca": "SDCA",
    "persist": "load save",
    "output.plotting.curves": "plot_losses",
    "output.report.report": "Report report",
    "studies.calibration": "calibrate CalibratedResults",
    "studies.solver_comparison": "compare_solvers SolverComparison",
    "studies.comparisons": (
        "compare_errors ErrorComparison compare_models ModelComparison compare_roc "
        "RocComparison"
    ),
    "studies.parity.check": "check_against_r ParityCheck",
    "studies.pooling": "PooledResults pool",
    "studies.reliability": "Reliability reliability",
    "studies.selection.cross_validation": "cross_validate CrossValidation",
    "studies.selection.folds": "Folds",
    "studies.selection.lambda_path": (
        "lambda_grid lambda_path LambdaPath tune_kernel KernelTuning"
    ),
    "studies.thresholds": "Thresholds",
}
LATER = {name: module for module, names in PUBLIC.items() for name in names.split()}


if TYPE_CHECKING:  # for which other names are imported above
    from pegasos_stats import errors
    from pegasos_stats.data import datasets
else:

    def __getattr__(name: str) -> object:
        """Load a public name when it is first asked for."""
        if name in MODULES:
            return import_module(f"{__name__}.{name}")
        if name not in LATER:
            if name.startswith("_"):
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            from pegasos_stats.foreign_names import missing_in_module

            raise missing_in_module(__name__, name, __all__)
        found = getattr(import_module(f"{__name__}.{LATER[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """What is public, for ``dir()`` and for completion in a notebook."""
    return __all__

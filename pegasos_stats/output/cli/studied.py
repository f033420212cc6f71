"""Cross-validation for a report: its options, and the studies that they ask for."""

import argparse
from typing import Any

from pegasos_stats.output.cli.options import whole
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection.cross_validation import (
    CrossValidation,
    cross_validate,
)
from pegasos_stats.studies.selection.lambdas import RULES
from pegasos_stats.studies.selection.path import lambda_path
from pegasos_stats.studies.selection.path_results import LambdaPath

Studies = tuple[LambdaPath | None, CrossValidation | None]

NO_STUDIES: Studies = (None, None)


def add_options(report: argparse.ArgumentParser) -> None:
    """Add ``--cv``, ``--rule`` and ``--positive``."""
    report.add_argument(
        "--cv",
        type=whole,
        metavar="FOLDS",
        help="choose lambda by cross-validation, or validate that of --lambda; without "
        "--test the errors are those out of fold",
    )
    report.add_argument(
        "--rule",
        choices=list(RULES),
        default="1se",
        help="how --cv chooses: the largest lambda within a standard error of the best "
        "one, or the best one (default: 1se)",
    )
    report.add_argument(
        "--positive",
        metavar="LEVEL",
        help="the positive class of sensitivity and the like (default: that coded +1)",
    )


def validated(
    model: Any, solver: Pegasos | SDCA, tested: bool, options: argparse.Namespace
) -> tuple[Any, Studies]:
    """The model with the lambda that ``--cv`` chooses, and errors out of fold.

    With ``--lambda`` nothing is chosen; with test data errors are those of the test.

    Parameters
    ----------
    model : Model
    solver : Pegasos or SDCA
    tested : bool
        Whether there are test data.
    options : Namespace
    """
    given = {"folds": options.cv, "seed": options.seed}
    use = None if solver.to_optimum else solver  # those of studies are enough
    if "lam" in options.given:
        return model, (None, cross_validate(model, use, **given))
    path = lambda_path(model, None, use, **given)
    chosen = path.best_model(options.rule)
    if tested:
        return chosen, (path, None)
    nested = {"lambda_path": path, "rule": options.rule}
    return chosen, (path, cross_validate(model, use, **nested, **given))

"""Options for cross-validation and the positive class, and what follows from them."""

import argparse
from dataclasses import replace
from typing import Any

from pegasos_stats.errors import OptionError, counted, listing, shown
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import checked_choices
from pegasos_stats.models.results import Results
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
POSITIVE = (
    "positive class of sensitivity and similar statistics (default: the level coded +1)"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--cv`` and ``--rule``."""
    parser.add_argument(
        "--cv",
        type=whole,
        metavar="FOLDS",
        help="choose lambda by cross-validation, or validate that of --lambda; without "
        "--test the errors are those out of fold",
    )
    parser.add_argument(
        "--rule",
        choices=list(RULES),
        default="1se",
        help="how --cv chooses: the largest lambda within a standard error of the best "
        "one, or the best one (default: 1se)",
    )


def add_positive(
    parser: argparse.ArgumentParser,
    words: str = "print sensitivity and similar statistics of this positive class too",
) -> None:
    """Add ``--positive``."""
    parser.add_argument("--positive", metavar="LEVEL", help=words)


def level_of(result: Results, text: str | None) -> object:
    """The level that is written so, or an error; None where none is given."""
    if text is None:
        return None
    found = [level for level in result.coding.levels if str(level) == text]
    if not found:
        raise OptionError(
            f"--positive {shown(text)} is not among the levels; give one of "
            f"{listing(result.coding.levels)}."
        )
    return found[0]


def out_of_fold(
    validation: CrossValidation, result: Results, options: argparse.Namespace
) -> ConfusionMatrix:
    """The rows, each predicted by the fit of the folds that it is not in."""
    table = validation.confusion(threshold=getattr(options, "threshold", None))
    level = level_of(result, options.positive)
    if level is None:
        return table
    choices = checked_choices(table.levels, level, mode="sens_spec")
    return replace(table, choices=choices)


def choice_told(studies: Studies, options: argparse.Namespace) -> str:
    """How ``--cv`` chose lambda, in words; empty where it did not."""
    path, _ = studies
    if path is None:
        return ""
    by = "largest within a standard error of the best" if options.rule == "1se" else ""
    return (
        f"chosen among {counted(len(path.lambdas), 'value')} by {options.cv}-fold "
        f"cross-validation of the training rows: {by or 'the best'} by {path.metric}"
    )


def validated(
    model: Any, solver: Pegasos | SDCA, tested: bool, options: argparse.Namespace
) -> tuple[Any, Studies]:
    """The model with the lambda that ``--cv`` chooses, and errors out of fold.

    With ``--lambda`` nothing is chosen; with test data errors are those of the test.
    Folds keep the groups of ``--groups`` whole.

    Parameters
    ----------
    model : Model
    solver : Pegasos or SDCA
    tested : bool
        Whether there are test data.
    options : Namespace
    """
    given = {"folds": options.cv, "groups": options.groups, "seed": options.seed}
    use = None if solver.to_optimum else solver  # those of studies are enough
    if "lam" in options.given:
        return model, (None, cross_validate(model, use, **given))
    path = lambda_path(model, None, use, **given)
    chosen = path.best_model(options.rule)
    if tested:
        return chosen, (path, None)
    nested = {"lambda_path": path, "rule": options.rule}
    return chosen, (path, cross_validate(model, use, **nested, **given))

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

POSITIVE = (
    "positive class of sensitivity and similar statistics (default: the level coded +1)"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--cv``."""
    parser.add_argument(
        "--cv",
        type=whole,
        metavar="FOLDS",
        help="estimate the errors on new rows by cross-validation; with --lambda cv "
        "lambda is chosen anew in each fold",
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


def choice_of_lambda(result: Results) -> str:
    """How ``--lambda cv`` chose lambda, in words; empty where it did not."""
    path = result.lambda_path
    if path is None:
        return ""
    return (
        f"the best of {counted(len(path.lambdas), 'value')} by 10-fold "
        f"cross-validation of the training rows, by {path.metric}"
    )


def validated(
    model: Any, solver: Pegasos | SDCA, options: argparse.Namespace
) -> CrossValidation | None:
    """The errors out of fold that ``--cv`` asks for.

    Folds keep the groups of ``--groups`` whole.

    Parameters
    ----------
    model : Model
    solver : Pegasos or SDCA
    options : Namespace
    """
    if getattr(options, "cv", None) is None:  # demo has none
        return None
    given = {"folds": options.cv, "groups": options.groups}
    if options.seed is not None:
        given["seed"] = options.seed
    use = None if solver.to_optimum else solver  # those of studies are enough
    return cross_validate(model, use, **given)

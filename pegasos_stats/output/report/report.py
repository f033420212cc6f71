"""Build reports, display them and write them to files."""

import os
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import IO, Literal, TypeVar, cast

import numpy as np

from pegasos_stats import writing
from pegasos_stats.checks import check_choice, check_flag
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.formula_design import Unseen
from pegasos_stats.data.user_data import is_valid_text
from pegasos_stats.errors import DataError, OptionError, visible
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.metrics.scores import Target
from pegasos_stats.models.kernel import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results, checked_threshold
from pegasos_stats.output.plotting.curves import Fitted
from pegasos_stats.output.plotting.tiles import checked_shape
from pegasos_stats.output.report import facts, rendering
from pegasos_stats.output.report.rendering import Page, figures_of
from pegasos_stats.studies.cross_validation import CrossValidation, LambdaPath
from pegasos_stats.studies.thresholds import ThresholdRule, Thresholds, scale_of
from pegasos_stats.studies.validation import Validation

Format = Literal["html", "markdown"]
Study = TypeVar("Study", LambdaPath, CrossValidation, Validation)

FORMATS: dict[str, Format] = {
    "": "html",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
}
MAX_START_BYTES = 2000  # read from a file to recognise it
FRAME = (
    '<iframe title="Report" srcdoc="{}" '
    'style="width:100%;height:40rem;border:1px solid #d0d7de"></iframe>'
)


def _begins(*begins: str) -> Callable[[IO[bytes]], bool]:
    """Return a test for the first characters of a file, with any line endings."""

    def is_own(handle: IO[bytes]) -> bool:
        text = handle.read(MAX_START_BYTES).decode("utf-8", errors="replace")
        return text.replace("\r\n", "\n").startswith(begins)

    return is_own


REPORT = writing.Kind("report", _begins(rendering.beginning(), rendering.MARKDOWN_MARK))
CSV = writing.Kind("list of misclassified rows", _begins("row,actual,predicted,score"))


def checked_page(
    path: str | PathLike[str], format: Format | None = None, overwrite: bool = False
) -> tuple[writing.OutputPath, writing.OutputPath, Format]:
    """Return the paths of a report and of its misclassified rows, and its format.

    Raises
    ------
    OptionError
        If the path is invalid, or its ending is not a format of reports.
    DataError
        If the file cannot be written, or an existing file is not a report.
    """
    place = writing.validated_output_path(path, REPORT, overwrite)
    whole = os.path.abspath(writing.checked_path(path))
    end = os.path.splitext(whole)[1].lower()
    if format is None and end not in FORMATS:
        raise OptionError(
            f"The path {writing.shown_path(whole)} ends in {end!a}, not in .html or "
            ".md; use such a path."
        )
    format = FORMATS[end] if format is None else format
    check_choice("format", format, ("html", "markdown"))
    rows_place = writing.validated_output_path(rows_path(whole), CSV, overwrite)
    return place, rows_place, format


def rows_path(path: str) -> str:
    """Return the path of the CSV file of misclassified rows, next to a page."""
    return f"{os.path.splitext(path)[0]}_misclassified.csv"


@suggest_names("report")
@dataclass(frozen=True, repr=False, eq=False)
class Report(Page):
    """A report of a fit, returned by ``result.report(...)`` or `report`.

    Attributes
    ----------
    title : str
    facts : ReportFacts
        Numbers and sentences of the page.
    figures : dict of str
        SVG by name.
    path : Path or None
        The file, if the report was written.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train, lam=1.0).fit()
    >>> created = result.report(test)
    >>> created
    <Report: Predicting digit: 5 or 6>
    >>> created.to_html().startswith("<!DOCTYPE html>")
    True
    """

    path: Path | None = None

    @suggest_arguments
    def write(
        self,
        path: str | PathLike[str],
        format: Format | None = None,
        *,
        overwrite: bool = False,
    ) -> "Report":
        """Write the report to a file.

        Parameters
        ----------
        path : str or path
            Path of the file. An existing report is replaced; another existing file
            raises an error.
        format : "html" or "markdown", optional
            By default from the path: Markdown for ``.md``, HTML for ``.html``.
        overwrite : bool
            Whether to replace any other file as well.

        Returns
        -------
        Report
            The same report, with its path.

        Raises
        ------
        OptionError
            If `path` is not a path, or neither `format` nor the ending of `path`
            specifies a format.
        DataError
            If `path` is a file that is not a report and `overwrite` is False, or if the
            file cannot be written.
        """
        place, csv, format = checked_page(path, format, overwrite)
        page = replace(self, csv=os.path.basename(csv.path), path=Path(place.path))
        text = page.to_html() if format == "html" else page.to_markdown()
        with writing.outputs() as files:
            if self.facts.rows.scores is not None:
                rows = self.facts.misclassified
                files.write(csv, rows.to_csv(index=False, lineterminator="\n"))
            files.write(place, visible(text))
        return page

    def __repr__(self) -> str:
        where = "" if self.path is None else f", {self.path}"
        return f"<Report: {self.title}{where}>"

    def _repr_html_(self) -> str:
        return FRAME.format(escape(self.to_html()))


@suggest_arguments
def report(
    result: Results,
    test: object = None,
    path: str | PathLike[str] | None = None,
    *,
    format: Format | None = None,
    title: str | None = None,
    image_shape: tuple[int, int] | None = None,
    positive: object = None,
    path_of_lambda: object = None,
    validation: object = None,
    unseen: Unseen = "error",
    offset: object = None,
    threshold: object = None,
    cost: object = None,
    row_names: bool = False,
    overwrite: bool = False,
) -> Report:
    """Create a one-page report of a fit: data, model, certificate, error rates, code.

    The page is one self-contained HTML file for screen, phone and paper. A CSV file
    next to it lists the misclassified rows. Reports require jinja2, markdown-it-py and
    matplotlib.

    Parameters
    ----------
    result : LinearResults or KernelResults
    test : DataFrame or pair (y, X), optional
        Held-out rows with labels. Training data passed as `test` are ignored.
    path : str or path, optional
        File to write. An existing report is replaced; another existing file raises an
        error. Without `path` the report is only returned.
    format : "html" or "markdown", optional
        By default from the path: Markdown for ``.md``, HTML for ``.html``. Figures are
        embedded; pandoc and notebooks show them in Markdown, GitHub does not.
    title : str, optional
        Heading of the page, such as "Who is readmitted?"; by default the outcome and
        its classes.
    image_shape : pair of int, optional
        Rows and columns of an image, if the predictors are its pixels row by row. The
        report then also draws the coefficients as an image.
    positive : label, optional
        Positive class of sensitivity and similar statistics; by default the second
        class, coded +1.
    path_of_lambda : LambdaPath, optional
        Path from which lambda was selected; the report describes it. By default the
        path of ``lam="cv"``.
    validation : CrossValidation or Validation, optional
        Cross-validation of the same model: without test data, the report evaluates its
        out-of-fold predictions. Or the result of `validate` for the same model: the
        report shows the statistics, corrected for optimism, and the instability plot.
    unseen : "error" or "missing"
        Factor levels that are not in the training data raise an error, or count as
        missing values: their rows get no prediction, with a warning.
    offset : array, Series or a column's name, optional
        Offset of the test data, by default the column that the fit used. It is required
        if the offset of the fit was an array.
    threshold : float or Thresholds, optional
        Threshold of the predicted labels in tables and figures, as for
        ``predict(threshold=)``. If it is the result of ``result.thresholds()``, the
        report also describes how the threshold was selected. With `threshold` or `cost`
        the page begins with sensitivity, specificity and costs instead of the error
        rate.
    cost : dict, optional
        Costs of misclassification, as for ``result.thresholds(cost=)``. The page
        compares the mean cost per row with predicting one class for all rows. Without
        `threshold`, a logistic fit uses the threshold that, for calibrated
        probabilities, minimises the expected cost. Without `cost`, if `threshold` is a
        probability, the page uses the costs for which this threshold is optimal.
    row_names : bool
        Whether the page names the rows that it lists; the CSV file always does.
    overwrite : bool
        Whether to replace any other file at `path`.

    Returns
    -------
    Report
        Notebooks display it; see ``to_html()``, ``to_markdown()``, ``write(path)``.

    Raises
    ------
    DependencyError
        If matplotlib, jinja2 or markdown-it-py is not installed.
    DataError
        If the file cannot be written, or if `path` is a file that is not a report and
        `overwrite` is False.
    ColumnError
        If the test data lack the outcome or a predictor.
    OptionError
        If an option is not allowed.

    Warns
    -----
    ColumnWarning
        With ``unseen="missing"``, the number of rows with unseen levels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train, lam=1.0).fit()
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "digits.html"
    >>> ps.report(result, test, path)
    <Report: Predicting digit: 5 or 6, ...digits.html>
    """
    fitted = _checked_fit(result, title, image_shape)
    if path is not None:
        checked_page(path, format, overwrite)
    if offset is not None and test is None:
        raise OptionError("offset= belongs to the test data; pass both, or neither.")
    check_flag("row_names", row_names)
    cut, chosen = _checked_threshold(threshold, fitted)
    target = None
    if cost is not None:
        target, usual = checked_cost(cost, fitted, positive)
        cut = usual if cut is None else cut
    rendering.templates(escape)  # fails early if jinja2 is missing
    path_of_lambda = path_of_lambda or getattr(fitted, "lambda_path", None)
    lambda_path = _checked_study("path_of_lambda", path_of_lambda, LambdaPath, fitted)
    folds = optimism = None
    if isinstance(validation, Validation):
        optimism = _checked_study("validation", validation, Validation, fitted)
    else:
        folds = _checked_study("validation", validation, CrossValidation, fitted)
    sets = facts.evaluate_sets(fitted, test, folds, cut, positive, unseen, offset)
    coding, (low, high) = fitted.coding, sets[0].table.levels
    if (low, high) != coding.levels:
        fitted = copy(fitted)
        renamed = replace(coding, negative=low, positive=high, dtype=np.dtype(object))
        object.__setattr__(fitted, "coding", renamed)
    contents = facts.ReportFacts(
        fitted,
        sets,
        image_shape,
        path=lambda_path,
        validation=folds,
        threshold=cut,
        chosen=chosen,
        cost=target,
        row_names=row_names,
        coding=coding,
        title=title,
        optimism=optimism,
    )
    plain = f"Predicting {coding.name}: {low} or {high}"
    title = title or (plain if coding is fitted.coding else without_brackets(coding))
    created = Report(title, contents, figures_of(contents))
    return created if path is None else created.write(path, format, overwrite=overwrite)


def without_brackets(coding: LabelCoding) -> str:
    """Return the name of an outcome without enclosing brackets."""
    inner = coding.name[1:-1]
    whole = coding.name == f"({inner})" and not {"(", ")"} & set(inner)
    return inner if whole else coding.name


def _checked_fit(result: object, title: object, image_shape: object) -> Fitted:
    """Validate the fit, the title and the shape of the image."""
    kind = type(result)
    if not issubclass(kind, LinearResults | KernelResults):
        raise DataError(f"A {kind.__name__} has no report; pass what fit() returns.")
    if title is not None and not (isinstance(title, str) and is_valid_text(title)):
        raise OptionError("is not allowed; use text.", "title", title)
    fitted = cast("Fitted", result)
    if image_shape is not None:
        checked_shape(image_shape, len(fitted.design.names), "image_shape")
    return fitted


def _checked_study(
    name: str, study: object, kind: type[Study], result: Fitted
) -> Study | None:
    """Raise `OptionError` unless the study has the model of the fit."""
    if study is None:
        return None
    problem, lambdas = result.problem, {result.problem.lam}
    if isinstance(study, CrossValidation) and study.choosing is None:
        lambdas = {study.model.problem.lam}
    elif isinstance(study, Validation) and study.model.problem.lam_rule != "given":
        lambdas = {problem.lam}  # chosen by the rule
    elif isinstance(study, Validation):
        lambdas = {study.model.problem.lam}
    elif isinstance(study, LambdaPath):
        lambdas = set(study.marks().values())
    if (
        not isinstance(study, kind)
        or problem.lam not in lambdas
        or not np.array_equal(study.model.problem.y, problem.y)
        or study.model.problem.loss != problem.loss
        or list(study.model.design.names) != list(result.design.names)
    ):
        raise OptionError(
            f"{name} is not a {kind.__name__} with the rows, loss, predictors and "
            f"lam={problem.lam!r} of the fit; pass one of the same model."
        )
    return study


def checked_cost(
    cost: object, result: Fitted, positive: object = None
) -> tuple[Target, float | None]:
    """Return the costs and, for probabilities, their optimal threshold."""
    problem = result.problem
    scale, ends = scale_of(problem), (None, cost, positive)
    target = ThresholdRule.of(*ends, result.coding, scale, 0.0).target
    if scale == "score":
        return target, None
    false_positive, false_negative = target.false_positive, target.false_negative
    share = false_positive / (false_positive + false_negative)
    at = positive_position(result.coding.levels, positive)
    return target, share if at else 1.0 - share


def _checked_threshold(
    threshold: object, result: Fitted
) -> tuple[float | None, Thresholds | None]:
    """Validate a threshold: a number or the result of ``result.thresholds()``.

    Raises
    ------
    OptionError
        If the threshold is invalid, or its scale or classes differ from the fit.
    """
    if threshold is None:
        return None, None
    if not isinstance(threshold, Thresholds):
        return checked_threshold(threshold, result.problem), None
    of_fit = scale_of(result.problem), result.coding.levels
    if (threshold.scale, threshold.levels) != of_fit:
        raise OptionError(
            "threshold belongs to another fit; use thresholds() of this fit."
        )
    return threshold.threshold, threshold

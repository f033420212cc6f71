"""Reports: checked, put together, shown, and written to files."""

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

Format = Literal["html", "markdown"]
Study = TypeVar("Study", LambdaPath, CrossValidation)

ENDS: dict[str, Format] = {
    "": "html",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
}
BEGIN = 2000  # bytes that hold any of the beginnings of files


def _begins(*begins: str) -> Callable[[IO[bytes]], bool]:
    """A test of the first characters of a file, with any kind of line ends."""

    def known(handle: IO[bytes]) -> bool:
        text = handle.read(BEGIN).decode("utf-8", errors="replace")
        return text.replace("\r\n", "\n").startswith(begins)

    return known


REPORT = writing.Kind("report", _begins(rendering.beginning(), rendering.MARK))
CSV = writing.Kind("list of misclassified rows", _begins("row,actual,predicted,score"))
FRAME = (
    '<iframe title="Report" srcdoc="{}" '
    'style="width:100%;height:40rem;border:1px solid #d0d7de"></iframe>'
)


def checked_page(
    path: str | PathLike[str], format: Format | None = None, overwrite: bool = False
) -> tuple[writing.OutputPath, writing.OutputPath, Format]:
    """Places of a report and of its misclassified rows, and its format.

    Raises
    ------
    OptionError
        If the path is none, or asks for no format of a report.
    DataError
        If no file can be written there, or one that is no report is there.
    """
    place = writing.validated_output_path(path, REPORT, overwrite)
    whole = os.path.abspath(writing.checked_path(path))
    end = os.path.splitext(whole)[1].lower()
    if format is None and end not in ENDS:
        raise OptionError(
            f"The path {writing.shown_path(whole)} ends in {end!a}, which is no format "
            "of a report; give one that ends in .html or .md."
        )
    format = ENDS[end] if format is None else format
    check_choice("format", format, ("html", "markdown"))
    beside = writing.validated_output_path(rows_beside(whole), CSV, overwrite)
    return place, beside, format


def rows_beside(path: str) -> str:
    """The file of the misclassified rows, beside a page."""
    return f"{os.path.splitext(path)[0]}_misclassified.csv"


@suggest_names("report")
@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """A report of a fit; made by ``result.report(...)`` or `report`.

    Attributes
    ----------
    page : Page
        Its title, facts and figures.
    path : Path or None
        The file it was written to.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.logit("digit ~ .", train, lam=1.0).fit()
    >>> made = result.report(test)
    >>> made
    <Report: digit: 5 or 6>
    >>> made.to_html().startswith("<!DOCTYPE html>")
    True
    """

    page: Page
    path: Path | None = None

    def to_html(self) -> str:
        """The report as one HTML page that includes its style and figures."""
        return self.page.as_html()

    def to_markdown(self) -> str:
        """The report as Markdown, with the figures embedded as data."""
        return self.page.as_markdown()

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
            An earlier report there is replaced; any other file is not.
        format : "html" or "markdown", optional
            By default from the path: Markdown for ``.md``, HTML for ``.html``.
        overwrite : bool
            Whether any other file may be replaced as well.

        Returns
        -------
        Report
            The same report, with its path.

        Raises
        ------
        OptionError
            If the format is not given and not known from the path, or `path` is not a
            path.
        DataError
            If `path` is a file that is not a report, or the file cannot be written.
        """
        place, csv, format = checked_page(path, format, overwrite)
        page = replace(self.page, csv=os.path.basename(csv.path))
        text = page.as_html() if format == "html" else page.as_markdown()
        with writing.outputs() as files:
            if page.facts.rows.scores is not None:
                rows = page.facts.misclassified
                files.write(csv, rows.to_csv(index=False, lineterminator="\n"))
            files.write(place, visible(text))
        return replace(self, path=Path(place.path))

    def __repr__(self) -> str:
        where = "" if self.path is None else f", {self.path}"
        return f"<Report: {self.page.title}{where}>"

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
    """Make a one-page report of a fit: data, model, certificate, errors, code.

    The page is one self-contained HTML file, for screen, phone and paper; beside it
    stands a CSV of the misclassified rows. It needs jinja2, markdown-it-py, and
    matplotlib for figures and formulas.

    Parameters
    ----------
    result : LinearResults or KernelResults
    test : DataFrame or pair (y, X), optional
        Held-out rows with labels; the rows of the fit itself count as none.
    path : str or path, optional
        File to write. An earlier report there is replaced; any other file is not.
        Without `path` the report is only returned.
    format : "html" or "markdown", optional
        By default from the path: Markdown for ``.md``, HTML for ``.html``. Figures are
        in the file; GitHub does not show those of Markdown, pandoc and notebooks do.
    title : str, optional
        By default the outcome and its classes.
    image_shape : pair of int, optional
        Rows and columns of an image whose pixels, row by row, are the predictors: the
        coefficients are then drawn as an image too.
    positive : label, optional
        Positive class of sensitivity and similar statistics; by default the second
        level, coded +1.
    path_of_lambda : LambdaPath, optional
        The path by which lambda was chosen, for the report to describe; without it the
        report says that lambda was fixed beforehand.
    validation : CrossValidation, optional
        Cross-validation of the same model. Without test data the report uses its
        out-of-fold predictions.
    unseen : "error" or "missing"
        Factor levels of the test data not seen in the fit raise an error, or count as
        missing values: their rows have no prediction, with a warning.
    offset : array, Series or a column's name, optional
        Offset of the test data, if that of the fit was given as numbers; or instead of
        the column that the fit used.
    threshold : float or Thresholds, optional
        Threshold of the predicted labels in tables and figures, as for
        ``predict(threshold=)``. For the result of ``result.thresholds()`` the report
        also says how it was chosen. The page then begins with sensitivity,
        specificity and costs in the place of the error rate.
    cost : dict, optional
        What wrong predictions cost, as for ``result.thresholds(cost=)``: the page has
        the mean cost of a row beside that of predicting all rows alike. Without
        `threshold` a logistic fit takes that of least cost if probabilities are right;
        without `cost` a threshold of a probability implies costs.
    row_names : bool
        Whether the page names the rows that it lists; the CSV always does.
    overwrite : bool
        Whether another file at `path` may be replaced.

    Returns
    -------
    Report
        Displayed by a notebook; with ``to_html()``, ``to_markdown()``, ``write(path)``.

    Raises
    ------
    DependencyError
        If matplotlib, jinja2 or markdown-it-py is not installed.
    DataError
        If the file cannot be written, or `path` is a file that is not a report.
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
    <Report: digit: 5 or 6, ...digits.html>
    """
    fitted = _checked_fit(result, title, image_shape)
    if path is not None:
        checked_page(path, format, overwrite)
    if offset is not None and test is None:
        raise OptionError("offset= is that of the test data; give both, or neither.")
    check_flag("row_names", row_names)
    cut, chosen = _checked_threshold(threshold, fitted)
    target = None
    if cost is not None:
        target, usual = checked_cost(cost, fitted, positive)
        cut = usual if cut is None else cut
    rendering.templates(escape)  # an error before any work where jinja2 is missing
    path_tried = _checked_study("path_of_lambda", path_of_lambda, LambdaPath, fitted)
    folds = _checked_study("validation", validation, CrossValidation, fitted)
    sets = facts.evaluated_rows(fitted, test, folds, cut, positive, unseen, offset)
    coding, (low, high) = fitted.coding, sets[0].table.levels
    if (low, high) != coding.levels:
        fitted = copy(fitted)
        named = replace(coding, negative=low, positive=high, dtype=np.dtype(object))
        object.__setattr__(fitted, "coding", named)
    of_rule = cut, chosen, target, row_names, coding
    found = facts.ReportFacts(fitted, sets, image_shape, path_tried, folds, *of_rule)
    plain = f"{coding.name}: {low} or {high}"
    title = title or (plain if coding is fitted.coding else without_brackets(coding))
    made = Report(Page(title, found, figures_of(found)))
    return made if path is None else made.write(path, format, overwrite=overwrite)


def without_brackets(coding: LabelCoding) -> str:
    """The name of an outcome without brackets around all of it."""
    inner = coding.name[1:-1]
    whole = coding.name == f"({inner})" and not {"(", ")"} & set(inner)
    return inner if whole else coding.name


def _checked_fit(result: object, title: object, image_shape: object) -> Fitted:
    """The fit, or an error unless it is one that can be shown with title and image."""
    kind = type(result)
    if not issubclass(kind, LinearResults | KernelResults):
        raise DataError(f"A {kind.__name__} has no report; give what fit() returns.")
    if title is not None and not (isinstance(title, str) and is_valid_text(title)):
        raise OptionError("is not allowed; give text.", "title", title)
    fitted = cast("Fitted", result)
    if image_shape is not None:
        checked_shape(image_shape, len(fitted.design.names))
    return fitted


def _checked_study(
    name: str, study: object, kind: type[Study], result: Fitted
) -> Study | None:
    """A study, or an `OptionError` unless it is of the rows and lambda of the fit."""
    if study is None:
        return None
    problem, lambdas = result.problem, {result.problem.lam}
    if isinstance(study, CrossValidation) and study.choosing is None:
        lambdas = {study.model.problem.lam}
    elif isinstance(study, LambdaPath):
        lambdas = set(study.marks().values())
    if (
        not isinstance(study, kind)
        or problem.lam not in lambdas
        or not np.array_equal(study.model.problem.y, problem.y)
    ):
        raise OptionError(
            f"{name} is no {kind.__name__} of the rows and of lam={problem.lam!r}, "
            "those of the fit; give one of the same model."
        )
    return study


def checked_cost(
    cost: object, result: Fitted, positive: object = None
) -> tuple[Target, float | None]:
    """Costs by the positive class, and the threshold of a probability that they fit."""
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
    """A threshold given as a number, or as the result of ``result.thresholds()``.

    Raises
    ------
    OptionError
        If it is no threshold of the fit.
    """
    if threshold is None:
        return None, None
    if not isinstance(threshold, Thresholds):
        return checked_threshold(threshold, result.problem), None
    of_fit = scale_of(result.problem), result.coding.levels
    if (threshold.scale, threshold.levels) != of_fit:
        raise OptionError("threshold is of another fit; give that of its thresholds().")
    return threshold.threshold, threshold

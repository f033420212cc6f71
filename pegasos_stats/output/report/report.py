"""Reports: put together from their parts, shown, and written to files."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from os import PathLike
from pathlib import Path

import numpy as np

from pegasos_stats.checks import check_choice
from pegasos_stats.data.factor_levels import UNSEEN, Unseen
from pegasos_stats.data.foreign import is_valid_text, refusing
from pegasos_stats.data.formula_design import blanked_for
from pegasos_stats.errors import (
    ColumnWarning,
    DataError,
    OptionError,
    counted,
    listing,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_arguments, suggest_names
from pegasos_stats.metrics.agreement import mcnemar_exact
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.output.plotting.tiles import checked_shape
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report import rendering
from pegasos_stats.output.report import subject as about
from pegasos_stats.output.report.coefficients import (
    coefficient_figure,
    coefficients,
    strongest,
)
from pegasos_stats.output.report.data_and_model import (
    data,
    glossary,
    method,
    model_name,
    repeat,
)
from pegasos_stats.output.report.document import Document, Section, Text, Tile
from pegasos_stats.output.report.formatting import limits, number, percent
from pegasos_stats.output.report.misclassification import (
    confusion_table,
    misclassified_rows,
    roc_figure,
    statistics,
)
from pegasos_stats.output.report.output_path import Format, checked_page, write_page
from pegasos_stats.output.report.subject import (
    EvaluatedRows,
    Fitted,
    Subject,
    checked_threshold_of,
)
from pegasos_stats.session import session_info
from pegasos_stats.studies.selection.cross_validation import CrossValidation
from pegasos_stats.studies.selection.path_results import LambdaPath
from pegasos_stats.studies.threshold_results import Thresholds

SMALL = 0.05  # of p-values
FEW_ROWS = 30
FEW_OF_A_LEVEL = 20  # an interval of the AUC covers 91% with 20 rows, 83% with 5
MOST_WARNINGS = 3


def summary(subject: Subject) -> list[doc.Block]:
    """What the fit is worth: in words, as numbers, and as one figure."""
    rows = subject.evaluated[-1]
    sentences = [*conclusion(subject, rows), *_threshold(subject)]
    left = [
        *strongest(subject),
        *([confusion_table(rows)] if rows.table.n_classified else []),
    ]
    figure = roc_figure(subject, rows) or coefficient_figure(subject)
    right = [] if figure is None else [figure]
    return [
        doc.Lead([text for each in sentences for text in (each, " ")][:-1]),
        doc.Tiles(_tiles(subject, rows)),
        doc.Columns([left, right] if left and right else [left or right]),
        *(doc.Notice(text, "warning") for text in warnings_of(subject, rows)),
        *_incomplete(subject),
    ]


def conclusion(subject: Subject, rows: EvaluatedRows) -> list[str]:
    """What the predictions are worth, in sentences."""
    table, result = rows.table, subject.result
    if not table.n_classified:
        return ["No new row has both an outcome and a prediction."]
    naive, share = rows.largest_class
    only, found = _only_prediction(subject.training), []
    if only is not None:
        found = [f"Every row is predicted '{only}'."]
    elif (only := _only_prediction(rows)) is not None:
        found = [f"Every new row is predicted '{only}'."]
    if only == naive and _only_prediction(rows) == naive:
        found.append(f"The error is that of the majority class, {percent(share)}.")
    else:
        found.append(_verdict(rows, naive, share))
    area = _area(rows)
    if result.problem.loss == "hinge" and only is not None:
        log, weights = ("ps.logit", "weights='balanced'")
        if subject.command:
            log, weights = ("--loss log", "--weights balanced")
        found.append(
            f"For probabilities or a ranking use the log loss ({log}); for a balanced "
            f"rule {weights}."
        )
    elif area is not None:
        low, high = result.coding.levels
        still = "As a ranking it" if only is not None else "It"
        found.append(
            f"{still} gives a '{high}' row a larger score than a '{low}' row in "
            f"{percent(area)} of pairs (AUC)."
        )
        if only is not None:
            how = subject.words("predict(threshold=)", "--threshold")
            which, other = ("lower", high) if only == low else ("higher", low)
            found.append(f"A {which} threshold ({how}) predicts rows as '{other}'.")
    if rows.name == "training":
        more = subject.words(
            "report(test, ...) or validation=ps.cross_validate(model)",
            "--test FILE or --cv 10",
        )
        found.append(
            "No new rows were given, and errors on new rows are usually higher; "
            f"{more} estimates them."
        )
    return found


def _verdict(rows: EvaluatedRows, naive: object, share: float) -> str:
    """The error beside that of always predicting the majority."""
    table, name = rows.table, rows.name
    n = f"{table.n_classified:,} {'training ' * (name == 'training')}rows"
    wrong, always = percent(rows.error_rate), f"always predicting '{naive}'"
    if rows.is_new:
        p = _p_value(rows, naive)
        word = "better" if rows.error_rate < share else "worse"
        verdict = f"{word} than" if p < SMALL else "not clearly better than"
        shown = "p < 0.0001" if p < 1e-4 else f"p = {number(p, 2)}"
        return (
            f"On new rows the model is {verdict} {always}: it is wrong in {wrong} of "
            f"{n} instead of {percent(share)} ({shown})."
        )
    start = "In cross-validation the" if name == "out-of-fold" else "The"
    if table.source == "partly training":
        n += f" ({table.n_seen:,} of them training rows)"
    return (
        f"{start} model is wrong in {wrong} of {n}; {always} would be wrong in "
        f"{percent(share)}."
    )


def _p_value(rows: EvaluatedRows, naive: object) -> float:
    """Exact p-value of McNemar's test against always predicting one level.

    The two rules differ in the rows that the model predicts as the other level.
    """
    counts, at = rows.table.counts, rows.table.levels.index(naive)
    return float(mcnemar_exact(int(counts[at, 1 - at]), int(counts[1 - at, 1 - at])))


def _only_prediction(rows: EvaluatedRows) -> object | None:
    """The level that every row is predicted to have, if there is one."""
    predicted = rows.table.counts[:, :2].sum(axis=0)
    if (predicted > 0).sum() != 1:
        return None
    level: object = rows.table.levels[int(predicted.argmax())]
    return level


def _area(rows: EvaluatedRows) -> float | None:
    """Area under the ROC curve; None where it is not defined."""
    overall = rows.report.overall
    area = overall.get("auc", overall.get("auc_pooled", math.nan))
    return None if math.isnan(area) else area


def _tiles(subject: Subject, rows: EvaluatedRows) -> list[Tile]:
    """Error, error of the majority rule, area under the ROC curve."""
    table = rows.table
    if not table.n_classified:
        return []
    names = {
        "test": "Error on new rows" if rows.is_new else "Error on the test rows",
        "out-of-fold": "Cross-validated error",
        "training": "Training error",
    }
    note = f"{table.n_errors:,} of {counted(table.n_classified, 'row')}"
    if rows.is_new:
        note = f"95% interval {limits(table.error_interval('exact'))}"
    elif rows.name == "out-of-fold":
        note = _standard_error(subject, rows)
    level, share = rows.largest_class
    tiles = [
        Tile(names[rows.name], percent(rows.error_rate), note),
        Tile(f"Always '{level}'", percent(share), "error of the majority class"),
    ]
    area = _area(rows)
    if area is not None:
        interval = rows.report.intervals.get("auc")
        note = "0.5 is guessing, 1 is perfect"
        if interval is not None and not math.isnan(interval.low):
            note = f"95% interval {interval.low:.3f} to {interval.high:.3f}"
        tiles.append(Tile("AUC", f"{area:.3f}", note))
    return tiles


def _standard_error(subject: Subject, rows: EvaluatedRows) -> str:
    """The standard error of the cross-validated error, at least that of rows."""
    validation = subject.validation
    assert validation is not None
    folds = validation.folds.description
    spread = float(validation.std_error.get("error_rate", math.nan))
    if subject.threshold is not None or math.isnan(spread):
        return folds
    rate = rows.error_rate
    chance = math.sqrt(rate * (1.0 - rate) / rows.table.n_classified)
    optimistic = subject.path is not None and validation.choosing is None
    more = "; optimistic, as lambda was chosen on these rows" if optimistic else ""
    return f"standard error {percent(max(spread, chance))}, {folds}{more}"


def _threshold(subject: Subject) -> list[str]:
    """The threshold of the labels, where it is not the usual one."""
    value, chosen = subject.threshold, subject.chosen
    if value is None:
        return []
    positive = subject.result.coding.positive
    scale = f"probability of '{positive}'" if subject.is_logistic else "score"
    text = f"Rows with a {scale} above {number(value)} are predicted '{positive}'."
    if chosen is None:
        return [text]
    name = chosen.target.name.replace("_", " ")
    at, usually = chosen.tidy()["estimate"]
    return [
        text,
        f"This threshold was chosen for its {name} ({chosen.folds.description}): "
        f"{number(at, 3)} is expected on new rows, {number(usually, 3)} at the usual "
        "threshold.",
    ]


def warnings_of(subject: Subject, rows: EvaluatedRows) -> list[Text]:
    """What a reader must know before using the numbers; the first three."""
    result, table = subject.result, rows.table
    notes = list(result.notes)
    if isinstance(result, LinearResults):
        notes += result.notes_on_errors()
    found: list[Text] = [
        subject.note_text(note)
        for note in notes
        if note.severity == "warning" and note.topic != "predictions"
    ]
    if rows.n_ties:
        found.append(
            f"{counted(rows.n_ties, 'row')} with a score exactly at the threshold "
            "cannot be predicted; error rates leave them out."
        )
    rarer = int(table.counts[:, :2].sum(axis=1).min())
    if rows.is_new and min(table.n_classified - FEW_ROWS, rarer - FEW_OF_A_LEVEL) < 0:
        found.append(
            f"Only {counted(table.n_classified, 'new row')}, {rarer:,} of the rarer "
            "level: the error rate and the AUC are rough."
        )
    return found[:MOST_WARNINGS]


def _incomplete(subject: Subject) -> list[doc.Block]:
    """That rows with missing values were left out."""
    dropped, nobs = subject.result.dropped.total, subject.result.nobs
    if not dropped:
        return []
    text = (
        f"Only complete rows were used: {dropped:,} of {dropped + nobs:,} training "
        "rows were left out. Results may not carry over if values are missing for a "
        "reason."
    )
    return [doc.Notice(text)]


SECTIONS: tuple[Callable[[Subject], Section], ...] = (
    coefficients,
    statistics,
    misclassified_rows,
    data,
    method,
    repeat,
    glossary,
)


@suggest_names("report")
@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """A report of a fit; made by ``result.report(...)`` or `report`.

    Attributes
    ----------
    document : Document
        Its sections.
    path : Path or None
        The file it was written to.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(epochs=5, seed=443))
    >>> made = result.report(test)
    >>> made
    <Report: digit: 5 or 6>
    >>> made.to_html().startswith("<!DOCTYPE html>")
    True
    """

    document: Document
    path: Path | None = None

    def to_html(self) -> str:
        """The report as one HTML page that includes its style, figures and formulas."""
        return rendering.written_html(self.document)

    def to_markdown(self) -> str:
        """The report as Markdown, with the figures embedded as data."""
        return rendering.written_markdown(self.document, lambda figure: figure.uri)

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
        page = checked_page(path, format, overwrite)
        write_page(self.document, page)
        return replace(self, path=Path(page.place.path))

    def __repr__(self) -> str:
        where = "" if self.path is None else f", {self.path}"
        return f"<Report: {self.document.title}{where}>"

    def _repr_html_(self) -> str:
        return rendering.framed(self.to_html())


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
    overwrite: bool = False,
) -> Report:
    """Make a one-page report of a fit: data, model, certificate, errors, code.

    The page is one self-contained HTML file, for screen, phone and paper; beside it
    stands a CSV of the misclassified rows. It needs jinja2, and matplotlib for figures
    and formulas.

    Parameters
    ----------
    result : LinearResults or KernelResults
    test : DataFrame or pair (y, X), optional
        Held-out rows with labels; the rows of the fit itself count as none.
    path : str or path, optional
        File to write. An earlier report there is replaced; any other file is not.
        Without `path` the report is only returned.
    format : "html" or "markdown", optional
        By default from the path: Markdown for ``.md``, with the figures in a folder
        beside it, HTML for ``.html``.
    title : str, optional
        By default the outcome and its levels.
    image_shape : pair of int, optional
        Rows and columns of an image whose pixels, row by row, are the predictors: the
        coefficients are then drawn as an image too.
    positive : label, optional
        Positive class of sensitivity and similar statistics, and of the ROC curve; by
        default the second level, coded +1.
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
        also says how it was chosen.
    overwrite : bool
        Whether other files at `path`, or in the folder of its figures, may be replaced.

    Returns
    -------
    Report
        Displayed by a notebook; with ``to_html()``, ``to_markdown()``, ``write(path)``.

    Raises
    ------
    DependencyError
        If matplotlib or jinja2 is not installed.
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
    >>> result = ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(epochs=5, seed=443))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "digits.html"
    >>> ps.report(result, test, path)
    <Report: digit: 5 or 6, ...digits.html>
    """
    fitted = _checked_fit(result, title, image_shape)
    if path is not None:
        checked_page(path, format, overwrite)
    check_choice("unseen", unseen, UNSEEN)
    if offset is not None and test is None:
        raise OptionError("offset= is that of the test data; give both, or neither.")
    cut, chosen = checked_threshold_of(threshold, fitted)
    if unseen == "missing" and test is not None:
        test = _known(fitted, test)
    made = report_of(
        fitted,
        test,
        title=title,
        image_shape=image_shape,
        positive=positive,
        path=path_of_lambda,
        validation=validation,
        offset=offset,
        threshold=cut,
        chosen=chosen,
    )
    return made if path is None else made.write(path, format, overwrite=overwrite)


def _known(result: Fitted, test: object) -> object:
    """Held-out rows with missing values for levels that did not occur at fit."""
    y, X = test if isinstance(test, tuple) and len(test) == 2 else (None, test)
    found = blanked_for(result.design, X)
    if found is None:
        return test
    if found.found:
        warn_caller(f"{found.text}.", ColumnWarning)
    return found.data if y is None else (y, found.data)


def _checked_fit(result: object, title: object, image_shape: object) -> Fitted:
    """The fit, or an error unless it is one that can be shown with title and image."""
    refused = DataError(
        f"A {type(result).__name__} has no report; give what fit() returns."
    )
    with refusing(refused):
        if not isinstance(result, LinearResults | KernelResults):
            raise refused
    if title is not None and not (isinstance(title, str) and is_valid_text(title)):
        raise OptionError("is not allowed; give text.", "title", title)
    if image_shape is not None:
        checked_shape(image_shape, len(result.design.names))
    return result


def _checked_studies(
    result: Fitted, path: object, validation: object
) -> tuple[LambdaPath | None, CrossValidation | None]:
    """Path and validation, or an `OptionError` unless they are of the fit."""
    y, lam = result.problem.y, result.problem.lam
    if not (path is None or isinstance(path, LambdaPath)):
        what = type(path).__name__
        raise OptionError(f"path_of_lambda is of type {what}; give a LambdaPath.")
    if not (validation is None or isinstance(validation, CrossValidation)):
        what = type(validation).__name__
        raise OptionError(f"validation is of type {what}; give a CrossValidation.")
    for name, study in (("path_of_lambda", path), ("validation", validation)):
        if study is not None and not np.array_equal(study.model.problem.y, y):
            raise OptionError(
                f"{name} is of other rows than the fit; give that of the same model."
            )
    if path is not None and lam not in path.marks().values():
        raise OptionError(
            f"path_of_lambda chose {listing(path.marks().values())} and the fit has "
            f"lam={lam!r}; give the path that the fit came from, as by path.refit()."
        )
    fixed = validation is not None and validation.choosing is None
    if validation is not None and fixed and validation.model.problem.lam != lam:
        raise OptionError(
            f"validation is of lam={validation.model.problem.lam!r} and the fit has "
            f"lam={lam!r}; give that of the same model."
        )
    return path, validation


def report_of(
    result: Fitted,
    test: object,
    *,
    title: str | None = None,
    image_shape: tuple[int, int] | None = None,
    positive: object = None,
    path: object = None,
    validation: object = None,
    offset: object = None,
    threshold: float | None = None,
    chosen: Thresholds | None = None,
    command: str = "",
) -> Report:
    """Report a fit made in Python, or by a command of the command line.

    Parameters
    ----------
    result, test, title, image_shape, positive, validation, offset
        As for `report`.
    path : LambdaPath, optional
        ``path_of_lambda`` of `report`.
    threshold : float, optional
    chosen : Thresholds, optional
        How the threshold was chosen.
    command : str
        The command line; empty for Python.
    """
    # An error if jinja2 is missing comes before any work.
    rendering.templates(escape)
    lambda_path, validated = _checked_studies(result, path, validation)
    held_out = None
    if test is not None:
        held_out = about.held_out_rows(result, test, positive, offset, threshold)
        if held_out.table.source == "training":  # and no new row among them
            held_out = None
    subject = Subject(
        result,
        about.training_rows(result, positive, threshold),
        held_out,
        image_shape,
        path=lambda_path,
        validation=validated,
        threshold=threshold,
        chosen=chosen,
        command=command,
    )
    rows = counted(result.nobs, "row")
    predictors = counted(len(result.design.names), "predictor")
    lead = f"{model_name(subject).capitalize()}, {rows}, {predictors}"
    if held_out is not None:
        kind = "new row" if held_out.is_new else "test row"
        lead += f"; {counted(int(held_out.table.n_classified), kind)}"
    low, high = result.coding.levels
    version = session_info().versions["pegasos_stats"]
    document = Document(
        title or f"{result.coding.name}: {low} or {high}",
        lead,
        [section(subject) for section in SECTIONS],
        f"pegasos_stats {version}, {date.today().isoformat()}",
        summary(subject),
    )
    return Report(document)

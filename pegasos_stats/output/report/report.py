"""Reports: put together from their parts, shown, and written to files."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from pegasos_stats.data.foreign import is_valid_text, refusing
from pegasos_stats.errors import DataError, OptionError, counted, shown
from pegasos_stats.output.plotting.image import checked_shape
from pegasos_stats.output.report.answer import answer
from pegasos_stats.output.report.asked import model_name, question
from pegasos_stats.output.report.coefficients import coefficients
from pegasos_stats.output.report.data import data
from pegasos_stats.output.report.document import Document, Section, Text
from pegasos_stats.output.report.errors_made import errors_made
from pegasos_stats.output.report.fitted import fitting, optimum
from pegasos_stats.output.report.glossary import glossary
from pegasos_stats.output.report.html import framed, written_html
from pegasos_stats.output.report.markdown import written_markdown
from pegasos_stats.output.report.origin import Origin, checked_source
from pegasos_stats.output.report.rendering import templates
from pegasos_stats.output.report.repeated import repeating
from pegasos_stats.output.report.subject import Subject, held_out_rows, training_rows
from pegasos_stats.output.report.writing import Format, checked_page, write_page
from pegasos_stats.session import session_info
from pegasos_stats.writing import checked_path, shown_path

PARTS: tuple[Callable[[Subject], Section], ...] = (
    answer,
    question,
    data,
    fitting,
    optimum,
    coefficients,
    errors_made,
    repeating,
    glossary,
)


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
    >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=5, seed=443))
    >>> made = result.report(test)
    >>> made
    <Report: digit: 5 or 6>
    >>> made.as_html().startswith("<!DOCTYPE html>")
    True
    """

    document: Document
    path: Path | None = None

    def as_html(self) -> str:
        """One page that loads nothing: style, figures and formulas are inside."""
        return written_html(self.document)

    def as_markdown(self) -> str:
        """Markdown, with the figures inside as data."""
        return written_markdown(self.document, lambda figure: figure.uri)

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
            An earlier report there is replaced; any other file is left alone.
        format : "html" or "markdown", optional
            That of the path if left out: Markdown for ``.md``, HTML for ``.html``.
        overwrite : bool
            Whether any other file may be replaced as well.

        Returns
        -------
        Report
            The same, with its path.

        Raises
        ------
        OptionError
            If the path ends otherwise and no format is given, or is none.
        DataError
            If something else than a report is there, or the file cannot be written.
        """
        page = checked_page(path, format, overwrite)
        write_page(self.document, page)
        return replace(self, path=Path(page.place.path))

    def __repr__(self) -> str:
        where = "" if self.path is None else f", {self.path}"
        return f"<Report: {self.document.title}{where}>"

    def _repr_html_(self) -> str:
        return framed(self.as_html())


def report(
    result: Any,
    test: Any = None,
    path: str | PathLike[str] | None = None,
    *,
    format: Format | None = None,
    title: str | None = None,
    source: str | PathLike[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    overwrite: bool = False,
) -> Report:
    """Report a fit on one page: question, data, fit, certificate, errors, repetition.

    The page is one HTML file that loads nothing, to be read on a screen, on a phone
    and on paper. It needs matplotlib, for figures and formulas, and jinja2.

    Parameters
    ----------
    result : LinearResults or KernelResults
    test : DataFrame or pair (y, X), optional
        Held-out rows with labels.
    path : str or path, optional
        File to write. An earlier report there is replaced; any other file is left
        alone. Without it the report is only returned.
    format : "html" or "markdown", optional
        That of the path if left out: Markdown for ``.md``, with the figures in a
        folder beside it, HTML for ``.html``.
    title : str, optional
        The outcome and its levels if left out.
    source : str or path, optional
        CSV file that the training data were read from. The lines that repeat the fit
        then read it; otherwise they begin with data that are there already.
    image_shape : pair of int, optional
        Rows and columns, if the predictors are the pixels of an image, row by row:
        the coefficients are then drawn as an image too.
    overwrite : bool
        Whether any other file at `path`, or in the folder of its figures, may be
        replaced as well.

    Returns
    -------
    Report
        A notebook shows it; ``as_html()``, ``as_markdown()``, ``write(path)``.

    Raises
    ------
    DependencyError
        If matplotlib or jinja2 is not installed.
    DataError
        If the file cannot be written, or something else than a report is there.
    ColumnError
        If the test data lack the outcome or a predictor.
    OptionError
        If `source` does not hold the data of the fit, or an option is not allowed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=5, seed=443))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "digits.html"
    >>> ps.report(result, test, path)
    <Report: digit: 5 or 6, ...digits.html>
    """
    _check_asked(result, title, image_shape)
    if path is not None:
        page = checked_page(path, format, overwrite)
        read = None if source is None else checked_path(source)
        if read is not None and page.writes(read):
            raise OptionError(
                f"The report would be written over its source, {shown_path(read)}; "
                "give another path."
            )
    origin = checked_source(source, result, test is not None)
    made = report_of(result, test, origin, title=title, image_shape=image_shape)
    return made if path is None else made.write(path, format, overwrite=overwrite)


def _check_asked(result: Any, title: Any, image_shape: Any) -> None:
    """Raise an error unless there is a fit, and what else is asked for can be shown."""
    refused = DataError(
        f"A {type(result).__name__} has no report; give what fit() returns."
    )
    with refusing(refused):
        if not all(hasattr(result, name) for name in ("design", "problem", "coding")):
            raise refused
    if title is not None and not (isinstance(title, str) and is_valid_text(title)):
        raise OptionError(f"title={shown(title)} is not allowed; give text.")
    if image_shape is not None:
        checked_shape(image_shape, len(result.design.names))


def report_of(
    result: Any,
    test: Any,
    origin: Origin,
    *,
    title: str | None = None,
    image_shape: tuple[int, int] | None = None,
) -> Report:
    """Report a fit whose data came from a known place.

    Parameters
    ----------
    result, test, title, image_shape
        As for `report`.
    origin : Origin
    """
    templates(escape)  # without them there is no report: the work is not begun
    held_out = None if test is None else held_out_rows(result, test)
    subject = Subject(result, training_rows(result), held_out, origin, image_shape)
    negative, positive = result.coding.levels
    version = session_info().versions["pegasos_stats"]
    document = Document(
        title or f"{result.coding.name}: {negative} or {positive}",
        _lead(subject),
        [part(subject) for part in PARTS],
        f"Written by pegasos_stats {version} on {date.today().isoformat()}.",
    )
    return Report(document)


def _lead(subject: Subject) -> Text:
    """What was fitted to what, in a line."""
    result = subject.result
    rows = counted(result.nobs, "row")
    predictors = counted(len(result.design.names), "predictor")
    tested = ""
    if subject.test is not None:
        tested = f", tested on {counted(subject.test.rows, 'row')}"
    return f"{model_name(subject).capitalize()} of {rows} and {predictors}{tested}"

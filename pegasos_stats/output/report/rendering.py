"""Templates of the reports: whatever is put into them is escaped."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from pegasos_stats.errors import DependencyError
from pegasos_stats.output.report.document import Block, Document, Section, Text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@cache
def templates(escape: Callable[[str], str]) -> "Environment":
    """Return the templates of the reports, loaded when first needed.

    Parameters
    ----------
    escape : callable
        Writes a string so that no character of it is a mark of the format. Every value
        passes through it, but what a template wrote and what it calls ``safe``.

    Raises
    ------
    DependencyError
        If jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise DependencyError(
            "Reports need jinja2, which is not installed; run "
            "pip install 'pegasos_stats[report]'."
        ) from None

    def escaped(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    return Environment(
        loader=PackageLoader("pegasos_stats.output.report"),
        autoescape=True,
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


class Writer:
    """Writes a document, or a part of it, by the macros of a template.

    Parameters
    ----------
    template : str
        Its name. Each type of `document` has a macro of its name there.
    escape : callable
        As for `templates`.
    **given : object
        What the macros use beside the document.
    """

    def __init__(
        self, template: str, escape: Callable[[str], str], **given: object
    ) -> None:
        known = templates(escape)
        self._escaped = known.finalize
        self.macros = known.get_template(template).make_module(
            {"written": self, **given}
        )

    def __call__(self, part: Document | Section | Block | Text) -> "Markup":
        """Write a part of a document, without line feeds around it."""
        if isinstance(part, str):
            return self._escaped(part)
        if isinstance(part, Sequence):
            return self._escaped("").join(map(self, part))
        written: Markup = getattr(self.macros, type(part).__name__)(part)
        return written.strip("\n")

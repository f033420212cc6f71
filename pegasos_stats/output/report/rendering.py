"""Templates of the reports: whatever is put into them is escaped."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from pegasos_stats.errors import DependencyError
from pegasos_stats.output.report.document import Block, Document, Section, Text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

Escape = Callable[[str], str]


@cache
def templates(escape: Escape) -> "Environment":
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

    Examples
    --------
    >>> from html import escape
    >>> templates(escape).from_string("<b>{{ name }}</b>").render(name="a < b")
    '<b>a &lt; b</b>'
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise DependencyError(
            "Reports need jinja2, which is not installed; run "
            "pip install 'pegasos_stats[report]'."
        ) from None
    return Environment(
        loader=PackageLoader("pegasos_stats.output.report"),
        autoescape=True,
        finalize=partial(_escaped, escape),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _escaped(escape: Escape, value: object) -> "Markup":
    from markupsafe import Markup

    return value if isinstance(value, Markup) else Markup(escape(str(value)))


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

    def __init__(self, template: str, escape: Escape, **given: object) -> None:
        self._escape = escape
        macros = templates(escape).get_template(template)
        self._macros = macros.make_module({"written": self, **given})

    def __call__(self, part: Document | Section | Block | Text) -> "Markup":
        """Write a document, or a part of it."""
        if isinstance(part, str):
            return _escaped(self._escape, part)
        if isinstance(part, Sequence):
            return _escaped(self._escape, "").join(map(self, part))
        return self.macro(type(part).__name__, part)

    def macro(self, name: str, *values: object) -> "Markup":
        """Write values by the macro of a name, without line feeds around it."""
        written: Markup = getattr(self._macros, name)(*values)
        return written.strip("\n")

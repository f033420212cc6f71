"""The template of reports as a file of Markdown, or as one HTML page by markdown-it.

Whatever is put into a template is escaped, but for what a template wrote or calls
``safe``.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from pegasos_stats.errors import DependencyError, counted
from pegasos_stats.models.summaries import UNCERTIFIED, above
from pegasos_stats.output.cli.options import as_options
from pegasos_stats.output.report import formatting
from pegasos_stats.output.report.facts import Facts
from pegasos_stats.output.report.figures import Figure
from pegasos_stats.output.report.repeat import python_lines
from pegasos_stats.session import session_info
from pegasos_stats.studies.selection.lambda_path import end_of_path
from pegasos_stats.tables import markdown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markupsafe import Markup

Escape = Callable[[str], str]
Picture = Callable[[Figure], str]

SIGN = 'content="pegasos_stats"'  # in the head of each HTML page
MARK = "<!-- written by pegasos_stats -->"  # what each Markdown file begins with
TABLE = '<div class="scroll" role="group" tabindex="0" aria-label="Table"><table>'


@cache
def templates(escape: Escape) -> "Environment":
    """The templates of the reports, loaded when first needed.

    Parameters
    ----------
    escape : callable
        Writes a string so that no character of it is a mark of the format. It is
        applied to every value, except what a template wrote or calls ``safe``.

    Raises
    ------
    DependencyError
        If jinja2 or markdown-it-py is not installed.

    Examples
    --------
    >>> from html import escape
    >>> templates(escape).from_string("<b>{{ name }}</b>").render(name="a < b")
    '<b>a &lt; b</b>'
    """
    try:
        import markdown_it  # noqa: F401
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise DependencyError(
            "Reports need jinja2 and markdown-it-py, which are not both installed; run "
            "pip install 'pegasos_stats[report]'."
        ) from None
    made = Environment(
        loader=PackageLoader("pegasos_stats.output.report"),
        autoescape=True,
        finalize=partial(_escaped, escape),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        **{write.__name__: write for write in formatting.WRITERS},
        "whole": "{:,}".format,
        "is_finite": math.isfinite,
    }
    made.globals |= {
        "above": above,
        "counted": counted,
        "end_of_path": end_of_path,
        "fenced": _fenced,
        "python_lines": python_lines,
        "uncertified": UNCERTIFIED,
        "zip": zip,
    }
    return made


def _escaped(escape: Escape, value: object) -> "Markup":
    from markupsafe import Markup

    return value if isinstance(value, Markup) else Markup(escape(str(value)))


@dataclass(frozen=True)
class Page:
    """What is written: the facts of a report with their figures.

    Attributes
    ----------
    title : str
    facts : Facts
    figures : dict of Figure
    command : str
        The command line, if that is where the fit was made.
    csv : str
        Name of the CSV file beside the page, if there is one.
    """

    title: str
    facts: Facts
    figures: Mapping[str, Figure]
    command: str = ""
    csv: str = ""

    def as_markdown(self) -> str:
        """Write Markdown as pandoc reads it, with its figures as data."""
        text = self._rendered(_linked, lambda tag: "")
        return re.sub(r"\n{3,}", "\n\n", f"{MARK}\n\n{text}").rstrip() + "\n"

    def as_html(self) -> str:
        """Write a page that loads nothing."""
        text = self._rendered(_embedded, lambda tag: f"\n{tag}\n")
        return page(self.title, _parser().render(text))

    def _rendered(self, picture: Picture, tag: Escape) -> str:
        """Fill the template, which calls for pictures and for tags of HTML."""
        template = templates(markdown).get_template("report.md")
        return template.render(
            vars(self),
            picture=lambda figure: _safe(picture(figure)),
            tag=lambda text: _safe(tag(text)),
            worded=as_options if self.command else str,
            versions=session_info().versions,
            date=date.today().isoformat(),
        )


def _safe(text: str) -> "Markup":
    from markupsafe import Markup

    return Markup(text)


def _fenced(text: str, language: str = "") -> "Markup":
    """Code between backticks: in a line, or with a language as lines."""
    if language:
        ticks = longer_ticks(text, 3)
        return _safe(f"{ticks}{language}\n{text}\n{ticks}")
    line = " ".join(text.splitlines())
    ticks, room = longer_ticks(line, 1), " " * ("`" in line)
    return _safe(f"{ticks}{room}{line}{room}{ticks}")


def longer_ticks(text: str, least: int) -> str:
    """Backticks that enclose a text, more of them than it holds in a row.

    Examples
    --------
    >>> longer_ticks("a `b` c", 1), longer_ticks("a", 3)
    ('``', '```')
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _linked(figure: Figure) -> str:
    return f"![{figure.alt}]({figure.uri})\n\n{figure.caption}"


def _embedded(figure: Figure) -> str:
    image = f'<img src="{figure.uri}" alt="{escape(figure.alt)}">'
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>"
    return f"<figure>{image}{caption}</figure>"


@cache
def _parser() -> "MarkdownIt":
    """Markdown with tables that scroll, and code that the keyboard reaches."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.push("heads", _heads)
    parser.add_render_rule("table_open", lambda *_: TABLE)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("fence", _fence)
    return parser


def _heads(state: "StateCore") -> None:
    """Make the first cell of each row a head; take out heads that are empty."""
    tokens, kept = state.tokens, list["Token"]()
    for at, token in enumerate(tokens):
        if token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "tr_open" and tokens[at + 1].type == "td_open":
            tokens[at + 1].tag = tokens[at + 3].tag = "th"
            tokens[at + 1].attrSet("scope", "row")
        kept.append(token)
        if token.type == "thead_close":
            start = max(j for j, one in enumerate(kept) if one.type == "thead_open")
            if not any(one.content for one in kept[start:]):
                del kept[start:]
    state.tokens = kept


def _fence(_: object, tokens: "Sequence[Token]", at: int, *__: object) -> str:
    token = tokens[at]
    code = escape(token.content.removesuffix("\n"))
    return f'<pre class="{escape(token.info)}" tabindex="0"><code>{code}</code></pre>\n'


def page(title: str, body: str, more_style: str = "") -> str:
    """Put a body of HTML into a page of its own, in the look of the reports.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    more_style : str
        CSS beside that of the reports.
    """
    whole = templates(escape).get_template("page.html")
    return whole.render(title=title, body=body, more_style=more_style)


def beginning() -> str:
    """What every page begins with, up to the name of the package.

    Examples
    --------
    >>> beginning()[:15], beginning()[-23:]
    ('<!DOCTYPE html>', 'content="pegasos_stats"')
    """
    page = files("pegasos_stats.output.report") / "templates" / "page.html"
    before, sign, _ = page.read_text(encoding="utf-8").partition(SIGN)
    return before + sign

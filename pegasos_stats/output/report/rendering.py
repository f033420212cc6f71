"""The template of reports as a file of Markdown, or as one HTML page by markdown-it.

Whatever is put into a template is escaped, but for what a template wrote or calls
``safe``.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache, partial
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pegasos_stats.errors import DependencyError, counted
from pegasos_stats.models.notes import UNCERTIFIED, above
from pegasos_stats.output.report import formatting
from pegasos_stats.output.report.drawing import Figure, formula_svg
from pegasos_stats.output.report.facts import Facts
from pegasos_stats.output.report.repeat import python_lines
from pegasos_stats.session import session_info
from pegasos_stats.studies.selection.path_results import end_of_path
from pegasos_stats.tables import markdown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markupsafe import Markup

Escape = Callable[[str], str]
Address = Callable[[Figure], str]
Tools = Mapping[str, Callable[..., str]]

SIGN = 'content="pegasos_stats"'  # in the head of each HTML page
MARK = "<!-- written by pegasos_stats -->"  # what each Markdown file begins with
TABLE = '<div class="scroll" role="group" tabindex="0" aria-label="Table"><table>'
FILTERS = {
    "number": formatting.number,
    "percent": formatting.percent,
    "decimals": formatting.decimals,
    "limits": formatting.limits,
    "aligned": formatting.aligned,
    "shortened": formatting.shortened,
    "whole": "{:,}".format,
    "is_finite": math.isfinite,
}
FUNCTIONS = {
    "above": above,
    "counted": counted,
    "end_of_path": end_of_path,
    "python_lines": python_lines,
    "uncertified": UNCERTIFIED,
    "zip": zip,
}


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
    made.filters |= FILTERS
    made.globals |= FUNCTIONS
    return made


def _escaped(escape: Escape, value: object) -> "Markup":
    from markupsafe import Markup

    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def written_markdown(
    facts: Facts,
    figures: Mapping[str, Figure],
    title: str,
    *,
    csv: str = "",
    address: Address | None = None,
) -> str:
    """Write a report as GitHub and pandoc read Markdown.

    Parameters
    ----------
    facts : Facts
    figures : dict of Figure
    title : str
    csv : str
        Name of the CSV file beside the page, if there is one.
    address : callable, optional
        From a figure to the address of its image; by default one that holds it.
    """
    tools: Tools = {
        "tag": lambda html: "",
        "math": lambda tex: f"${tex}$",
        "formula": lambda tex: f"$$\n{tex}\n$$",
        "picture": partial(_linked, address or (lambda figure: figure.uri)),
    }
    text = f"{MARK}\n\n{_rendered(facts, figures, title, csv, tools)}"
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def written_html(
    facts: Facts, figures: Mapping[str, Figure], title: str, *, csv: str = ""
) -> str:
    """Write a report as a page that loads nothing; for parameters see above."""
    tools: Tools = {
        "tag": lambda html: f"\n{html}\n",
        "math": formula_svg,
        "formula": _formula,
        "picture": _embedded,
    }
    text = _rendered(facts, figures, title, csv, tools)
    return page(title, _parser().render(text))


def _rendered(
    facts: Facts,
    figures: Mapping[str, Figure],
    title: str,
    csv: str,
    tools: Tools,
) -> str:
    """The report in Markdown; `tools` write formulas, figures, and tags of HTML."""
    from markupsafe import Markup

    def safely(write: Callable[..., str]) -> Callable[..., Markup]:
        return lambda *values: Markup(write(*map(_plain, values)))

    template = templates(markdown).get_template("report.md")
    return template.render(
        {
            "facts": facts,
            "study": facts.study,
            "figures": figures,
            "title": title,
            "csv": csv,
            "command": facts.study.command,
            "versions": session_info().versions,
            "date": date.today().isoformat(),
            "code": safely(_code),
            "listing": safely(_listing),
            **{name: safely(write) for name, write in tools.items()},
        }
    )


def _plain(value: Any) -> Any:
    """A text of a template without its kind, which would escape what is added to it."""
    return str(value) if isinstance(value, str) else value


def _code(text: str) -> str:
    """A word of a program, in more backticks than it holds in a row."""
    line = " ".join(text.splitlines())
    ticks = longer_ticks(line, 1)
    room = " " * ("`" in line)
    return f"{ticks}{room}{line}{room}{ticks}"


def _listing(text: str, language: str) -> str:
    ticks = longer_ticks(text, 3)
    return f"{ticks}{language}\n{text}\n{ticks}"


def longer_ticks(text: str, least: int) -> str:
    """Backticks that enclose a text, more of them than it holds in a row.

    Examples
    --------
    >>> longer_ticks("a `b` c", 1), longer_ticks("a", 3)
    ('``', '```')
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _linked(address: Address, figure: Figure) -> str:
    return f"![{figure.alt}]({address(figure)})\n\n{figure.caption}"


def _embedded(figure: Figure) -> str:
    image = f'<img src="{figure.uri}" alt="{escape(figure.alt)}">'
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>"
    return f"<figure>{image}{caption}</figure>"


def _formula(tex: str) -> str:
    label = f'tabindex="0" role="group" aria-label="{escape(tex)}"'
    return f'<p class="formula" {label}>{formula_svg(tex)}</p>'


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
    tokens, kept = state.tokens, list[Any]()
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


def _fence(_: object, tokens: Sequence[Any], at: int, *__: object) -> str:
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

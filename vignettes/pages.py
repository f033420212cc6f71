"""An executed notebook as a page in the look of the reports."""

import base64
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from outlines import formula_svg
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import PythonLexer, SLexer

from pegasos_stats.output.report.rendering import page, templates

STYLE = """
pre.input { border-left: 3px solid var(--link); }
.scroll pre { overflow: visible; }
pre.r { border-left: 3px solid var(--r); }
pre.output { --ground: var(--paper); }
thead th { white-space: normal; }
.frame td, .frame thead th { text-align: right; }
tbody th, td { min-width: 0; overflow-wrap: break-word; }
.frame th { padding-left: 0.2rem; }
.frame td { white-space: nowrap; }
details { margin: 0.9rem 0; }
details pre { margin-top: 0.4rem; }
summary { color: var(--link); cursor: pointer; font-size: 0.92rem; }
@media print { details { display: none; } }
pre.warning { border-left: 3px solid var(--warning); --ground: var(--warning-shade); }
.k, .kn, .kc, .kr, .ow, .kd { color: var(--keyword); }
.s, .s1, .s2, .sd, .sa, .si, .se { color: var(--string); }
.c1, .cm { color: var(--quiet); font-style: italic; }
.m, .mi, .mf { color: var(--number); }
:root { --keyword: #0b5cad; --string: #7a4a00; --number: #7b2d8b; --r: #8a8f98; }
@media screen and (prefers-color-scheme: dark) {
  :root { --keyword: #7cc0ff; --string: #e8b36b; --number: #d9a0e6; }
}
"""
PYTHON, R = PythonLexer(), SLexer()
HERE = Path(__file__).parent
MACROS = templates(escape).from_string((HERE / "notebook.html").read_text("utf-8"))
ANSI = re.compile(r"\x1b\[[0-9;]*m")
LOADING = re.compile(r"<(?:script|link|iframe|object|embed)\b", re.IGNORECASE)
REMOTE = re.compile(r"\bsrc\s*=\s*[\"']?(?:https?:)?//", re.IGNORECASE)
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
HEADING = re.compile(r'<h2 id="([^"]+)"[^>]*>(.*?)</h2>', re.DOTALL)


def vignette_page(notebook: Any, name: str) -> str:
    """Write a notebook that was executed as one page that loads nothing.

    Parameters
    ----------
    notebook : NotebookNode
    name : str
        Stands in for a title.

    Raises
    ------
    ValueError
        If the page would load something, or run a script.
    """
    markdown = markdown_parser()
    parts = [part for cell in notebook.cells for part in _cell(cell, markdown)]
    body = _with_contents("\n".join(parts))
    if LOADING.search(body) or REMOTE.search(body):
        raise ValueError(f"{name} would load something; take it out of the vignette.")
    found = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    title = re.sub(r"<[^>]+>", "", found.group(1)) if found else name
    return page(title, body, STYLE)


def markdown_parser() -> MarkdownIt:
    """Markdown with tables, formulas and headings that can be linked to."""
    parser = MarkdownIt("commonmark", {"typographer": True}).enable(
        ["table", "replacements", "smartquotes"]
    )
    parser.use(dollarmath_plugin, renderer=_formula, allow_space=False)
    parser.add_render_rule("fence", lambda self, *found: _fence(*found))
    return parser.use(anchors_plugin, max_level=3)


def _formula(tex: str, options: dict[str, Any]) -> str:
    drawn = formula_svg(tex.strip())
    if options.get("display_mode"):
        return _written("formula", tex.strip(), drawn)
    return drawn


def _written(macro: str, *values: object) -> str:
    """HTML as a macro of the template writes it."""
    return str(getattr(MACROS.module, macro)(*values))


def _with_contents(body: str) -> str:
    """Put links to the sections below the title."""
    links = HEADING.findall(body)
    nav = f"</h1>\n{_written('contents', links)}"
    return body.replace("</h1>", nav, 1) if links else body


def _cell(cell: Any, markdown: MarkdownIt) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield prose(cell.source, markdown)
    elif cell.cell_type == "code" and cell.source.strip():
        yield _input(cell.source, cell.metadata.get("tags", []))
        alt = cell.metadata.get("alt", "Figure drawn by the lines above")
        for output in cell.outputs:
            yield output_html(output, alt)


def prose(text: str, markdown: MarkdownIt) -> str:
    """Markdown as HTML, wide tables in boxes that scroll."""
    html = markdown.render(text)
    return TABLE.sub(lambda t: _written("scrolled", t[0], "Table"), html)


def _input(source: str, tags: list[str]) -> str:
    """Code as the tags want it: shown, to be opened, or not there."""
    if "remove-input" in tags:
        return ""
    return _written("folded", _code(source)) if "fold" in tags else _code(source)


def _code(source: str, lexer: Lexer = PYTHON, kind: str = "input") -> str:
    coloured = highlight(source, lexer, HtmlFormatter(nowrap=True))
    return _written("listing", Markup(coloured.rstrip()), kind)


def _fence(tokens: Any, at: int, options: Any, environment: Any) -> str:
    """A block of code in the text, which is R's if it says so."""
    if tokens[at].info == "r":
        return _code(tokens[at].content, R, "r")
    return _text(tokens[at].content)


def output_html(output: Any, alt: str) -> str:
    """What a cell printed, drew or returned, in the richest form that is known."""
    if output.output_type == "stream":
        kind = "output" if output.name == "stdout" else "output warning"
        return _text(output.text, kind)
    data = output.get("data", {})
    for kind, write in FORMS.items():
        if kind in data:
            return write(data[kind], alt)
    return ""


def _text(text: str, kind: str = "output") -> str:
    return _written("listing", ANSI.sub("", text).rstrip(), kind)


def _image(kind: str, coded: str, alt: str) -> str:
    return _written("image", f"data:{kind};base64,{coded}", alt)


def _svg(text: str, alt: str) -> str:
    only = text[text.index("<svg") :]
    return _image("image/svg+xml", base64.b64encode(only.encode()).decode(), alt)


def _html(text: str, alt: str) -> str:
    plain = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    plain = re.sub(r' (?:border="1"|style="text-align: \w+;")', "", plain)
    plain = plain.replace("overflow-x:auto;", "")  # the box around it scrolls
    if "simpletable" not in plain:
        plain = re.sub(r"<table[^>]*>", '<table class="frame">', plain)
    return _written("scrolled", plain, "Output")


FORMS: dict[str, Callable[[str, str], str]] = {
    "image/svg+xml": _svg,
    "image/png": lambda text, alt: _image("image/png", "".join(text.split()), alt),
    "text/html": _html,
    "text/markdown": lambda text, alt: markdown_parser().render(text),
    "text/plain": lambda text, alt: _text(text),
}

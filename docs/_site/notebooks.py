"""Text notebooks as pages of the site: run, and written as reStructuredText.

Headings become those of the page, so that navigation and search know them; code is
code of the page; text and outputs are the HTML that the page of a single notebook has.
"""

import hashlib
import re
from html import unescape
from logging import ERROR, getLogger
from pathlib import Path
from textwrap import indent

import jupytext
import nbformat
import pages
import render
from sphinx.application import Sphinx
from sphinx.util import logging

import pegasos_stats

LOG = logging.getLogger(__name__)
ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"<h([1-3])[^>]*>(.*?)</h\1>", re.DOTALL)
INLINE = re.compile(r'(?<!tabindex="0">)<code>')  # that of a listing follows its <pre>
LINES = {"1": "=", "2": "-", "3": "~"}


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.add_config_value("notebook_folders", {}, "env")
    app.add_config_value("run_notebooks", True, "env", types=[bool])
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}


def write_pages(app: Sphinx) -> None:
    """Run the notebooks of all folders, and write a page of each."""
    for folder, target in app.config.notebook_folders.items():
        into = Path(app.srcdir) / target
        into.mkdir(exist_ok=True)
        for source in sorted((Path(app.srcdir) / folder).glob("[0-9][0-9]_*.py")):
            notebook = _notebook(source, run=app.config.run_notebooks)
            page = into / f"{source.stem}.rst"
            text = page_of(notebook)
            if not page.is_file() or page.read_text(encoding="utf-8") != text:
                page.write_text(text, encoding="utf-8")


def _notebook(source: Path, *, run: bool) -> nbformat.NotebookNode:
    """The notebook with its outputs, from an earlier run of the same lines if any."""
    if not run:
        bare = jupytext.read(source, fmt="py:percent")
        for cell in bare.cells:
            if cell.cell_type == "markdown":
                cell.source = render.SAID.sub("...", cell.source)
        return bare
    kept = ROOT / "build" / "notebooks" / f"{source.stem}-{_digest(source)}.ipynb"
    if kept.is_file():
        return nbformat.read(kept, as_version=4)
    LOG.info("running %s", source.name)
    getLogger("traitlets").setLevel(ERROR)
    executed = render.executed(source)
    kept.parent.mkdir(parents=True, exist_ok=True)
    for earlier in kept.parent.glob(f"{source.stem}-*.ipynb"):
        earlier.unlink()
    nbformat.write(executed, kept)
    return executed


def _digest(source: Path) -> str:
    """Of everything that the outputs come from: the notebook and the package."""
    package = Path(pegasos_stats.__file__).parent
    beside = [*Path(render.__file__).parent.glob("*.py"), source]
    every = hashlib.sha256()
    for path in sorted({*package.rglob("*.py"), *package.rglob("*.csv"), *beside}):
        every.update(path.read_bytes())
    return every.hexdigest()[:16]


def page_of(notebook: nbformat.NotebookNode) -> str:
    """Write a notebook as reStructuredText."""
    markdown = pages.markdown_parser()
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts += _prose(pages.prose(cell.source, markdown))
        elif cell.source.strip():
            parts += _code(cell)
    return "\n\n".join(parts) + "\n"


def _prose(html: str) -> list[str]:
    """Headings of the page, and the HTML between them."""
    start, parts = 0, []
    for found in HEADING.finditer(html):
        parts.append(_raw(html[start : found.start()]))
        text = _plain(found.group(2))
        parts.append(f"{text}\n{LINES[found.group(1)] * len(text)}")
        start = found.end()
    parts.append(_raw(html[start:]))
    return [part for part in parts if part]


def _plain(html: str) -> str:
    """The text of a heading, as reStructuredText."""
    pieces = re.split(r"<code>(.*?)</code>", html)
    for i, piece in enumerate(pieces):
        text = unescape(re.sub(r"<[^>]+>", "", piece))
        pieces[i] = f"``{text}``" if i % 2 else re.sub(r"([\\*`_|])", r"\\\1", text)
    return "".join(pieces).strip()


def _raw(html: str) -> str:
    html = INLINE.sub('<code class="literal">', html.strip())
    return f".. raw:: html\n\n{indent(html, '   ')}" if html else ""


def _code(cell: nbformat.NotebookNode) -> list[str]:
    tags = cell.metadata.get("tags", [])
    parts = []
    if "remove-input" not in tags:
        shown = f".. code-block:: python\n\n{indent(cell.source, '   ')}"
        if "fold" in tags:
            opened = "<details><summary>Lines that draw this figure</summary>"
            shown = f"{_raw(opened)}\n\n{shown}\n\n{_raw('</details>')}"
        parts.append(shown)
    alt = cell.metadata.get("alt", "Figure drawn by the lines above")
    return parts + [_raw(pages.output_html(o, alt)) for o in cell.get("outputs", [])]

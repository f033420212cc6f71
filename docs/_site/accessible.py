"""What the theme leaves out for those who read by ear or by keyboard."""

import re
from pathlib import Path

from sphinx.application import Sphinx

ADDED = {
    'class="sidebar-drawer">': 'class="sidebar-drawer" aria-label="Site">',
    'class="toc-drawer">': 'class="toc-drawer" aria-label="Page">',
    'class="caption" role="heading">': 'class="caption" role="heading" aria-level="2">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    "<pre>": '<pre tabindex="0">',
    'id="search-results"></div>': 'id="search-results"><h1>Search</h1></div>',
}
WRAPPER = re.compile(r'(<div tabindex="0" class="table-wrapper[^"]*") id="[^"]*"')


def setup(app: Sphinx) -> dict[str, bool]:
    """Complete the pages once they are written."""
    app.connect("build-finished", completed)
    return {"parallel_read_safe": True}


def completed(app: Sphinx, error: Exception | None) -> None:
    """Name the asides, give captions a level, let the keyboard scroll.

    The box around a table has the table's name too, which is to be there once.
    """
    for path in [] if error else Path(app.outdir).rglob("*.html"):
        text = before = path.read_text(encoding="utf-8")
        for found, with_more in ADDED.items():
            text = text.replace(found, with_more)
        text = WRAPPER.sub(r"\1", text)
        if text != before:
            path.write_text(text, encoding="utf-8")

"""What lines of Python printed, drew or returned, as HTML."""

import base64
import re
from collections.abc import Callable
from html import escape
from typing import Any

from markdown_it import MarkdownIt

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def output_html(output: Any, alt: str) -> str:
    """Write the output of a cell in the richest form that is known.

    Parameters
    ----------
    output : NotebookNode
    alt : str
        Text in the place of a figure.
    """
    if output.output_type == "stream":
        kind = "output" if output.name == "stdout" else "output warning"
        return _text(output.text, kind)
    data = output.get("data", {})
    for kind, write in FORMS.items():
        if kind in data:
            return write(data[kind], alt)
    return ""


def _text(text: str, kind: str = "output") -> str:
    shown = escape(ANSI.sub("", text).rstrip())
    return f'<pre class="{kind}" tabindex="0"><code>{shown}</code></pre>'


def _svg(text: str, alt: str) -> str:
    only = base64.b64encode(text[text.index("<svg") :].encode()).decode()
    address = f"data:image/svg+xml;base64,{only}"
    return f'<figure><img src="{address}" alt="{escape(alt)}"></figure>'


def _html(text: str, alt: str) -> str:
    """A table in a box that scrolls by itself."""
    plain = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    plain = re.sub(r' (?:border="1"|style="text-align: \w+;")', "", plain)
    plain = plain.replace("overflow-x:auto;", "")
    if "simpletable" not in plain:
        plain = re.sub(r"<table[^>]*>", '<table class="frame">', plain)
    box = 'class="scroll" role="group" tabindex="0" aria-label="Output"'
    return f"<div {box}>{plain}</div>"


def _markdown(text: str, alt: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(text))


FORMS: dict[str, Callable[[str, str], str]] = {
    "image/svg+xml": _svg,
    "text/html": _html,
    "text/markdown": _markdown,
    "text/plain": lambda text, alt: _text(text),
}

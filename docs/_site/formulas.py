"""Formulas of the pages as outlines, which load no script and no font."""

from typing import Any

from docutils import nodes
from outlines import formula_svg
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw formulas by matplotlib: the math renderer ``outlines``."""
    app.add_html_math_renderer("outlines", (_inline, None), (_block, None))
    return {"parallel_read_safe": True}


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(formula_svg(node.astext().strip()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    lines = "".join(
        f'<div class="formula" tabindex="0">{formula_svg(part.strip())}</div>'
        for part in node.astext().split("\n\n")
        if part.strip()
    )
    writer.body.append(lines)
    raise nodes.SkipNode

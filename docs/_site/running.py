"""Lines that are run while a page is made, their output below them.

``.. run::`` shows Python and what it printed, returned or drew; all blocks of a page go
on from each other. ``:said:`expression``` puts a value into a sentence, as an f-string
does. A warning stops the build, unless the block says ``:warns:``. ``.. commands::``
runs lines of ``pegasos-stats`` in the same folder.
"""

import ast
import io
import os
import shlex
import shutil
import tempfile
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from textwrap import indent
from typing import Any

import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import directives
from nbformat import NotebookNode
from nbformat.v4 import new_output
from outputs import output_html
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from pegasos_stats.output.cli import main
from pegasos_stats.output.plotting.style import pyplot

Namespace = dict[str, Any]
mpl.use("agg")
os.environ |= {"COLUMNS": "88", "NO_COLOR": "1"}  # of the command line
mpl.rcParams["figure.constrained_layout.use"] = True
NAMES: dict[str, Namespace] = {}  # of the pages, by document
WIDTH = 4.8  # inches of a figure, so that a phone shows letters of 10 pixels
FOLDER = tempfile.TemporaryDirectory()  # where the lines read and write files


def setup(app: Sphinx) -> dict[str, bool]:
    """Make known ``run`` and ``said``; each reading of a page begins anew."""
    for folder in (Path(app.srcdir), Path(app.srcdir) / "data"):
        for path in folder.glob("*.csv"):
            shutil.copy(path, FOLDER.name)
    app.add_directive("run", Run)
    app.add_directive("commands", Commands)
    app.add_role("said", Said())
    app.connect("source-read", lambda app, page, source: NAMES.update({page: {}}))
    return {"parallel_read_safe": False}


class Run(SphinxDirective):
    """Run lines of Python, and show them with their output."""

    has_content = True
    option_spec = {  # noqa: RUF012, as docutils has it
        "hide": directives.flag,
        "warns": directives.flag,
        "alt": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Nodes of the lines and of their output."""
        source = "\n".join(self.content)
        names = NAMES[self.env.docname]
        outputs = _outputs(source, names, "warns" in self.options)
        if "hide" in self.options:
            return []
        alt = self.options.get("alt", "Figure drawn by the lines above")
        shown = f".. code-block:: python\n\n{indent(source, '   ')}"
        html = [output_html(output, alt) for output in outputs]
        written = nodes.raw("", "\n".join(html), format="html")
        return [*self.parse_text_to_nodes(shown), written]


class Commands(SphinxDirective):
    """Run commands, each after ``$ pegasos-stats``, and show them with their output."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Nodes of the commands and of their output."""
        source = "\n".join(self.content)
        printed = []
        for command in source.replace("\\\n", "").split("$ pegasos-stats ")[1:]:
            out, err = io.StringIO(), io.StringIO()
            with chdir(FOLDER.name), redirect_stdout(out), redirect_stderr(err):
                code = main(shlex.split(command))
            if code:
                raise self.error(err.getvalue())
            shown = out.getvalue().replace(f"{Path(FOLDER.name).resolve()}/", "")
            printed.append(shown)
        shown = f".. code-block:: console\n\n{indent(source, '   ')}"
        output = new_output("stream", name="stdout", text="\n".join(printed))
        written = nodes.raw("", output_html(output, ""), format="html")
        return [*self.parse_text_to_nodes(shown), written]


class Said(SphinxRole):
    """A value of the lines above, in a sentence."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The value as text."""
        text = eval("f'''{" + self.text + "}'''", NAMES[self.env.docname])
        return [nodes.Text(text)], []


def _outputs(source: str, names: Namespace, warns: bool) -> list[NotebookNode]:
    """What a notebook would show below the lines."""
    *body, last = ast.parse(source).body
    printed, found = io.StringIO(), []
    with (
        chdir(FOLDER.name),
        redirect_stdout(printed),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always" if warns else "error")
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(body, []), "<page>", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)
        else:
            exec(compile(source, "<page>", "exec"), names)
            value = None
    if warned:
        text = "\n".join(f"{w.category.__name__}: {w.message}" for w in warned)
        found.append(new_output("stream", name="stderr", text=text))
    if printed.getvalue():
        found.append(new_output("stream", name="stdout", text=printed.getvalue()))
    figures = _figures()
    if value is not None and not figures:
        found.append(new_output("execute_result", _forms(value)))
    return found + figures


def _forms(value: object) -> dict[str, str]:
    forms = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        forms["text/html"] = value._repr_html_()
    return forms


def _figures() -> list[NotebookNode]:
    """The figures that are open, which are closed."""
    found, plt = [], pyplot()
    for number in plt.get_fignums():
        figure, drawn = plt.figure(number), io.StringIO()
        width, height = figure.get_size_inches()
        figure.set_size_inches(min(width, WIDTH), height)
        figure.savefig(drawn, format="svg")
        found.append(new_output("display_data", {"image/svg+xml": drawn.getvalue()}))
    plt.close("all")
    return found

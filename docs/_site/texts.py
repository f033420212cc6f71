"""Texts that have their place elsewhere: changes, and help of the command line."""

import os
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pegasos_stats.output.cli import main

ROOT = Path(__file__).parents[2]


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directives known."""
    app.add_directive("changelog", Changelog)
    app.add_directive("help-of", HelpOf)
    return {"parallel_read_safe": True}


class Changelog(SphinxDirective):
    """CHANGELOG.md below its title."""

    def run(self) -> list[nodes.Node]:
        """Sections and lists."""
        path = ROOT / "CHANGELOG.md"
        self.env.note_dependency(str(path))
        _, _, text = path.read_text(encoding="utf-8").partition("\n")
        text = re.sub(r"`([^`]+)`", r"``\1``", text)
        text = re.sub(r"\[([^\]]+)\]\((https:[^)]+)\)", r"`\1 <\2>`__", text)
        text = re.sub(r"^## \[(.*?)\]", r"## \1", text, flags=re.M)
        for marks, line in (("##", "-"), ("###", "~"), ("####", "^")):
            text = re.sub(rf"^{marks} (.*)$", rf"\1\n{line * 40}", text, flags=re.M)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class HelpOf(SphinxDirective):
    """What ``pegasos-stats COMMAND --help`` prints."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The help as text."""
        with (
            patch.dict(os.environ, COLUMNS="88", NO_COLOR="1"),
            redirect_stdout(StringIO()) as printed,
        ):
            main([self.arguments[0], "--help"])
        text = "\n".join(map(str.rstrip, printed.getvalue().splitlines()))
        return [nodes.literal_block(text, text, language="none")]

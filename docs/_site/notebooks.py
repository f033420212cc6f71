"""The vignettes as pages beside the site, each as `vignettes/render.py` writes it."""

import hashlib
from logging import ERROR, getLogger
from pathlib import Path

import jupytext
import nbformat
import pages
import render
from sphinx.application import Sphinx
from sphinx.util import logging

import pegasos_stats

LOG = logging.getLogger(__name__)
ROOT = Path(__file__).parents[2]


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages once the site is built."""
    app.add_config_value("run_notebooks", True, "env", types=[bool])
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True}


def write_pages(app: Sphinx, error: Exception | None) -> None:
    """Run the notebooks, and write a page of each."""
    into = Path(app.outdir) / "vignettes"
    into.mkdir(exist_ok=True)
    for source in [] if error else render.sources():
        notebook = _notebook(source, run=app.config.run_notebooks)
        text = pages.vignette_page(notebook, source.stem)
        (into / f"{source.stem}.html").write_text(text, encoding="utf-8")


def _notebook(source: Path, *, run: bool) -> nbformat.NotebookNode:
    """The notebook with its outputs, from an earlier run of the same lines if any."""
    if not run:
        bare = jupytext.read(source, fmt="py:percent")
        for cell in bare.cells:
            if cell.cell_type == "markdown":
                cell.source = render.SAID.sub("...", cell.source)
            else:
                cell.outputs = []
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

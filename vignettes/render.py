"""Execute the vignettes and write each as one page that loads nothing.

    python vignettes/render.py [NAME ...] [--output FOLDER] [--record]

A vignette is a text notebook, ``NN_name.py`` in jupytext's percent format. Formulas in
its text, ``$...$`` and ``$$...$$``, become outlines; figures are SVG inside the page.
``{{expression}}`` in its text is a value at the end of the run, as in an f-string. NAME
is that of a vignette, its number, or the path of another notebook of this kind. With
``--record`` what R prints is written down for pages without R: see ``r_cells.py``.
Needs the extra ``vignettes``: pip install 'pegasos_stats[vignettes]'.
"""

import argparse
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import jupytext
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from pages import vignette_page

HERE = Path(__file__).parent
SECONDS = 100  # of processors, that one vignette may take
PATIENCE = 600  # seconds, however busy the machine
SAID = re.compile(r"\{\{(.+?)\}\}")  # an expression, as an f-string has it
LAST = "import json, time\nprint(json.dumps([time.process_time(), [{}]]))"
SET_UP = (
    "%matplotlib inline\n"
    "%config InlineBackend.figure_formats = ['svg']\n"
    "%config InlineBackend.print_figure_kwargs = {'bbox_inches': None}\n"
    "import matplotlib\n"
    "matplotlib.rcParams['figure.constrained_layout.use'] = True"
)


def main() -> None:
    """Render the vignettes named, or all of them."""
    options = _options()
    chosen = [path for path in sources() if _is_chosen(path, options.names)]
    chosen += [Path(name) for name in options.names if name.endswith(".py")]
    if not chosen:
        known = ", ".join(path.stem for path in sources())
        sys.exit(f"render.py: no vignette is called so; known are {known}.")
    if options.record:
        os.environ["PEGASOS_STATS_RECORD_R"] = "1"
    options.output.mkdir(parents=True, exist_ok=True)
    for path in chosen:
        began = time.monotonic()
        page = options.output / f"{path.stem}.html"
        page.write_text(vignette_page(executed(path), path.stem), encoding="utf-8")
        print(f"{page}  {time.monotonic() - began:.0f} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Render the vignettes.")
    parser.add_argument("names", nargs="*", help="e.g. 01_first_fit, or 01")
    parser.add_argument("--output", type=Path, default=HERE.parent / "build/vignettes")
    parser.add_argument("--record", action="store_true", help="keep what R prints")
    return parser.parse_args()


def sources() -> list[Path]:
    """Files of the vignettes, in order."""
    return sorted(HERE.glob("[0-9][0-9]_*.py"))


def _is_chosen(path: Path, names: list[str]) -> bool:
    return not names or any(path.stem == n or path.stem[:2] == n for n in names)


def executed(path: Path) -> Any:
    """Run a vignette in a kernel of this Python, and return the notebook.

    Raises
    ------
    CellExecutionError
        If a cell fails.
    TimeoutError
        If it takes more than `SECONDS` of processors.
    """
    notebook = jupytext.read(path, fmt="py:percent")
    first = notebook.cells[0].copy()
    first.update(cell_type="code", source=SET_UP, outputs=[], execution_count=None)
    first.metadata = {"tags": ["set-up"]}
    last = first.copy()
    texts = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    said = [found for cell in texts for found in SAID.findall(cell.source)]
    last.update(source=LAST.format(", ".join(f"f'{{{e}}}'" for e in said)))
    notebook.cells.insert(0, first)
    notebook.cells.append(last)
    client = NotebookClient(
        notebook,
        timeout=PATIENCE,
        km=_kernel_of_this_python(),
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(HERE)}},
    )
    client.execute()
    spent, values = json.loads(notebook.cells.pop().outputs[0].text)
    if spent > SECONDS:
        raise TimeoutError(
            f"{path.name} takes {spent:.0f} s of processors; {SECONDS} are allowed"
        )
    notebook.cells.pop(0)
    value = iter(values)
    for cell in texts:
        cell.source = SAID.sub(lambda found: next(value), cell.source)
    return notebook


def _kernel_of_this_python() -> AsyncKernelManager:
    """A kernel of the interpreter that runs this, whatever others are installed."""
    manager = AsyncKernelManager(kernel_name="python3")
    manager.kernel_spec_manager = KernelSpecManager(kernel_dirs=[])
    return manager


if __name__ == "__main__":
    main()

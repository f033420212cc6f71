"""Execute the vignettes and write them with their outputs.

    python vignettes/execute.py [NAME ...] [--output FOLDER]

A vignette is a text ``NN_name.py`` in jupytext's percent format, and the executed
notebook ``NN_name.ipynb``. NAME is a number, a name, or the path of another text
notebook. The tags of a cell state its requirements and how tests compare its output:

* ``r``, and cells that begin with ``%%R``: require R and rpy2;
* ``data``: requires the data files in the folder that PEGASOS_STATS_DATA names;
* ``picture``: its figure represents the vignette in README.md;
* ``exact``: every character of the output is compared;
* ``varies``: the output contains times or versions and is not compared.

A cell whose requirements are not met is not run and retains its output. The script
needs the extra ``vignettes``, and ``r`` for cells in R: pip install
'pegasos_stats[vignettes,r]'.
"""

import argparse
import base64
import io
import os
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

HERE = Path(__file__).parent
PHOTOGRAPH = 25_000  # bytes; larger PNG figures are stored as JPEG
WIDTH = 400  # maximum width of a picture in the list, in pixels
PATIENCE = 600  # maximum time of a cell, in seconds
# Messages at the first run on a machine, and of rpy2 without a compiler.
MESSAGES = ("pegasos_stats: compiling", "Error importing in API mode")
SKIP = "skip-execution"  # nbclient's tag
METADATA = {
    "kernelspec": {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


def main() -> None:
    """Execute and write the named vignettes, by default all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="e.g. 01, or 01_from_scratch")
    parser.add_argument("--output", type=Path, default=HERE)
    options = parser.parse_args()
    chosen = [path for path in sources() if _is_chosen(path, options.names)]
    chosen += [Path(name) for name in options.names if name.endswith(".py")]
    if not chosen:
        known = ", ".join(path.stem for path in sources())
        sys.exit(f"execute.py: no vignette has this name; use {known}.")
    options.output.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(min(len(chosen), os.cpu_count() or 1)) as pool:
        for line in pool.map(write, chosen, repeat(options.output)):
            print(line, flush=True)


def write(source: Path, folder: Path) -> str:
    """Execute a vignette and write its notebook; return a line with path and time."""
    began = time.monotonic()
    notebook, path = executed(source), folder / f"{source.stem}.ipynb"
    nbformat.write(notebook, path)
    write_picture(notebook, folder / f"pictures/{source.stem[:2]}.png")
    return f"{path}  {time.monotonic() - began:.0f} s"


def sources() -> list[Path]:
    """Return the texts of the vignettes, in order."""
    return sorted(HERE.glob("[0-9][0-9]_*.py"))


def _is_chosen(path: Path, names: list[str]) -> bool:
    return not names or any(name in (path.stem, path.stem[:2]) for name in names)


def executed(source: Path) -> NotebookNode:
    """Execute a text notebook in a kernel of this Python.

    Raises
    ------
    CellExecutionError
        If a cell fails.
    """
    notebook = with_outputs(source)
    missing = missing_needs()
    skipped = [cell for cell in code_cells(notebook) if needs(cell) & missing]
    for cell in skipped:
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), SKIP]
    NotebookClient(
        notebook,
        timeout=PATIENCE,
        km=_kernel_of_this_python(),
        coalesce_streams=True,
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(HERE)}},
    ).execute()
    for cell in skipped:
        cell.metadata["tags"].remove(SKIP)
    notebook.metadata = METADATA
    for number, cell in enumerate(code_cells(notebook), 1):
        cell.execution_count = number
        cell.outputs = [output for output in cell.outputs if not is_message(output)]
        for output in cell.outputs:
            shrink_figure(output)
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook


def with_outputs(source: Path) -> NotebookNode:
    """Read a text notebook, with the stored outputs of the cells that are unchanged."""
    notebook = jupytext.read(source, fmt="py:percent")
    path, recorded = source.with_suffix(".ipynb"), {}
    if path.is_file():
        before = nbformat.read(path, as_version=4)
        recorded = {cell.source: cell.outputs for cell in code_cells(before)}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata.pop("lines_to_next_cell", None)
    for cell in code_cells(notebook):
        cell.outputs = recorded.get(cell.source, [])
    return notebook


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def write_picture(notebook: NotebookNode, path: Path) -> None:
    """Write a reduced copy of the figure that represents a vignette in the list."""
    for cell in code_cells(notebook):
        if "picture" in cell.metadata.get("tags", []):
            (drawn,) = filter(None, map(figure_of, cell.outputs))
            with Image.open(io.BytesIO(base64.b64decode(drawn))) as figure:
                small = figure.convert("RGB")
            small.thumbnail((WIDTH, WIDTH))
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(
                encoded(
                    small.quantize(64, Image.Quantize.MAXCOVERAGE), "png", optimize=True
                )
            )


def figure_of(output: NotebookNode) -> str | None:
    """Return the figure of an output in base64, or None."""
    data = output.get("data", {})
    return next((data[kind] for kind in data if kind.startswith("image/")), None)


def shrink_figure(output: NotebookNode) -> None:
    """Reduce a figure to 64 colours; store it as JPEG if it is still large."""
    data = output.get("data", {})
    if "image/png" in data:
        with Image.open(io.BytesIO(base64.b64decode(data.pop("image/png")))) as figure:
            whole = figure.convert("RGB")
        written = encoded(
            whole.quantize(64, Image.Quantize.MAXCOVERAGE), "png", optimize=True
        )
        kind = "png" if len(written) <= PHOTOGRAPH else "jpeg"
        if kind == "jpeg":
            written = encoded(whole, "jpeg", quality=60, optimize=True)
        data[f"image/{kind}"] = base64.b64encode(written).decode()


def encoded(figure: Image.Image, kind: str, **options: Any) -> bytes:
    """Encode a figure as the bytes of an image file."""
    written = io.BytesIO()
    figure.save(written, kind, **options)
    return written.getvalue()


def is_message(output: NotebookNode) -> bool:
    """Test whether an output is one of the `MESSAGES`."""
    return output.get("name") == "stderr" and output.text.startswith(MESSAGES)


def needs(cell: NotebookNode) -> set[str]:
    """Return the requirements of a cell: a subset of "r" and "data"."""
    of_r = {"r"} if cell.source.startswith("%%R") else set()
    return of_r | {"r", "data"} & set(cell.metadata.get("tags", []))


def missing_needs() -> set[str]:
    """Return the requirements that this machine does not meet."""
    folder = os.environ.get("PEGASOS_STATS_DATA")
    has = {
        "r": os.environ.get("PEGASOS_STATS_NO_R") != "1"
        and bool(find_spec("rpy2") and shutil.which("R")),
        "data": bool(folder and (Path(folder) / "coding5_train.csv").is_file()),
    }
    return {need for need, there in has.items() if not there}


def _kernel_of_this_python() -> AsyncKernelManager:
    """Return a kernel of the running interpreter, even if others are installed."""
    manager = AsyncKernelManager(kernel_name="python3")
    manager.kernel_spec_manager = KernelSpecManager(kernel_dirs=[])
    return manager


if __name__ == "__main__":
    main()

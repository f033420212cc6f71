"""Lines of R beside those of Python: shown, run in R, and what R printed.

The functions of ``r_reference/R`` are there when the lines run. Where there is no R
the page says so, and goes on.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from IPython.display import Markdown, display

REFERENCE = Path(__file__).resolve().parents[1] / "r_reference"
RSCRIPT = shutil.which("Rscript")
SOURCE_ALL = 'for (file in list.files("R", full.names = TRUE)) source(file)\n'


def r(code: str, shown: str = "") -> str:
    """Show lines of R, run them, and show what R prints.

    Parameters
    ----------
    code : str
    shown : str
        What the reader sees in the place of all of `code`.

    Returns
    -------
    str
        What R printed; nothing where there is no R.

    Raises
    ------
    subprocess.CalledProcessError
        If R stops with an error.
    """
    display(Markdown(f"```r\n# R\n{(shown or code).strip()}\n```"))
    if RSCRIPT is None:
        print("(not run: there is no R on this machine)")
        return ""
    run = subprocess.run(
        [RSCRIPT, "--vanilla", "-"],
        input=SOURCE_ALL + code,
        cwd=REFERENCE,
        env=os.environ | {"LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    _print_short(run.stdout.rstrip().splitlines())
    return run.stdout


def _print_short(lines: list[str], most: int = 14) -> None:
    """Print lines, and of a long output the beginning and the end."""
    if len(lines) > most:
        left_out = len(lines) - 4
        lines = [*lines[:3], f"... ({left_out} more lines)", lines[-1]]
    print("\n".join(lines))


def hexadecimal(text: str) -> list[float]:
    """Find the numbers that R printed in hexadecimal, which loses no bit."""
    return [float.fromhex(word) for word in re.findall(r"-?0x\S+", text)]


def check_bits(ours: Any, others: Any) -> None:
    """Fail unless the two are the same in every bit; others may not be there."""
    if len(others):
        assert np.asarray(ours, float).tobytes() == np.asarray(others, float).tobytes()
        print(f"{len(others)} numbers, the same in every bit")

"""Lines of R beside those of Python: shown, run in R, and what R printed.

The functions of ``r_reference/R`` are there when lines run. Without R the page shows
what R printed when ``render.py --record`` wrote it into ``r_output.json``.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from IPython.display import Markdown, display

REFERENCE = Path(__file__).resolve().parents[1] / "r_reference"
RSCRIPT = os.environ.get("PEGASOS_STATS_NO_R") != "1" and shutil.which("Rscript")
RECORD = Path(__file__).with_name("r_output.json")  # by the lines that are shown
SOURCE_ALL = 'for (file in list.files("R", full.names = TRUE)) source(file)\n'


def r(code: str, shown: str = "", *, first: int = 3, run: bool = True) -> str:
    """Show lines of R, run them, and show what R prints.

    Parameters
    ----------
    code : str
    shown : str
        What the reader sees in the place of all of `code`.
    first : int
        How many lines of a long output are shown at its beginning.
    run : bool
        False shows recorded output, for lines whose data are missing.

    Returns
    -------
    str
        What R printed, now or when it was recorded.

    Raises
    ------
    KeyError
        If there is no R, and nothing is recorded.
    subprocess.CalledProcessError
        If R stops with an error.
    """
    shown = (shown or code).strip()
    display(Markdown(f"```r\n# R\n{shown}\n```"))
    if RSCRIPT and run:
        output = in_r(code)
        if os.environ.get("PEGASOS_STATS_RECORD_R"):
            text = json.dumps(recorded() | {shown: output}, indent=1)
            RECORD.write_text(f"{text}\n", encoding="utf-8")
    else:
        missing = "the data are" if RSCRIPT else "R is"
        print(f"({missing} not on this machine; recorded from R earlier)")
        output = recorded()[shown]
    _print_short(output.rstrip().splitlines(), first)
    return output


def in_r(code: str) -> str:
    """What R prints."""
    run = subprocess.run(
        [str(RSCRIPT), "--vanilla", "-"],
        input=SOURCE_ALL + code,
        cwd=REFERENCE,
        env=os.environ | {"LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def recorded() -> dict[str, str]:
    """What R printed earlier, by the lines that the reader sees."""
    return dict(json.loads(RECORD.read_text("utf-8"))) if RECORD.is_file() else {}


def _print_short(lines: list[str], first: int, most: int = 14) -> None:
    """Print lines, and of a long output the beginning and the end."""
    if len(lines) > most:
        left_out = len(lines) - first - 1
        lines = [*lines[:first], f"... ({left_out} more lines)", lines[-1]]
    print("\n".join(lines))


def hexadecimal(text: str) -> list[float]:
    """Find the numbers that R printed in hexadecimal, which loses no bit."""
    return [float.fromhex(word) for word in re.findall(r"-?0x\S+", text)]


def check_bits(ours: Any, others: Any) -> None:
    """Fail unless the two are the same in every bit; others may not be there."""
    if len(others):
        assert np.asarray(ours, float).tobytes() == np.asarray(others, float).tobytes()
        print(f"{len(others)} numbers, the same in every bit")

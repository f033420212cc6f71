"""Where the command line writes: never over a file that it reads."""

import argparse
from pathlib import Path

from pegasos_stats.errors import OptionError

WRITTEN = {"output": "--output", "save": "--save"}  # reports look for themselves
READ = ("train", "test", "data", "model", "rows")


def check_places(options: argparse.Namespace) -> None:
    """Look at the files of a command before anything is read or fitted.

    Raises
    ------
    OptionError
        If a file that is read would be written over.

    Examples
    --------
    >>> check_places(argparse.Namespace(data="new.csv", output="out.csv"))
    """
    for name, flag in WRITTEN.items():
        path = getattr(options, name, None)
        for source in (getattr(options, other, None) for other in READ):
            if path and source and _is_same(Path(path), Path(source)):
                raise OptionError(
                    f"{flag} {path} would write over a file that is read; give "
                    "another path."
                )


def _is_same(path: Path, source: Path) -> bool:
    """Whether two paths lead to one file that is there, links followed."""
    return path.exists() and source.exists() and path.samefile(source)

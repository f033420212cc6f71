"""The command line as a program: arguments in, an exit code out, never a traceback."""

import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pegasos_stats.errors import (
    ColumnWarning,
    OptionError,
    PegasosStatsError,
)
from pegasos_stats.output.cli import streams
from pegasos_stats.output.cli.options import as_options, read_words

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141  # what a shell reports for a program that a closed pipe ended
TRACEBACK = "PEGASOS_STATS_TRACEBACK"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process if left out.

    Returns
    -------
    int
        0; 1 from ``parity`` where R differs; or 2 after bad input, with one line on
        standard error; 130 after an interrupt; 141 if nobody reads standard output any
        more.
    """
    with streams.forgiving_errors():
        try:
            return _run(list(sys.argv[1:] if arguments is None else arguments))
        except PegasosStatsError as error:
            text = str(error)
        except KeyboardInterrupt:
            streams.say("interrupted")
            return INTERRUPTED
        except BrokenPipeError:
            return BROKEN_PIPE
        except MemoryError as error:
            what = f": {error}" if str(error) else ""
            text = f"The memory is not enough for these data and options{what}."
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            text = (
                f"unexpected {type(error).__name__}: {error}; this should not happen, "
                f"please report it with what {TRACEBACK}=1 shows."
            )
        streams.say(as_options(text))
        return BAD_INPUT


def _run(words: list[str]) -> int:
    streams.check_output()
    for word in words:
        if re.search("[\ud800-\udfff]", word):  # bytes may be a file's name
            raise OptionError(f"{word!a} is not text in UTF-8; set PYTHONUTF8=1.")
    options = read_words(words)
    if options is None:  # --help, --version
        return 0
    from pegasos_stats.output.cli.commands import COMMANDS  # loads every library

    line = shlex.join([streams.PROGRAM, *words])
    with _warnings_in_one_line():
        return COMMANDS[type(options)](options, line)


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Show a warning as one line, without the place in the source."""
    said = set[str]()

    def show(message: Warning | str, *args: object, **options: object) -> None:
        if str(message) in said:
            return
        said.add(str(message))
        streams.say(as_options(f"warning: {message}"))

    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("ignore", ColumnWarning)  # of which notes tell
        warnings.filterwarnings("default", ".*( left out|without a prediction)")
        yield

"""The command line as a program: arguments in, an exit code out, never a traceback."""

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pegasos_stats.errors import OptionError, PegasosStatsError
from pegasos_stats.output.cli.commands import COMMANDS
from pegasos_stats.output.cli.parser import failed, parser
from pegasos_stats.output.cli.streams import (
    check_output,
    forgiving_errors,
    say,
    write_output,
)

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
        0; or 2 after bad input, with one line on standard error; 130 after an
        interrupt; 141 if nobody reads standard output any more.
    """
    with forgiving_errors():
        try:
            _run(list(sys.argv[1:] if arguments is None else arguments))
        except PegasosStatsError as error:
            return failed(str(error).replace("lam=", "--lambda ", 1))
        except KeyboardInterrupt:
            failed("interrupted")
            return INTERRUPTED
        except BrokenPipeError:
            return BROKEN_PIPE
        except MemoryError as error:
            return failed(_no_memory(error))
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            return failed(_unexpected(error))
    return 0


def _run(words: list[str]) -> None:
    check_output()
    for word in words:
        _check_text(word)
    options = parser().parse_args(words)
    options.arguments = words
    with _warnings_in_one_line():
        printed = COMMANDS[options.command](options)
    write_output(printed.out, printed.exact)
    sys.stderr.write(printed.err)


def _check_text(word: str) -> None:
    """Raise `OptionError` for bytes that are no text, which a file may be called by."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise OptionError(
            f"The argument {word!a} is not text in UTF-8; give the file another "
            "name, or set PYTHONUTF8=1 if it is."
        ) from None


def _no_memory(error: MemoryError) -> str:
    what = f": {error}" if str(error) else ""
    return f"The memory is not enough for these data and options{what}."


def _unexpected(error: Exception) -> str:
    return (
        f"unexpected {type(error).__name__}: {error}; this should not happen, please "
        f"report it with what {TRACEBACK}=1 shows."
    )


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Show a warning as one line, without the place in the source."""

    def show(message: Warning | str, *args: Any, **options: Any) -> None:
        say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield

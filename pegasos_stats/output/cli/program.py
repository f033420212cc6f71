"""The command line as a program: arguments in, an exit code out, never a traceback.

Whatever standard output and standard error are, no traceback comes of them.
"""

import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from pegasos_stats.errors import (
    ColumnWarning,
    DataError,
    OptionError,
    PegasosStatsError,
)
from pegasos_stats.output.cli.options import PROGRAM, as_options, read_words

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141  # what a shell reports for a program that a closed pipe ended
TRACEBACK = "PEGASOS_STATS_TRACEBACK"
LONGEST = 2000  # characters of a message
UNWRITABLE = (OSError, ValueError)


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
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except PegasosStatsError as error:
        text = str(error)
    except KeyboardInterrupt:
        say("interrupted")
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
    say(as_options(text))
    return BAD_INPUT


def _run(words: list[str]) -> int:
    check_output()
    for word in words:
        if re.search("[\ud800-\udfff]", word):  # bytes may be a file's name
            raise OptionError(f"{word!a} is not text in UTF-8; set PYTHONUTF8=1.")
    options = read_words(words)
    if options is None:  # --help, --version
        return 0
    from pegasos_stats.output.cli.commands import COMMANDS  # loads every library

    line = shlex.join([PROGRAM, *words])
    with _warnings_in_one_line():
        return COMMANDS[type(options)](options, line) or 0


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Show a warning as one line, without the place in the source."""
    said = set[str]()

    def show(message: Warning | str, *args: object, **options: object) -> None:
        if str(message) in said:
            return
        said.add(str(message))
        say(as_options(f"warning: {message}"))

    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("ignore", ColumnWarning)  # of which notes tell
        warnings.filterwarnings("default", ".*( left out|without a prediction)")
        yield


def say(message: str) -> None:
    """Write one line to standard error; unprintable characters become escapes."""
    text = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in message.strip().replace("\n", " ")
    )
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    tell(f"{PROGRAM}: {text}\n")


def tell(text: str) -> None:
    """Write to standard error, if it is there and can be written."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (*UNWRITABLE, AttributeError):
        _discard(sys.stderr)


def check_output() -> None:
    """Raise `OptionError` if there is no standard output."""
    if sys.stdout is None or sys.stdout.closed:
        raise OptionError(
            "Standard output is closed; send it to a file, or to /dev/null if it is "
            "not wanted."
        )


def write_output(text: str, exact: bool = False) -> None:
    """Write all of a text to standard output.

    Characters that it cannot take become escapes, which a warning says.

    Parameters
    ----------
    text : str
    exact : bool
        Whether nothing may be changed, because programs read it.

    Raises
    ------
    OptionError
        If there is no standard output, or it cannot take an exact text.
    DataError
        If it cannot be written, for example because a disk is full.
    BrokenPipeError
        If nobody reads it any more.
    """
    check_output()
    shown = text
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        what = f"standard output is {encoding}, which has no {text[error.start]!a}"
        if exact:
            cure = "set PYTHONUTF8=1, or give a file with -o"
            raise OptionError(f"{what}; {cure}.") from None
        say(f"warning: {what}; it is written as an escape, unless PYTHONUTF8=1 is set")
        shown = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        sys.stdout.write(shown)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
        raise
    except UNWRITABLE as error:
        _discard(sys.stdout)
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"Standard output cannot be written: {reason}.") from None


def _discard(stream: TextIO) -> None:
    """Discard what is left in a stream; Python would fail to write it at its end."""
    with suppress(*UNWRITABLE, AttributeError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)

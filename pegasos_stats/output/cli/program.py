"""The command line as a program: arguments in, an exit code out, never a traceback."""

import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from pegasos_stats.errors import ColumnWarning, DataError, PegasosStatsError, visible
from pegasos_stats.output.cli.options import OPTIONS, PROGRAM, read_words

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141  # what a shell reports for a program that a closed pipe ended
TRACEBACK = "PEGASOS_STATS_TRACEBACK"
LONGEST = 2000  # characters of a message
PYTHON = (  # calls of Python in messages, and the options that stand for them
    (re.compile(r"; in Python also .*"), "."),
    (re.compile(r"ps\.logit(\(\))?"), "--loss log"),
    (re.compile(r"ps\.svm(\(\))?"), "--loss hinge"),
    (re.compile(r"ps\.Optimum\(\)"), "--solver optimum"),
    (re.compile(r"ps\.(Pegasos|SDCA)\(\)"), lambda call: f"--solver {call[1].lower()}"),
)
ARGUMENT = re.compile(r"(?<![\w.-])(?<!\w\()([a-z]\w*)=(?!=)(?:'(\w+)')?")
UNWRITABLE = (OSError, ValueError, AttributeError)


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
    except OSError as error:  # of help that standard output does not take
        text = str(_not_taken(error))
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        text = (
            f"unexpected {type(error).__name__}: {error}; this should not happen, "
            f"please report it with what {TRACEBACK}=1 shows."
        )
    say(text)
    return BAD_INPUT


def _run(words: list[str]) -> int:
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
        say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("ignore", ColumnWarning)  # of which notes tell
        warnings.filterwarnings("default", ".*( left out|without a prediction)")
        yield


def as_options(text: str) -> str:
    """Write arguments and calls of Python in a message as options.

    Examples
    --------
    >>> as_options("give lam=0.1, weights='balanced', or use ps.Optimum()")
    'give --lam=0.1, --weights=balanced, or use --solver optimum'
    """

    def option(found: re.Match[str]) -> str:
        if found[1] not in OPTIONS:
            return found[0]
        return f"--{found[1].replace('_', '-')}={found[2] or ''}"

    for call, words in PYTHON:
        text = call.sub(words, text)
    return ARGUMENT.sub(option, text)


def say(message: str) -> None:
    """Write one line to standard error; unprintable characters become escapes."""
    text = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in as_options(message.strip().replace("\n", " "))
    )
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    tell(f"{PROGRAM}: {text}\n")


def tell(text: str) -> None:
    """Write to standard error, if it is there and can be written."""
    with suppress(*UNWRITABLE):
        sys.stderr.write(visible(text))
        sys.stderr.flush()


def write_output(text: str, exact: bool = False) -> None:
    """Write all of a text to standard output, by `errors.visible`.

    Parameters
    ----------
    text : str
    exact : bool
        Whether it is written as it is, unless to a terminal.

    Raises
    ------
    DataError
        If it is not there or cannot be written: a disk is full, or its encoding has no
        such character.
    BrokenPipeError
        If nobody reads it any more.
    """
    try:
        if not exact or sys.stdout.isatty():
            text = visible(text)
        sys.stdout.write(text)
        sys.stdout.flush()
    except UNWRITABLE as error:
        with suppress(*UNWRITABLE):  # or Python fails to write the rest at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise _not_taken(error) from None


def _not_taken(error: Exception) -> DataError:
    """The error that says why standard output cannot be written."""
    is_closed = isinstance(error, AttributeError)  # then it is None
    reason = getattr(error, "strerror", None) or ("closed" if is_closed else error)
    cure = "; set PYTHONUTF8=1" * isinstance(error, UnicodeError)
    return DataError(f"Standard output cannot be written: {reason}{cure}.")

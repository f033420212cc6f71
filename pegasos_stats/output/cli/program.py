"""Main program of the command line, which returns an exit code."""

import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from pegasos_stats.errors import (
    DataError,
    PegasosStatsError,
    PegasosStatsWarning,
    visible,
)
from pegasos_stats.output.cli.options import OPTIONS, PROGRAM, read_words

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141  # as the shell reports a closed pipe
TRACEBACK = "PEGASOS_STATS_TRACEBACK"
MAX_MESSAGE = 2000  # characters of a message
CALLS = {  # calls in messages, and the equivalent options
    "Call fit() without a solver": "Omit --epochs and other options of the solver",
    "ps.logit()": "--loss log",
    "ps.logit": "--loss log",
    "ps.svm": "--loss hinge",
    "ps.Optimum()": "--solver optimum",
    "ps.Pegasos()": "--solver pegasos",
    "ps.SDCA()": "--solver sdca",
}
ARGUMENT = re.compile(
    r"(?<![\w.-])(?<!\w\()([a-z]\w*)=(?!=)(?:'(\w+)'|(True|False)\b)?"
)
NO_VALUE = re.compile(r"$|[\s,;:)]|\.(?!\d)")  # what follows an option without a value
UNWRITABLE = (OSError, ValueError, AttributeError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default the arguments of the process.

    Returns
    -------
    int
        0; 1 from ``parity`` if R differs; 2 after bad input, with one line on standard
        error; 130 after an interrupt; 141 if standard output was closed.
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
        text = f"There is not enough memory for these data and options{what}."
    except OSError as error:  # help could not be written to standard output
        text = str(_output_error(error))
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        text = (
            f"unexpected {type(error).__name__}: {error}; this should not happen: "
            f"please report it, with the traceback that {TRACEBACK}=1 prints."
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
    """Show each warning once, on one line, without its source line."""
    messages = set[str]()

    def show(message: Warning | str, *args: object, **options: object) -> None:
        if str(message) in messages:
            return
        messages.add(str(message))
        say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("default", PegasosStatsWarning)
        yield


def as_options(text: str) -> str:
    """Replace Python arguments and calls in a message by options.

    Examples
    --------
    >>> as_options("use lam=0.1, weights='balanced', or ps.Optimum()")
    'use --lam=0.1, --weights=balanced, or --solver optimum'
    >>> as_options("pass groups=, standardize=True, or intercept=False.")
    'pass --groups, --standardize, or --no-intercept.'
    >>> as_options("Call fit() without a solver, or pass refine=1e-6.")
    'Omit --epochs and other options of the solver, or pass --refine=1e-6.'
    """

    def option(match: re.Match[str]) -> str:
        if match[1] not in OPTIONS:
            return match[0]
        name = match[1].replace("_", "-")
        if match[3] is not None:
            return f"--{'no-' * (match[3] == 'False')}{name}"
        if match[2] is None and NO_VALUE.match(text, match.end()):
            return f"--{name}"
        return f"--{name}={match[2] or ''}"

    text = re.sub(r"; in Python also .*", ".", text)
    for call, words in CALLS.items():
        text = text.replace(call, words)
    return ARGUMENT.sub(option, text)


def say(message: str) -> None:
    """Write one line to standard error; unprintable characters become escapes."""
    text = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in as_options(message.strip().replace("\n", " "))
    )
    if len(text) > MAX_MESSAGE:
        text = f"{text[: MAX_MESSAGE // 2]} ... {text[-MAX_MESSAGE // 2 :]}"
    tell(f"{PROGRAM}: {text}\n")


def tell(text: str) -> None:
    """Write a text to standard error, if possible."""
    with suppress(*UNWRITABLE):
        sys.stderr.write(visible(text))
        sys.stderr.flush()


def write_output(text: str, exact: bool = False) -> None:
    """Write a text to standard output; `errors.visible` escapes control characters.

    Parameters
    ----------
    text : str
    exact : bool
        Whether to write control characters unchanged, except to a terminal.

    Raises
    ------
    DataError
        If standard output is closed or cannot be written: the disk is full, or its
        encoding lacks a character.
    BrokenPipeError
        If the process that reads standard output has ended.
    """
    try:
        if not exact or sys.stdout.isatty():
            text = visible(text)
        sys.stdout.write(text)
        sys.stdout.flush()
    except UNWRITABLE as error:
        with suppress(*UNWRITABLE):  # otherwise Python fails to flush at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise _output_error(error) from None


def _output_error(error: Exception) -> DataError:
    """Return the error that explains why standard output cannot be written."""
    is_closed = isinstance(error, AttributeError)  # sys.stdout is None
    reason = getattr(error, "strerror", None) or ("closed" if is_closed else error)
    cure = "; set PYTHONUTF8=1" * isinstance(error, UnicodeError)
    return DataError(f"Standard output cannot be written: {reason}{cure}.")

"""Standard output and standard error: whatever they are, no traceback comes of them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from typing import Any, TextIO

from pegasos_stats.errors import DataError, OptionError

PROGRAM = "pegasos-stats"
LONGEST = 2000  # characters of a message
UNWRITABLE = (OSError, ValueError)


class _Forgiving:
    """A stream that goes on as if nothing were wrong when it cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except UNWRITABLE:
            _end(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except UNWRITABLE:
            _end(self._stream)


@contextmanager
def forgiving_errors() -> Iterator[None]:
    """Let standard error be closed, full, or missing."""
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        found = nothing if sys.stderr is None else _Forgiving(sys.stderr)
        with redirect_stderr(found):
            yield


def say(message: str) -> None:
    """Write one line to standard error, with what is not to be seen as escapes."""
    text = "".join(map(_shown, message.strip()))
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    sys.stderr.write(f"{PROGRAM}: {text}\n")


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character == "\n" else ascii(character)[1:-1]


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
    shown = _as_taken(text, exact)
    try:
        sys.stdout.write(shown)
        sys.stdout.flush()
    except BrokenPipeError:
        _end(sys.stdout)
        raise
    except UNWRITABLE as error:
        _end(sys.stdout)
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"Standard output cannot be written: {reason}.") from None


def _as_taken(text: str, exact: bool) -> str:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        what = f"standard output is {encoding}, which has no {text[error.start]!a}"
        if exact:
            cure = "set PYTHONUTF8=1, or give a file with -o"
            raise OptionError(f"{what}; {cure}.") from None
        say(f"warning: {what}; it is written as an escape, unless PYTHONUTF8=1 is set")
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def _end(stream: TextIO) -> None:
    """Send what is left in a stream to nowhere, so that Python can end in peace."""
    with suppress(*UNWRITABLE, AttributeError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)

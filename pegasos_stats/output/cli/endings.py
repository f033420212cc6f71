"""A command that is ended while it writes leaves no part of a file behind."""

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pegasos_stats.writing import remove_parts

ENDING = ("SIGTERM", "SIGHUP")  # the terminal that is closed; not every system has it


@contextmanager
def no_part_left() -> Iterator[None]:
    """Remove parts of files when the process is told to end, and then end it.

    It is meant for the moments of writing alone: Python handles a signal when compiled
    code has come to its end, and a fit may take long. A handler of the caller, or that
    a signal is ignored, stays as it is; so does everything outside the main thread.

    Examples
    --------
    >>> with no_part_left():
    ...     signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    False
    """
    found = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    ours = [n for n in found if main and signal.getsignal(n) is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, _end)
        yield
    finally:
        remove_parts(threading.get_ident())
        for number in ours:
            _to_default(number)


def _end(number: int, frame: FrameType | None) -> None:
    remove_parts()
    _to_default(number)
    signal.raise_signal(number)


def _to_default(number: int) -> None:
    """Give a signal back to the system, one that comes at this very moment included.

    ``signal.signal`` alone loses one that Python has taken and not handled yet; told
    to the system first, no more are taken, and those that were are handled.
    """
    ctypes.pythonapi.PyOS_setsig(number, None)
    signal.signal(number, signal.SIG_DFL)

"""One line on standard error where a process waits for kernels to be compiled.

It is written once for a process, after a second of compiling; kernels that are loaded
from the cache take no such time and say nothing.
"""

import sys
import time
from contextlib import suppress
from threading import Timer

from numba.core import event

PATIENCE = 1.0  # seconds
PACKAGE = "pegasos_stats."
TEXT = "pegasos_stats: compiling, once for this version: about 20 s\n"


class Notice(event.Listener):  # type: ignore[misc]
    """Listens to numba, which compiles one kernel, and those it calls, at a time.

    Attributes
    ----------
    is_shown : bool
        Whether the line has been written, or is not wanted.
    """

    def __init__(self) -> None:
        self.is_shown = False
        self._depth, self._since, self._seconds = 0, 0.0, 0.0
        self._timer: Timer | None = None

    def on_start(self, event: event.Event) -> None:
        """Start the clock with a kernel of this package."""
        if self.is_shown or not _is_ours(event):
            return
        self._depth += 1
        if self._depth == 1:
            self._since = time.monotonic()
            self._timer = Timer(max(PATIENCE - self._seconds, 0.0), self._show)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: event.Event) -> None:
        """Stop the clock where the outermost kernel is done."""
        if self._timer is None or not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0:
            self._timer.cancel()
            self._timer = None
            self._seconds += time.monotonic() - self._since

    def _show(self) -> None:
        if self.is_shown or sys.stderr is None:
            return
        self.is_shown = True
        with suppress(OSError, ValueError):  # closed, or full
            sys.stderr.write(TEXT)
            sys.stderr.flush()


def _is_ours(event: event.Event) -> bool:
    dispatcher = (event.data or {}).get("dispatcher")
    function = getattr(dispatcher, "py_func", None)
    return str(getattr(function, "__module__", "")).startswith(PACKAGE)


NOTICE = Notice()
event.register("numba:compile", NOTICE)

"""One line on standard error where a process waits for kernels to be compiled.

It is written after a second of compiling, and again where that goes on once the time
it names is over; kernels that are loaded from the cache take no such time.
"""

import math
import sys
import time
from contextlib import suppress
from threading import Timer

from numba.core import event

PATIENCE = 1.0  # seconds of compiling before a line
QUIET = 20.0  # seconds from one line to the next
PACKAGE = "pegasos_stats."
TEXT = f"pegasos_stats: compiling, once for this version: up to {QUIET:.0f} s\n"


class Notice(event.Listener):  # type: ignore[misc]
    """Listens to numba, which compiles one kernel, and those it calls, at a time.

    Attributes
    ----------
    is_wanted : bool
        Whether lines are written.
    """

    def __init__(self) -> None:
        self.is_wanted = True
        self._depth, self._since, self._waited, self._last = 0, 0.0, 0.0, -math.inf
        self._timer: Timer | None = None

    def on_start(self, event: event.Event) -> None:
        """Start the clock with a kernel of this package."""
        if not _is_ours(event):
            return
        self._depth += 1
        if self._depth == 1:
            self._since = now = time.monotonic()
            left = max(PATIENCE - self._waited, self._last + QUIET - now, 0.0)
            self._timer = Timer(left, self._show)
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
            self._waited += time.monotonic() - self._since

    def _show(self) -> None:
        self._since = self._last = time.monotonic()
        self._waited = 0.0
        if not self.is_wanted or sys.stderr is None:
            return
        with suppress(OSError, ValueError):  # closed, or full
            sys.stderr.write(TEXT)
            sys.stderr.flush()


def _is_ours(event: event.Event) -> bool:
    dispatcher = (event.data or {}).get("dispatcher")
    function = getattr(dispatcher, "py_func", None)
    return str(getattr(function, "__module__", "")).startswith(PACKAGE)


NOTICE = Notice()
event.register("numba:compile", NOTICE)

"""Ctrl-C while a kernel is compiled or loaded: heard, where Python alone would drop it.

Signals that come while LLVM works are handled in the first lines of Python after it.
Those are in a function that LLVM calls, and what is raised there goes nowhere.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CALLED_BY_LLVM = "_raw_object_cache"  # begins the names of llvmlite's two functions


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Raise at the end what was raised where nothing could be raised.

    Only the main thread handles signals; in any other this does nothing.

    Examples
    --------
    >>> class Dropped:
    ...     def __del__(self):
    ...         raise KeyboardInterrupt
    >>> try:
    ...     with interrupts_kept():
    ...         del [Dropped()][0]
    ... except KeyboardInterrupt:
    ...     print("heard")
    heard
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    lost: list[BaseException] = []
    before = sys.unraisablehook

    def keep(found: "sys.UnraisableHookArgs") -> None:
        called = getattr(found.object, "__name__", "").startswith(CALLED_BY_LLVM)
        error = found.exc_value
        if error is not None and (called or isinstance(error, KeyboardInterrupt)):
            lost.append(error)
        else:
            before(found)

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = before
    if lost:
        raise lost[0]

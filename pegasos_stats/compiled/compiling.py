"""How all kernels are compiled, and the line that tells who waits for it.

``error_model="numpy"`` divides as IEEE 754 says, without a test for zero;
``_nrt=False`` leaves out the reference counting of arrays, which no kernel needs:
a kernel receives its arrays, changes them in place and allocates none. Nobody calls
kernels from C: ``no_cfunc_wrapper=True`` compiles less. ``nogil=True``
lets threads run kernels side by side, each on arrays of its own.
With ``NUMBA_DISABLE_JIT=1`` all decorators leave a function as it is.

numba keeps the code in files: beside the package, in the user's cache folder, or where
``NUMBA_CACHE_DIR`` says; where none can be written, each process compiles anew.

The line on standard error is written once, after a second of compiling; kernels that
are loaded from the cache take no such time.
"""

import hashlib
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Timer
from types import FunctionType
from typing import TypeVar

from numba import njit
from numba.core import event
from numba.core.base import BaseContext
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.types import Type

Function = TypeVar("Function", bound=Callable[..., object])
IN_ANY_ORDER = {"reassoc", "contract", "nsz"}  # sums
NOTICE_AFTER = 1.0  # seconds of compiling
TEXT = "pegasos_stats: compiling, once for this version: up to 20 s\n"


def inlined(function: Function) -> Function:
    """Compile as a part of each kernel that calls it."""
    compiled: Function = njit(inline="always", error_model="numpy", _nrt=False)(
        function
    )
    return compiled


def fast(function: Function) -> Function:
    """Compile for other kernels, with sums in an order that suits the machine."""
    options = {"error_model": "numpy", "_nrt": False, "forceinline": True}
    compiled: Function = njit(function, fastmath=IN_ANY_ORDER, **options)
    return compiled


def kernel(function: Function, fastmath: set[str] | bool = False) -> Function:
    """Compile at the first call, and keep the code for other processes."""
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Function = njit(function, fastmath=fastmath, _nrt=False, **options)
    return _with_cache(compiled)


def with_python_division(function: Function) -> Function:
    """Compile as Python counts: a division by zero is an error."""
    compiled: Function = njit(function)
    return _with_cache(compiled)


def _with_cache(compiled: Function) -> Function:
    if isinstance(compiled, Dispatcher):  # without NUMBA_DISABLE_JIT=1
        with suppress(RuntimeError):  # no folder can be written
            compiled._cache = KernelCache(compiled.py_func)  # type: ignore[attr-defined]
    return compiled


@cache
def sources() -> bytes:
    """Digest of the files of all kernels, any of which may be a part of another."""
    paths = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).digest()


class KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one kernel, for the present sources of all kernels.

    Whatever fails with the files, the kernel is compiled.
    """

    def __init__(self, py_func: FunctionType) -> None:
        super().__init__(py_func)
        name = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(self.cache_path, name, sources())

    def load_overload(self, sig: tuple[Type, ...], target: BaseContext) -> object:
        """Code for a signature, or None if it is to be compiled."""
        try:
            code = super().load_overload(sig, target)
        except Exception:  # a damaged file
            with suppress(OSError):
                self.flush()
            return None
        # Of two processes that write at once, one may have the other's file.
        return code if code is not None and code.signature.args == sig else None

    def save_overload(self, sig: tuple[Type, ...], data: CompileResult) -> None:
        """Keep the code for a signature, if there is room."""
        with suppress(OSError):
            super().save_overload(sig, data)


class Notice(event.Listener):  # type: ignore[misc]
    """Listens to numba, which compiles one kernel, and those it calls, at a time."""

    def __init__(self) -> None:
        self._depth, self._since, self._waited = 0, 0.0, 0.0
        self._timer = Timer(NOTICE_AFTER, self._show)

    def on_start(self, event: event.Event) -> None:
        """Start the clock with a kernel of this package."""
        self._depth += _is_ours(event)
        if self._depth == 1 and _is_ours(event):
            self._since = time.monotonic()
            self._timer = Timer(NOTICE_AFTER - self._waited, self._show)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: event.Event) -> None:
        """Stop the clock where the outermost kernel is done."""
        self._depth -= _is_ours(event)
        if self._depth == 0 and _is_ours(event):
            self._timer.cancel()
            self._waited += time.monotonic() - self._since

    def _show(self) -> None:
        event.unregister("numba:compile", self)
        with suppress(Exception):  # it is closed, full, or none
            sys.stderr.write(TEXT)


def _is_ours(event: event.Event) -> bool:
    dispatcher = (event.data or {}).get("dispatcher")
    function = getattr(dispatcher, "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("pegasos_stats.")


NOTICE = Notice()
event.register("numba:compile", NOTICE)

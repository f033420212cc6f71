"""Compilation and caching of the kernels, and a message while compiling.

``error_model="numpy"`` divides according to IEEE 754, without a test for zero.
``_nrt=False`` omits the reference counting of arrays, which kernels do not need: a
kernel receives its arrays, changes them in place and allocates none.
``no_cfunc_wrapper=True`` compiles no wrapper for calls from C. ``nogil=True`` lets
threads run kernels concurrently, each on its own arrays. With ``NUMBA_DISABLE_JIT=1``
all decorators return the function unchanged.

numba caches the code in files: next to the package, in the user's cache folder, or in
``NUMBA_CACHE_DIR``. If no folder is writable, each process compiles the kernels.

The message on standard error appears once, after a second of compiling. It does not
appear if the kernels are loaded from the cache.
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
IN_ANY_ORDER = {"reassoc", "contract", "nsz"}  # LLVM flags that allow any order of sums
NOTICE_AFTER = 1.0  # seconds of compiling
TEXT = "pegasos_stats: compiling, once for this version: up to 20 s\n"


def inlined(function: Function) -> Function:
    """Inline a function into the kernels that call it."""
    compiled: Function = njit(inline="always", error_model="numpy", _nrt=False)(
        function
    )
    return compiled


def fast(function: Function) -> Function:
    """Compile a function for use in kernels, with sums in the fastest order."""
    options = {"error_model": "numpy", "_nrt": False, "forceinline": True}
    compiled: Function = njit(function, fastmath=IN_ANY_ORDER, **options)
    return compiled


def kernel(function: Function, fastmath: set[str] | bool = False) -> Function:
    """Compile at the first call, and cache the code for other processes."""
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Function = njit(function, fastmath=fastmath, _nrt=False, **options)
    return _with_cache(compiled)


def with_python_division(function: Function) -> Function:
    """Compile with Python's division: dividing by zero is an error."""
    compiled: Function = njit(function)
    return _with_cache(compiled)


def _with_cache(compiled: Function) -> Function:
    if isinstance(compiled, Dispatcher):  # without NUMBA_DISABLE_JIT=1
        with suppress(RuntimeError):  # no writable folder
            compiled._cache = KernelCache(compiled.py_func)  # type: ignore[attr-defined]
    return compiled


@cache
def sources() -> bytes:
    """Digest of all kernel sources: a kernel may inline functions of other files."""
    paths = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).digest()


class KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of a kernel, valid for the current sources of all kernels.

    If a file operation fails, the kernel is compiled.
    """

    def __init__(self, py_func: FunctionType) -> None:
        super().__init__(py_func)
        name = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(self.cache_path, name, sources())

    def load_overload(self, sig: tuple[Type, ...], target: BaseContext) -> object:
        """Return cached code for a signature, or None if it must be compiled."""
        try:
            code = super().load_overload(sig, target)
        except Exception:  # a damaged file
            with suppress(OSError):
                self.flush()
            return None
        # If two processes write at once, a file may contain another signature's code.
        return code if code is not None and code.signature.args == sig else None

    def save_overload(self, sig: tuple[Type, ...], data: CompileResult) -> None:
        """Cache the code for a signature, unless writing the file fails."""
        with suppress(OSError):
            super().save_overload(sig, data)


class Notice(event.Listener):  # type: ignore[misc]
    """Listener that measures numba's compile time and writes the message."""

    def __init__(self) -> None:
        self._depth, self._since, self._waited = 0, 0.0, 0.0
        self._timer = Timer(NOTICE_AFTER, self._show)

    def on_start(self, event: event.Event) -> None:
        """Start the clock when numba compiles a kernel of this package."""
        self._depth += _is_ours(event)
        if self._depth == 1 and _is_ours(event):
            self._since = time.monotonic()
            self._timer = Timer(NOTICE_AFTER - self._waited, self._show)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: event.Event) -> None:
        """Stop the clock when the outermost kernel is compiled."""
        self._depth -= _is_ours(event)
        if self._depth == 0 and _is_ours(event):
            self._timer.cancel()
            self._waited += time.monotonic() - self._since

    def _show(self) -> None:
        event.unregister("numba:compile", self)
        with suppress(Exception):  # stderr is closed, full, or missing
            sys.stderr.write(TEXT)


def _is_ours(event: event.Event) -> bool:
    dispatcher = (event.data or {}).get("dispatcher")
    function = getattr(dispatcher, "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("pegasos_stats.")


NOTICE = Notice()
event.register("numba:compile", NOTICE)

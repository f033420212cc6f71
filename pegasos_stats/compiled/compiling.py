"""How every kernel is compiled.

``error_model="numpy"`` divides as IEEE 754 says, without a test for zero;
``_nrt=False`` leaves out the reference counting of arrays, which no kernel needs:
a kernel receives its arrays, changes them in place and allocates none. ``nogil=True``
lets threads run kernels side by side, each on arrays of its own.
With ``NUMBA_DISABLE_JIT=1`` all decorators leave a function as it is.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit
from numba.core.dispatcher import Dispatcher

import pegasos_stats.compiled.arithmetic.lanes_llvm  # noqa: F401, the compiled form of lanes.py
from pegasos_stats.compiled.cache import KernelCache
from pegasos_stats.compiled.signals import interrupts_kept

inlined = partial(njit, inline="always", error_model="numpy", _nrt=False)


def kernel(function: Callable[..., Any] | None = None, *, fastmath: Any = False) -> Any:
    """Compile at the first call, and keep the code for other processes."""
    if function is None:
        return partial(kernel, fastmath=fastmath)
    options = {"nogil": True, "error_model": "numpy", "_nrt": False}
    return _kept(njit(function, fastmath=fastmath, **options))


def with_python_division(function: Callable[..., Any]) -> Any:
    """Compile as Python counts: a division by zero is an error."""
    return _kept(njit(function))


def _kept(compiled: Any) -> Any:
    if not isinstance(compiled, Dispatcher):  # with NUMBA_DISABLE_JIT=1
        return compiled
    compiled._cache = KernelCache(compiled.py_func)  # type: ignore[attr-defined]
    known = compiled.compile

    def compile(signature: Any) -> Any:
        with interrupts_kept():
            return known(signature)

    compiled.compile = compile  # type: ignore[assignment,method-assign]
    return compiled

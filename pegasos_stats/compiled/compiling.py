"""Options with which all kernels are compiled.

``error_model="numpy"`` divides as IEEE 754 says, without a test for zero;
``_nrt=False`` leaves out the reference counting of arrays, which no kernel needs:
a kernel receives its arrays, changes them in place and allocates none. Nobody calls
kernels from C: ``no_cfunc_wrapper=True`` compiles less. ``nogil=True``
lets threads run kernels side by side, each on arrays of its own.
With ``NUMBA_DISABLE_JIT=1`` all decorators leave a function as it is.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar, overload

from numba import njit
from numba.core.dispatcher import Dispatcher
from numba.core.types import Type

import pegasos_stats.compiled.arithmetic.lanes_llvm  # the compiled form of lanes.py
import pegasos_stats.compiled.compile_message  # noqa: F401, which listens
from pegasos_stats.compiled.cache import KernelCache
from pegasos_stats.compiled.signals import interrupts_kept

Function = TypeVar("Function", bound=Callable[..., object])


def inlined(function: Function) -> Function:
    """Compile as a part of each kernel that calls it."""
    found: Function = njit(inline="always", error_model="numpy", _nrt=False)(function)
    return found


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(*, fastmath: set[str]) -> Callable[[Function], Function]: ...
def kernel(
    function: Function | None = None, *, fastmath: set[str] | bool = False
) -> Function | Callable[[Function], Function]:
    """Compile at the first call, and keep the code for other processes."""
    if function is None:
        return partial(kernel, fastmath=fastmath)
    options = {
        "nogil": True,
        "error_model": "numpy",
        "_nrt": False,
        "no_cfunc_wrapper": True,
    }
    compiled: Function = njit(function, fastmath=fastmath, **options)
    return _kept(compiled)


def with_python_division(function: Function) -> Function:
    """Compile as Python counts: a division by zero is an error."""
    compiled: Function = njit(function)
    return _kept(compiled)


def _kept(compiled: Function) -> Function:
    if not isinstance(compiled, Dispatcher):  # with NUMBA_DISABLE_JIT=1
        return compiled
    compiled._cache = KernelCache(compiled.py_func)  # type: ignore[attr-defined]
    known = compiled.compile

    def compile(signature: tuple[Type, ...]) -> object:
        with interrupts_kept():
            return known(signature)

    compiled.compile = compile  # type: ignore[assignment,method-assign]
    return compiled

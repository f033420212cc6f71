"""How every kernel is compiled.

``error_model="numpy"`` divides as IEEE 754 says, without a test for zero;
``_nrt=False`` leaves out the reference counting of arrays, which no kernel needs:
a kernel receives its arrays, changes them in place and allocates none. ``nogil=True``
lets threads run kernels side by side, each on arrays of its own.
With ``NUMBA_DISABLE_JIT=1`` both decorators leave a function as it is.
"""

from functools import partial

from numba import njit

import pegasos_stats.kernels.lanes_llvm  # noqa: F401, the compiled form of lanes.py

kernel = partial(njit, cache=True, nogil=True, error_model="numpy", _nrt=False)
inlined = partial(njit, inline="always", error_model="numpy", _nrt=False)

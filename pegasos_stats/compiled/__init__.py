"""Compiled kernels: functions of arrays, without pandas, options or random generators.

Importing numba takes about half a second, so a module is imported at its first use:
other subpackages import ``compiled`` from ``pegasos_stats`` and write
``compiled.sdca.ALPHA``. Python calls ``__getattr__`` for missing attributes (PEP 562).
The import makes the module an attribute of its package, so the call happens once per
module; concurrent threads wait for one import.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = [
    "kernel_pegasos",
    "pegasos",
    "risk",
    "rows",
    "sampling",
    "sdca",
    "working_sets",
]

if TYPE_CHECKING:
    from pegasos_stats.compiled import (
        kernel_pegasos,
        pegasos,
        risk,
        rows,
        sampling,
        sdca,
        working_sets,
    )
else:

    def __getattr__(name: str) -> ModuleType:
        """Import a module at its first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")

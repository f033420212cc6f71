"""Compiled code: arrays in, arrays out; no pandas, no options, no generator.

numba takes longer to load than all the rest of the package, so a module here is loaded
when it is first used: other rooms have ``from pegasos_stats import compiled`` among
their imports, and write ``compiled.sdca.ALPHA``. Python calls ``__getattr__`` for names
that the package does not have (PEP 562); an import makes the module an attribute of its
package, so it is called once for each, and threads that ask at the same time wait for
one import.
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
        """Load a module at its first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")

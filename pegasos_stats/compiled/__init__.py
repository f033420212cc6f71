"""Compiled code: arrays in, arrays out; no pandas, no options, no generator.

numba takes longer to load than all the rest of the package, so it is loaded with the
first kernel that is asked for. Other rooms have ``from pegasos_stats.compiled import
dual`` among their imports and write ``dual.sdca.ALPHA`` where they use it.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING


def loading_on_demand(package: str, modules: list[str]) -> Callable[[str], ModuleType]:
    """Make the ``__getattr__`` of a package that loads its modules at their first use.

    Python calls it for names that the package does not have (PEP 562). An import makes
    the module an attribute of its package, so it is called once for each; threads that
    ask at the same time wait for one import.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    modules : list of str
        The modules in it, not loaded yet.
    """

    def load(name: str) -> ModuleType:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return load


__all__ = ["arithmetic", "dual", "pegasos", "random"]

if TYPE_CHECKING:
    from pegasos_stats.compiled import arithmetic, dual, pegasos, random
else:
    __getattr__ = loading_on_demand(__name__, __all__)

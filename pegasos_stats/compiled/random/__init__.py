"""R's words, permutations and variates."""

from typing import TYPE_CHECKING

from pegasos_stats.compiled import loading_on_demand

__all__ = ["sampling"]

if TYPE_CHECKING:
    from pegasos_stats.compiled.random import sampling
else:
    __getattr__ = loading_on_demand(__name__, __all__)

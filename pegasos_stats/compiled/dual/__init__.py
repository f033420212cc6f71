"""Dual coordinate ascent, and steps within working sets."""

from typing import TYPE_CHECKING

from pegasos_stats.compiled import loading_on_demand

__all__ = ["sdca", "working_sets"]

if TYPE_CHECKING:
    from pegasos_stats.compiled.dual import sdca, working_sets
else:
    __getattr__ = loading_on_demand(__name__, __all__)

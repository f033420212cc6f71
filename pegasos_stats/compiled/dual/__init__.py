"""Dual coordinate ascent and what polishes its solutions."""

from typing import TYPE_CHECKING

from pegasos_stats.compiled import loading_on_demand

__all__ = [
    "fixing",
    "newton",
    "sdca",
]
__all__ += ["shrinking", "working_sets"]

if TYPE_CHECKING:
    from pegasos_stats.compiled.dual import (
        fixing,
        newton,
        sdca,
        shrinking,
        working_sets,
    )
else:
    __getattr__ = loading_on_demand(__name__, __all__)

"""Dual coordinate ascent and what polishes its solutions."""

from typing import TYPE_CHECKING

from pegasos_stats.compiled import loading_on_demand

__all__ = [
    "fixing",
    "lengths",
    "log_steps",
    "newton",
    "pairs",
    "proximal",
    "resamples",
    "sdca",
]
__all__ += ["shrinking", "smooth", "sums", "working_sets"]

if TYPE_CHECKING:
    from pegasos_stats.compiled.dual import (
        fixing,
        lengths,
        log_steps,
        newton,
        pairs,
        proximal,
        resamples,
        sdca,
        shrinking,
        smooth,
        sums,
        working_sets,
    )
else:
    __getattr__ = loading_on_demand(__name__, __all__)

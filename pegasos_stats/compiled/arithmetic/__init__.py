"""Rows, losses and sums: what every solver is made of."""

from typing import TYPE_CHECKING

from pegasos_stats.compiled import loading_on_demand

__all__ = [
    "compensated",
    "lanes",
    "lanes_llvm",
    "risk",
    "rows",
    "sparse",
]

if TYPE_CHECKING:
    from pegasos_stats.compiled.arithmetic import (
        compensated,
        lanes,
        lanes_llvm,
        risk,
        rows,
        sparse,
    )
else:
    __getattr__ = loading_on_demand(__name__, __all__)

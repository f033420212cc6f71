"""Pegasos: its steps, as defined and in three faster forms."""

from typing import TYPE_CHECKING

from pegasos_stats.compiled import loading_on_demand

__all__ = [
    "kernel_pegasos",
    "pegasos",
    "pegasos_literal",
    "pegasos_scaled",
]

if TYPE_CHECKING:
    from pegasos_stats.compiled.pegasos import (
        kernel_pegasos,
        pegasos,
        pegasos_literal,
        pegasos_scaled,
    )
else:
    __getattr__ = loading_on_demand(__name__, __all__)

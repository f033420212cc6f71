"""Rows, losses and sums: what every solver is made of."""

from typing import TYPE_CHECKING

from pegasos_stats.compiled import loading_on_demand

__all__ = [
    "balance",
    "blocks",
    "columns",
    "compensated",
    "entries",
    "four_rows",
    "inner_products",
    "lanes",
    "lanes_llvm",
    "log_lanes",
    "log_risk",
    "losses",
    "risk",
    "rows",
]

if TYPE_CHECKING:
    from pegasos_stats.compiled.arithmetic import (
        balance,
        blocks,
        columns,
        compensated,
        entries,
        four_rows,
        inner_products,
        lanes,
        lanes_llvm,
        log_lanes,
        log_risk,
        losses,
        risk,
        rows,
    )
else:
    __getattr__ = loading_on_demand(__name__, __all__)

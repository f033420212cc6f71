"""Statistics of confusion tables and of scores; NaN where undefined.

A confusion table is an array of counts, with actual levels as rows and predicted levels
as columns: the transpose of caret's. A class is identified by its position. Statistics
of one class compare it with all other classes.
"""

from typing import TYPE_CHECKING

from pegasos_stats.foreign_names import missing_in_module

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise missing_in_module(__name__, name, [*globals()])

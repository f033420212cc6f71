"""Statistics of a confusion table: one function each, NaN where undefined.

Tables are arrays of counts, rows actual and columns predicted levels: the transpose of
caret's. A class is named by its position, and the functions of one class compare it
with the rest.
"""

from typing import TYPE_CHECKING

from pegasos_stats.foreign_names import missing_in_module

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise missing_in_module(__name__, name, [*globals()])

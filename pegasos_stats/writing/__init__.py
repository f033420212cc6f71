"""Writing files: as a whole or not at all, and over no file of others unasked.

A file is written beside its place under a name of its own, brought to the disk, and
put in its place by one renaming. Whatever stops this, a full disk or an interrupt,
leaves the earlier file as it was. A run that is killed may leave such a part behind:
``.pegasos_stats-<process>-<random>.part``, which nothing reads and anyone may remove.

What is replaced keeps its permissions and, where the system allows it, its owner. A
symbolic link stays, and what it leads to is replaced. Other names of the same file
(hard links) go on to lead to the earlier content.
"""

from pegasos_stats.writing.atomic import Outputs, outputs
from pegasos_stats.writing.paths import (
    Kind,
    Place,
    check_folder,
    checked_path,
    checked_place,
    is_same,
    open_descriptor,
    remove_parts,
    shown_path,
)

__all__ = [
    "Kind",
    "Outputs",
    "Place",
    "check_folder",
    "checked_path",
    "checked_place",
    "is_same",
    "open_descriptor",
    "outputs",
    "remove_parts",
    "shown_path",
]

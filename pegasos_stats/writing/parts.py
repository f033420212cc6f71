"""Files that are not in their places yet: their names, and that none is forgotten."""

import atexit
import os
import secrets
import threading
from contextlib import suppress

_parts: dict[str, int] = {}  # path, thread


def new_part(folder: str) -> str:
    """Return the path of a part that no other thread, process or call has.

    It is known from before the file is made until `remove_part`, so that a handler of
    signals finds it at any moment.
    """
    path = os.path.join(folder, f"{_begin()}{secrets.token_hex(8)}.part")
    _parts[path] = threading.get_ident()
    return path


def remove_part(path: str) -> None:
    """Remove a part; one that was put in its place is only forgotten."""
    with suppress(OSError):
        os.unlink(path)
    _parts.pop(path, None)


def remove_parts(thread: int | None = None) -> None:
    """Remove the parts of this process, or those of a thread, which are given up."""
    for path, maker in tuple(_parts.items()):  # after a fork also those of the parent
        own = os.path.basename(path).startswith(_begin())
        if own and thread in (None, maker):
            remove_part(path)


def _begin() -> str:
    return f".pegasos_stats-{os.getpid()}-"


atexit.register(remove_parts)

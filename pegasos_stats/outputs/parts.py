"""Files that are not in their places yet: their names, and that none is forgotten."""

import atexit
import os
import secrets
from contextlib import suppress

_parts: set[str] = set()


def new_part(folder: str) -> str:
    """Return the path of a part that no other thread, process or call has.

    It is known from before the file is made until `remove_part`, so that a handler of
    signals finds it at any moment.
    """
    path = os.path.join(folder, f"{_begin()}{secrets.token_hex(8)}.part")
    _parts.add(path)
    return path


def remove_part(path: str) -> None:
    """Remove a part; one that was put in its place is only forgotten."""
    with suppress(OSError):
        os.unlink(path)
    _parts.discard(path)


def remove_parts() -> None:
    """Remove all parts of this process, for when it is about to end."""
    for path in tuple(_parts):  # after a fork also those of the parent
        if os.path.basename(path).startswith(_begin()):
            remove_part(path)


def _begin() -> str:
    return f".pegasos_stats-{os.getpid()}-"


atexit.register(remove_parts)

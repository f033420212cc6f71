"""How much memory a process may use, and what certainly needs more."""

import os
from contextlib import suppress

from pegasos_stats.errors import DataError


def limit() -> float:
    """Bytes of memory: those of the machine, or fewer that the process is allowed.

    Examples
    --------
    >>> limit() > 2**20
    True
    """
    found = [float("inf")]
    with suppress(AttributeError, ValueError, OSError):  # not every system says
        found.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ImportError):
        import resource

        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            allowed, _ = resource.getrlimit(kind)
            if allowed != resource.RLIM_INFINITY:
                found.append(float(allowed))
    return min(found)


def check_memory(needed: float, what: str, cure: str) -> None:
    """Raise `DataError` if more memory is needed than there is.

    Examples
    --------
    >>> check_memory(1e15, "A table of all pairs", "give fewer rows")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: A table of all pairs takes about 1,000,000.0 GB ...
    """
    if needed > limit():
        raise DataError(
            f"{what} takes about {needed / 1e9:,.1f} GB of memory, and this process "
            f"may use {limit() / 1e9:,.1f} GB; {cure}."
        )

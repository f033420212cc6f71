"""Versions of libraries and the machine, as R's ``sessionInfo()``."""

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = (
    "pegasos_stats",
    "numpy",
    "pandas",
    "scipy",
    "numba",
    "formulaic",
    "statsmodels",
    "matplotlib",
)


@dataclass(frozen=True, repr=False)
class SessionInfo:
    """Versions and machine of a session: ``print()`` shows them.

    Attributes
    ----------
    versions : mapping of str to str
        Versions of Python and of installed libraries, pegasos_stats first.
    system : str
        Operating system and processor architecture.

    Examples
    --------
    >>> SessionInfo({"pegasos_stats": "0.1.0"}, "Linux, x86_64")
    pegasos_stats  0.1.0
    System         Linux, x86_64
    """

    versions: Mapping[str, str]
    system: str

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Lines of the output: pairs of a name and a value."""
        return [*self.versions.items(), ("System", self.system)]

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.pairs)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.pairs)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _repr_markdown_(self) -> str:
        return f"```text\n{self}\n```"

    def _repr_latex_(self) -> str:
        return f"\\begin{{verbatim}}\n{self}\n\\end{{verbatim}}"


def session_info() -> SessionInfo:
    """Return versions of libraries and the operating system, as R's ``sessionInfo()``.

    Returns
    -------
    SessionInfo

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> print(ps.session_info())
    pegasos_stats  ...
    Python         ...
    numpy          ...
    """
    installed = {"pegasos_stats": "", "Python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):  # metadata alone, nothing is imported
            installed[name] = version(name)
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return SessionInfo(installed, system)

"""Cache of compiled kernels: where they are kept, and which are trusted.

numba's own cache ends a run where no folder can be written or where a file of it is
damaged, and keeps a kernel until its own file changes, whatever it calls. Here each
compiled kernel is a file of its own: a digest, then the code. Its name holds that of
the sources of all kernels. Code is loaded only from files of this user, or of the user
whom the package belongs to, and only if the digest agrees. Whatever fails, the kernel
is compiled, and a warning says once what was the matter.

Ctrl-C while a kernel is compiled or loaded is heard, where Python alone would drop it.
Signals that come while LLVM works are handled in the first lines of Python after it.
Those are in a function that LLVM calls, and what is raised there goes nowhere.
"""

import hashlib
import os
import pickle
import stat
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FunctionType

import llvmlite
import numba
from numba.core.base import BaseContext
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from pegasos_stats.errors import PegasosStatsWarning, warn_caller

HERE = Path(__file__).parent
IN_TREE = HERE / "__pycache__"
SIZE = hashlib.sha256().digest_size
CURE = "set NUMBA_CACHE_DIR to a folder of your own"
SAID: list[str] = []  # at most one message in a process
CALLED_BY_LLVM = "_raw_object_cache"  # begins the names of llvmlite's two functions


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The cache of one kernel, in numba's terms."""

    def __init__(self, py_func: FunctionType) -> None:
        self._py_func = py_func

    @property
    def cache_path(self) -> str:
        """The folder that new files go to, empty if there is none."""
        return str(folder() or "")

    def load_overload(self, sig: object, target_context: BaseContext) -> object:
        """Code for a signature, or None if it is to be compiled."""
        target_context.refresh()
        key = self._index_key(sig, target_context.codegen())
        for path in (place / self._name(key) for place in _read_from()):
            try:
                found, payload = pickle.loads(_checked(path))
                if found == key:
                    with interrupts_kept():
                        return CompileResult._rebuild(target_context, *payload)
            except OSError:
                continue  # missing, or not for this user
            except Exception as error:
                _say(f"The compiled kernel {path} is not used: {_reason(error)}.")
        return None

    def save_overload(self, sig: object, data: CompileResult) -> None:
        """Keep the code for a signature, if there is room."""
        place = folder()
        if place is None or data.library.has_dynamic_globals:
            return
        try:
            key = self._index_key(sig, data.codegen)
            code = dumps((key, data._reduce()))
            _drop_old(place)
            _write(place / self._name(key), hashlib.sha256(code).digest() + code)
        except RuntimeError:
            return  # numba has no copy of the code after an interrupt, raised soon
        except Exception as error:
            _say(
                f"Compiled kernels cannot be kept in {place}: {_reason(error)}; each "
                f"process compiles them anew; {CURE}."
            )

    def flush(self) -> None:
        """Leave the files as they are: one that is written again is replaced."""

    def _name(self, key: object) -> str:
        function = f"{self._py_func.__module__}.{self._py_func.__qualname__}"
        digest = hashlib.sha256(repr((_machine(), key)).encode()).hexdigest()[:24]
        return f"{function.rpartition('compiled.')[2]}.{sources()}-{digest}.nbc"


@cache
def sources() -> str:
    """Digest of the files of all kernels; never the same if they are in a zip file."""
    found = (path.relative_to(HERE) for path in HERE.rglob("[!.]*.py*"))
    paths = sorted(path for path in found if "__pycache__" not in path.parts)
    digest = hashlib.sha256(b"" if paths else uuid.uuid4().bytes)
    for path in paths:
        with suppress(OSError):  # what cannot be read is no source of this process
            digest.update(os.fsencode(path) + b"\0" + (HERE / path).read_bytes())
    return digest.hexdigest()[:16]


@cache
def folder() -> Path | None:
    """The folder for new files: the first that can be used, None if none can."""
    wish, home = numba.config.CACHE_DIR, AppDirs("numba", False).user_cache_dir
    if wish:
        if _is_usable(place := Path(wish) / _own_name()):
            return place
        _say(f"NUMBA_CACHE_DIR={wish} cannot be written, or is not safe from others.")
    elif _is_writable(IN_TREE):
        return IN_TREE
    if os.path.isabs(home) and _is_usable(place := Path(home) / _own_name()):
        return place
    return _temporary()


def _temporary() -> Path | None:
    """A temporary folder of this user; None, with a warning, if there cannot be one."""
    try:
        place = Path(tempfile.gettempdir()) / _own_name()
    except OSError:
        place = None
    if place is not None and _is_usable(place):
        _say(
            f"Compiled kernels are kept in {place}, because neither the package's "
            f"folder nor the user's cache can be written; {CURE} for another place."
        )
        return place
    _say(
        "Compiled kernels cannot be kept, because no folder for them can be written: "
        f"each process compiles them anew; {CURE}."
    )
    return None


def _read_from() -> Iterator[Path]:
    """Folders to look into; the package's own may be one that cannot be written."""
    if not numba.config.CACHE_DIR:
        yield IN_TREE
    place = folder()
    if place is not None and place != IN_TREE:
        yield place


def _own_name() -> str:
    """Name of a folder for this user and this copy of the package."""
    copy = hashlib.sha256(os.fsencode(HERE.resolve())).hexdigest()[:16]
    return f"pegasos_stats-{_user()}-{copy}"


def _user() -> int:
    """Number of this user; 0 where a system has no numbers, for files as for users."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


@cache
def _machine() -> tuple[str, ...]:
    return sys.version, numba.__version__, llvmlite.__version__


def _is_usable(place: Path) -> bool:
    """Whether a folder can be written, and by this user only; made if missing."""
    return _is_writable(place) and (os.name == "nt" or _is_private(place))


def _is_writable(place: Path) -> bool:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except (OSError, ValueError):
        return False
    return True


def _is_private(place: Path) -> bool:
    found = place.lstat()
    others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == _user() and not others


def _checked(path: Path) -> bytes:
    """Content of a file after its digest, if it is one to believe."""
    with open(path, "rb", opener=_without_waiting) as handle:
        found = os.fstat(handle.fileno())
        if not stat.S_ISREG(found.st_mode):  # a device may have no end
            raise FileNotFoundError(path)
        content = handle.read()
    if found.st_uid not in (_user(), os.stat(__file__).st_uid):
        raise ValueError("it belongs to another user")
    if hashlib.sha256(content[SIZE:]).digest() != content[:SIZE]:
        raise ValueError("it is damaged, and compiled anew")
    return content[SIZE:]


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is there as a whole or not at all."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        part.write_bytes(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@cache
def _drop_old(place: Path) -> None:
    """Remove kernels compiled from other sources, numba's own files included."""
    for path in place.glob("*.nb[ic]*"):
        if f".{sources()}-" not in path.name:
            with suppress(OSError):
                path.unlink()


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split()).rstrip(".")


def _say(message: str) -> None:
    """Warn, unless there has been a warning before."""
    if not SAID:
        SAID.append(message)
        warn_caller(message, PegasosStatsWarning)


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Raise at the end what was raised where nothing could be raised.

    Only the main thread handles signals; in any other this does nothing.

    Examples
    --------
    >>> class Dropped:
    ...     def __del__(self):
    ...         raise KeyboardInterrupt
    >>> try:
    ...     with interrupts_kept():
    ...         del [Dropped()][0]
    ... except KeyboardInterrupt:
    ...     print("heard")
    heard
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    lost: list[BaseException] = []
    before = sys.unraisablehook

    def keep(found: "sys.UnraisableHookArgs") -> None:
        called = getattr(found.object, "__name__", "").startswith(CALLED_BY_LLVM)
        error = found.exc_value
        if error is not None and (called or isinstance(error, KeyboardInterrupt)):
            lost.append(error)
        else:
            before(found)

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = before
    if lost:
        raise lost[0]

"""The installed R with the reference loaded: embedded, or a separate process.

Beside this file stands ``r_reference/R/session.R``.
"""

import os
import shutil
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal, Self

from pegasos_stats.checks import check_choice
from pegasos_stats.errors import DataError, DependencyError
from pegasos_stats.studies.parity.serialized import from_r, to_r

Via = Literal["rpy2", "Rscript"]
PACKAGE = Path(__file__).parents[2]
DONE = "pegasos_stats: answered"
NO_R = (
    "There is no R at hand: {}; install R (in Debian r-base-core), and put Rscript on "
    "the PATH."
)


def reference_folder() -> Path:
    """Folder of the reference: beside the package, or in it once it is installed.

    Examples
    --------
    >>> (reference_folder() / "R" / "pegasos.R").is_file()
    True
    """
    inside = PACKAGE / "r_reference"
    return inside if inside.is_dir() else PACKAGE.parent / "r_reference"


def loading_code(folder: Path) -> str:
    """Lines of R that load the reference into an environment of its own."""
    listed = str(folder / "R").replace("\\", "/").replace('"', '\\"')
    return (
        "local({ reference <- new.env()\n"
        f'for (file in list.files("{listed}", "[.]R$", full.names = TRUE))'
        " sys.source(file, reference)\nreference })"
    )


class R(ABC):
    """R with the functions of the reference.

    Variables live in the environment of these functions, for the whole session; what
    comes and goes is described at `to_r` and `from_r`.
    """

    name: Via

    @abstractmethod
    def _answer(self, request: bytes) -> bytes:
        """What R answers to a request."""

    def eval(self, code: str) -> Any:
        """Value of the last expression of `code`."""
        return self._asked({"do": "eval", "code": code})

    def call(self, function: str, *args: Any, **named: Any) -> Any:
        """Value of a function of R; an underscore at the end of a name is left out."""
        names = ["" for _ in args] + [name.removesuffix("_") for name in named]
        values = dict(enumerate([*args, *named.values()]))
        return self._asked(
            {"do": "call", "code": function, "names": names, "arguments": values}
        )

    def set(self, name: str, value: Any) -> None:
        """Assign to a variable of R."""
        self._asked({"do": "set", "name": name, "value": value})

    def _asked(self, request: dict[str, Any]) -> Any:
        found = from_r(self._answer(to_r(request)))
        if "error" in found:
            raise DataError(f"R stopped: {' '.join(str(found['error'][0]).split())}.")
        return found["value"]


class Embedded(R):
    """R in this process, by rpy2; the state of its generator is left as it is.

    Raises
    ------
    ImportError, OSError, ValueError
        If rpy2 or R is missing, or they do not fit together.
    """

    name = "rpy2"

    def __init__(self, folder: Path | None = None) -> None:
        os.environ.setdefault("RPY2_CFFI_MODE", "ABI")  # needs no compiler
        path = os.environ.get("LD_LIBRARY_PATH")
        import rpy2.rinterface as rinterface

        rinterface.initr()
        os.environ.pop("LD_LIBRARY_PATH", None)  # R's is not for other programs
        if path is not None:
            os.environ["LD_LIBRARY_PATH"] = path
        self._bytes = rinterface.ByteSexpVector
        self._loaded = rinterface.evalr(loading_code(folder or reference_folder()))
        self._function = self._loaded["answered_bytes"]

    def _answer(self, request: bytes) -> bytes:
        return bytes(self._function(self._bytes(request), self._loaded))


class Process(R):
    """R as a process of its own, by Rscript; a context manager that ends it.

    Raises
    ------
    DependencyError
        If there is no Rscript, or it does not start.
    """

    name = "Rscript"

    def __init__(self, folder: Path | None = None) -> None:
        command = shutil.which("Rscript")
        if command is None:
            raise DependencyError(NO_R.format("rpy2 and Rscript are both missing"))
        self._folder = TemporaryDirectory(prefix="pegasos_stats-")
        place = Path(self._folder.name)
        self._request, self._found = place / "request.rds", place / "answer.rds"
        loading = loading_code(folder or reference_folder())
        code = (
            f"reference <- {loading}\n"
            'reference$answer_files("request.rds", "answer.rds", '
            f'"{DONE}", reference)\n'
        )
        (place / "serve.R").write_text(code, encoding="utf-8")
        self._process = subprocess.Popen(
            [command, "--vanilla", "serve.R"],
            cwd=place,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(OSError):
            _pipe(self._process.stdin).close()
        if error[0] is not None:  # an interrupt among them
            self._process.kill()
        self._process.wait()
        _pipe(self._process.stdout).close()
        self._folder.cleanup()

    def _answer(self, request: bytes) -> bytes:
        self._request.write_bytes(request)
        said: list[str] = []
        with suppress(BrokenPipeError):
            _pipe(self._process.stdin).write("\n")
            _pipe(self._process.stdin).flush()
        for line in _pipe(self._process.stdout):
            if line.rstrip() == DONE:
                return self._found.read_bytes()
            said.append(line)
        last = " ".join(" ".join(said).split())[-300:]
        raise DependencyError(
            NO_R.format(f"Rscript ended ({last or 'without a word'})")
        )


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


@contextmanager
def r_at_hand(via: Via | None = None) -> Iterator[R]:
    """Start R: embedded if rpy2 can be imported, otherwise by Rscript.

    Parameters
    ----------
    via : "rpy2" or "Rscript", optional
        Only this one.

    Raises
    ------
    DependencyError
        If there is none.
    OptionError
        If `via` is neither.
    """
    if via is not None:
        check_choice("via", via, ("rpy2", "Rscript"))
    in_main = threading.current_thread() is threading.main_thread()  # R needs it
    if via != "Rscript" and (in_main or via == "rpy2"):
        try:
            embedded = Embedded()
        except (ImportError, OSError, ValueError) as error:
            if via == "rpy2":
                raise DependencyError(
                    "rpy2 does not start an R here; install both so that they fit "
                    'together, or give via="Rscript".'
                ) from error
        else:
            state = embedded.eval("random_state()")
            try:
                yield embedded
            finally:
                embedded.call("random_state_is", state)
            return
    with Process() as process:
        yield process

"""The installed R with the reference loaded: embedded, or a separate process.

Beside this file stands ``r_reference/R/session.R``.
"""

import json
import os
import shutil
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any, Literal, Self, TypeAlias
from weakref import finalize

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.checks import LARGEST_INTEGER, check_choice
from pegasos_stats.errors import DataError, DependencyError

RValue: TypeAlias = Any  # a vector, a list by name or not, None, ...

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

    A request is a file of R code, in which arrays of numbers are files of doubles that
    ``readBin()`` reads; the answer is a file that ``write_value()`` of R has written.
    Variables live in the environment of the reference, for the whole session.
    """

    name: Via

    def __init__(self) -> None:
        self._folder, self._n_files = Path(mkdtemp(prefix="pegasos_stats-")), 0
        self._remove = finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    @abstractmethod
    def _run(self) -> None:
        """Let R run ``request.R`` in the folder, and write ``answer.bin``."""

    def eval(self, code: str) -> RValue:
        """Value of the last expression of `code`.

        Returns
        -------
        object
            Numbers, text and logical values as arrays of at least one dimension, a
            factor as its labels, a list as a dictionary if it has names, NULL as None.
            Missing integers make an array of floats with NaN, missing text or logical
            values one of objects with None.

        Raises
        ------
        DataError
            If R stops with an error, or the value is no data, such as a function.
        """
        (self._folder / "request.R").write_bytes(code.encode())
        self._n_files = 0
        self._run()
        found = _Answer((self._folder / "answer.bin").read_bytes()).value()
        if "error" in found:
            raise DataError(f"R stopped: {' '.join(str(found['error'][0]).split())}.")
        return found["value"]

    def call(self, function: str, *args: object, **named: object) -> RValue:
        """Value of a function of R; an underscore at the end of a name is left out."""
        given = [self._code(value) for value in args]
        for name, value in named.items():
            given.append(f"{name.removesuffix('_')} = {self._code(value)}")
        return self.eval(f"{function}({', '.join(given)})")

    def set(self, name: str, value: object) -> None:
        """Assign to a variable of R."""
        self.eval(f"{name} <- {self._code(value)}\nNULL")

    def _code(self, value: object) -> str:
        """A value as R code.

        None becomes NULL, a dictionary a named list; numbers, logical values and text
        become vectors, arrays of more dimensions keep them; categories become a factor,
        missing labels of a Series NA. Whole numbers that R's integers do not hold
        become doubles.
        """
        if value is None:
            return "NULL"
        if isinstance(value, dict):
            items = (f"{quoted(k)} = {self._code(each)}" for k, each in value.items())
            return f"list({', '.join(items)})"
        if isinstance(value, pd.Series | pd.Categorical | pd.Index):
            return self._labels(pd.Series(value))
        array = np.asarray(value)
        flat = self._vector(
            array.ravel(order="F")
        )  # R's order: the first index is fast
        return flat if array.ndim < 2 else f"array({flat}, c{array.shape})"

    def _vector(self, flat: np.ndarray) -> str:
        if flat.dtype.kind not in "biuf":
            texts = ("NA" if each is None else quoted(str(each)) for each in flat)
            return f"as.character(c({', '.join(texts)}))"
        place, numbers = self._folder / f"{self._n_files}.bin", flat.astype(np.float64)
        self._n_files += 1
        numbers.tofile(place)
        code = f"readBin({quoted(place.as_posix())}, 'double', {flat.size})"
        if flat.dtype.kind == "b":
            return f"as.logical({code})"
        is_whole = flat.dtype.kind in "iu"
        if is_whole and (np.abs(numbers) <= LARGEST_INTEGER).all():
            return f"as.integer({code})"
        if is_whole and [int(x) for x in numbers] != flat.tolist():
            raise DataError("An integer beyond 2^53 has no exact counterpart in R.")
        return code

    def _labels(self, labels: DataColumn) -> str:
        """Categories as a factor, all else by its values, with NA where one misses."""
        if isinstance(labels.dtype, pd.CategoricalDtype):
            known, codes = labels.cat.categories, labels.cat.codes.to_numpy() + 1.0
            levels = f"{self._code(np.arange(len(known)) + 1)}, {self._code(known)}"
            ordered = str(labels.cat.ordered).upper()
            return f"factor({self._code(codes)}, {levels}, ordered = {ordered})"
        present = labels.notna().to_numpy(dtype=bool)
        values = self._vector(np.array(labels[present].tolist()))
        if present.all():
            return values
        return f"{values}[{self._code(np.where(present, present.cumsum(), np.nan))}]"


def quoted(text: str) -> str:
    """A text in R code."""
    if "\0" in text:
        raise DataError("A text with a zero byte has no counterpart in R.")
    return json.dumps(text, ensure_ascii=False)


class _Answer:
    """Reads what ``write_value()`` of R has written, one value after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def _text(self) -> str:
        begin, self._at = self._at, self._content.index(b"\0", self._at) + 1
        return self._content[begin : self._at - 1].decode()

    def value(self) -> RValue:
        kind, size, shape = self._text(), int(self._text()), self._text().split()
        found: RValue
        if kind == "NULL":
            return None
        if kind == "list":
            names = [self._text() for _ in range(size)]
            items = [self.value() for _ in names]
            return dict(zip(names, items, strict=True)) if any(names) else items
        if kind == "character":
            texts = [self._text() for _ in range(size)]
            found = np.array([t[1:] if t[0] == "+" else None for t in texts], object)
        else:
            found = np.frombuffer(self._content, np.float64, size, self._at).copy()
            self._at += 8 * size
            missing = np.isnan(found)
            if kind == "logical":
                found = np.array(np.where(missing, None, found == 1.0), object)
            if kind != "double" and not missing.any():
                found = found.astype(bool if kind == "logical" else np.int64)
        return found.reshape([int(n) for n in shape], order="F") if shape else found


class Embedded(R):
    """R in this process, by rpy2; the state of its generator is left as it is.

    Raises
    ------
    ImportError, OSError, ValueError
        If rpy2 or R is missing, or they do not fit together.
    """

    name = "rpy2"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        os.environ.setdefault("RPY2_CFFI_MODE", "ABI")  # needs no compiler
        path = os.environ.get("LD_LIBRARY_PATH")
        import rpy2.rinterface as rinterface

        rinterface.initr()
        os.environ.pop("LD_LIBRARY_PATH", None)  # R's is not for other programs
        if path is not None:
            os.environ["LD_LIBRARY_PATH"] = path
        self._place = rinterface.StrSexpVector([self._folder.as_posix()])
        self._loaded = rinterface.evalr(loading_code(folder or reference_folder()))

    def _run(self) -> None:
        self._loaded["answer_request"](self._place, self._loaded)


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
        super().__init__()
        loading = loading_code(folder or reference_folder())
        code = (
            f'reference <- {loading}\nreference$answer_requests("{DONE}", reference)\n'
        )
        (self._folder / "serve.R").write_text(code, encoding="utf-8")
        self._process = subprocess.Popen(
            [command, "--vanilla", "serve.R"],
            cwd=self._folder,
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
        self._remove()

    def _run(self) -> None:
        said: list[str] = []
        with suppress(BrokenPipeError):
            _pipe(self._process.stdin).write("\n")
            _pipe(self._process.stdin).flush()
        for line in _pipe(self._process.stdout):
            if line.rstrip() == DONE:
                return
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
            embedded.eval("kept_state <- random_state()\nNULL")
            try:
                yield embedded
            finally:
                embedded.eval("random_state_is(kept_state)\nNULL")
            return
    with Process() as process:
        yield process

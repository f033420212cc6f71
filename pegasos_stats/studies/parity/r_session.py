"""The installed R with the reference loaded: embedded, or a separate process.

Beside this file stands ``r_reference/R/session.R``.
"""

import os
import shutil
import struct
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal, Self, TypeAlias

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.checks import check_choice
from pegasos_stats.data.columns import r_number
from pegasos_stats.errors import DataError, DependencyError, shown

RValue: TypeAlias = Any  # a vector, a list by name or not, None, ...

HEADER = b"X\n" + struct.pack(">3i", 2, 0x00020300, 0x00020300)
LARGEST_INTEGER = 2**31 - 1  # R keeps -2^31 for NA
NA_INTEGER = -(2**31)

SYMBOL, PAIRS, CHARACTERS, LOGICAL, INTEGER = 1, 2, 9, 10, 13
NUMBER, TEXT, LIST, RAW, AGAIN, NULL, EMPTY = 14, 16, 19, 24, 255, 254, 242
IS_OBJECT, HAS_ATTRIBUTES, HAS_TAG = 0x100, 0x200, 0x400
UTF8 = 0x8000
KINDS = {LOGICAL: ">i4", INTEGER: ">i4", NUMBER: ">f8", RAW: "u1"}


def to_r(value: object) -> bytes:
    """Write a value for R's ``unserialize()``.

    Parameters
    ----------
    value : object
        None becomes NULL, a dictionary a named list; numbers, logical values and text
        become vectors, arrays of more dimensions keep them; categories become a factor,
        missing labels of a Series NA. Whole numbers that R's integers do not hold
        become doubles.

    Raises
    ------
    DataError
        If an integer has no exact double, or a text holds a zero byte.

    Examples
    --------
    >>> from_r(to_r({"x": [0.1, 2.0], "n": 3, "s": "a"}))
    {'x': array([0.1, 2. ]), 'n': array([3]), 's': array(['a'], dtype=object)}
    """
    return HEADER + _item(value)


def from_r(content: bytes) -> RValue:
    """Read what R's ``serialize(version = 2)`` wrote.

    Returns
    -------
    object
        Numbers, text and logical values as arrays of at least one dimension, a factor
        as its labels, a list as a dictionary if it has names, NULL as None. Missing
        integers make an array of floats with NaN, missing text or logical values one
        of objects with None.

    Raises
    ------
    DataError
        If there is something else in it than vectors and lists, such as a function.
    """
    return _Reader(content).value()


def _item(value: object) -> bytes:
    if value is None:
        return _int(NULL)
    if isinstance(value, dict):
        items = b"".join(_item(each) for each in value.values())
        return _vector(LIST, len(value), items, names=list(value) or None)
    if isinstance(value, pd.Series | pd.Categorical | pd.Index):
        return _labels(pd.Series(value))
    array = np.asarray(value)
    shape = array.shape if array.ndim > 1 else None
    return _array(array.ravel(order="F"), shape)  # R's order: the first index is fast


def _array(flat: np.ndarray, shape: tuple[int, ...] | None = None) -> bytes:
    """A vector of numbers, logical values or text, and its dimensions."""
    kind = flat.dtype.kind
    if kind == "b":
        content = LOGICAL, flat.astype(">i4").tobytes()
    elif kind in "iu" and (np.abs(flat.astype(float)) <= LARGEST_INTEGER).all():
        content = INTEGER, flat.astype(">i4").tobytes()
    elif kind in "iuf":
        numbers = flat.astype(np.float64)
        if kind in "iu" and [int(x) for x in numbers] != flat.tolist():
            raise DataError("An integer beyond 2^53 has no exact counterpart in R.")
        content = NUMBER, numbers.astype(">f8").tobytes()
    else:
        content = TEXT, b"".join(_characters(each) for each in flat)
    return _vector(content[0], len(flat), content[1], dim=shape)


def _labels(labels: DataColumn) -> bytes:
    """Missing values as NA, categories as a factor, all else by its values."""
    if isinstance(labels.dtype, pd.CategoricalDtype):
        codes = labels.cat.codes.to_numpy(dtype=np.int64) + 1
        places = np.where(codes == 0, NA_INTEGER, codes).astype(">i4")
        levels = [_level(each) for each in labels.cat.categories]
        ordered = ["ordered"] * bool(labels.cat.ordered)
        kind = {"levels": levels, "class": [*ordered, "factor"]}
        return _vector(INTEGER, len(codes), places.tobytes(), **kind)
    missing = labels.isna().to_numpy(dtype=bool)
    if not missing.any():
        return _array(np.array(labels.tolist()))
    present = np.array(labels[~missing].tolist())
    if present.dtype.kind == "b":
        found = np.full(len(labels), NA_INTEGER, dtype=">i4")
        found[~missing] = present
        return _vector(LOGICAL, len(found), found.tobytes())
    if present.dtype.kind in "iuf":
        numbers = np.full(len(labels), np.nan)
        numbers[~missing] = present
        numbers.view(np.uint64)[missing] = 0x7FF00000000007A2  # R's NA
        return _array(numbers)
    text = np.full(len(labels), None, dtype=object)
    text[~missing] = present.astype(object)
    return _array(text)


def _level(value: object) -> str:
    """The name of a category as R's ``factor()`` would give it."""
    if isinstance(value, bool | np.bool_):
        return str(value).upper()
    return r_number(value) if isinstance(value, float) else str(value)


def _vector(kind: int, length: int, content: bytes, **attributes: object) -> bytes:
    """A vector, and those of its attributes that are not None."""
    given = {name: each for name, each in attributes.items() if each is not None}
    if length > LARGEST_INTEGER:
        raise DataError("More than 2^31 numbers in one table are too many for R here.")
    flags = kind | HAS_ATTRIBUTES * bool(given) | IS_OBJECT * ("class" in given)
    pairs = b"".join(
        _int(PAIRS | HAS_TAG) + _int(SYMBOL) + _characters(name) + _item(each)
        for name, each in given.items()
    )
    return _int(flags) + _int(length) + content + (pairs + _int(NULL)) * bool(given)


def _characters(text: object) -> bytes:
    if text is None:
        return _int(CHARACTERS) + _int(-1)
    content = str(text).encode()
    if b"\0" in content:
        raise DataError(f"The text {shown(text)} holds a zero byte, which R cannot.")
    return _int(CHARACTERS | UTF8) + _int(len(content)) + content


def _int(number: int) -> bytes:
    return struct.pack(">i", number)


class _Reader:
    """Reads one item after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at, self._symbols = memoryview(content), 14, [""]

    def _take(self, size: int) -> memoryview:
        self._at += size
        return self._content[self._at - size : self._at]

    def _int(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def value(self) -> RValue:
        flags = self._int()
        kind = flags & 0xFF
        if kind in (NULL, EMPTY):
            return None
        if kind == CHARACTERS:
            return self._characters()
        if kind == SYMBOL:
            self._symbols.append(self.value())
            return self._symbols[-1]
        if kind == AGAIN:
            return self._symbols[flags >> 8]
        if kind == PAIRS:
            return self._pairs(flags)
        if kind not in KINDS and kind not in (TEXT, LIST):
            raise DataError(f"R answered with type {kind}, which is no data.")
        length = self._int()
        if kind in (TEXT, LIST):
            found: RValue = [self.value() for _ in range(length)]
        else:
            size = length * np.dtype(KINDS[kind]).itemsize
            found = np.frombuffer(self._take(size), dtype=KINDS[kind])
        given = self.value() if flags & HAS_ATTRIBUTES else {}
        return _whole(kind, found, given or {})

    def _characters(self) -> str | None:
        length = self._int()
        return None if length < 0 else bytes(self._take(length)).decode()

    def _pairs(self, flags: int) -> dict[str, RValue]:
        found: dict[str, RValue] = {}
        while flags & 0xFF == PAIRS:
            if flags & HAS_ATTRIBUTES:
                self.value()
            name = self.value() if flags & HAS_TAG else str(len(found))
            found[name] = self.value()
            flags = self._int()
        return found


def _whole(kind: int, found: RValue, given: dict[str, RValue]) -> RValue:
    """A vector or list as Python has it, with what its attributes say."""
    if kind == LIST:
        names = given.get("names")
        return found if names is None else dict(zip(names, found, strict=True))
    classes = given.get("class")
    if classes is not None and "factor" in classes:
        levels = [None, *given["levels"]]
        return np.array([levels[max(int(at), 0)] for at in found], dtype=object)
    if kind == TEXT:
        values = np.array(found, dtype=object)
    elif kind == LOGICAL:
        values = found.astype(bool)
        if (found == NA_INTEGER).any():
            values = values.astype(object)
            values[found == NA_INTEGER] = None
    elif kind == INTEGER:
        values = found.astype(np.int64)
        if (found == NA_INTEGER).any():
            values = found.astype(np.float64)
            values[found == NA_INTEGER] = np.nan
    else:
        values = found.astype(found.dtype.newbyteorder("="))
    dim = given.get("dim")
    return values if dim is None else values.reshape(tuple(dim), order="F")


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

    def eval(self, code: str) -> RValue:
        """Value of the last expression of `code`."""
        return self._asked({"do": "eval", "code": code})

    def call(self, function: str, *args: object, **named: object) -> RValue:
        """Value of a function of R; an underscore at the end of a name is left out."""
        names = ["" for _ in args] + [name.removesuffix("_") for name in named]
        values = dict(enumerate([*args, *named.values()]))
        return self._asked(
            {"do": "call", "code": function, "names": names, "arguments": values}
        )

    def set(self, name: str, value: object) -> None:
        """Assign to a variable of R."""
        self._asked({"do": "set", "name": name, "value": value})

    def _asked(self, request: dict[str, object]) -> RValue:
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

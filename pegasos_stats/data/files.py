"""Read data files, which may be compressed, and describe a problem in one sentence.

A column of a text file becomes numeric if all its cells are numbers. Integers remain
integers if cells are empty. A column of integers becomes text if one of them exceeds 64
bits, so that no two codes become the same number.
"""

import bz2
import codecs
import gzip
import io
import os
import re
import stat
import warnings
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn, Integers, SparseRows
from pegasos_stats.checks import check_count, check_flag
from pegasos_stats.data.language.vocabulary import as_character
from pegasos_stats.errors import DataError, listing
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.writing import checked_path, shown_path

Kinds = Mapping[str, str]  # NUMBERS, TEXT or BOOLEANS, by the names of columns
Reader = Callable[[str], str | None]

NUMBERS, TEXT, BOOLEANS = "numbers", "text", "booleans"
TRUE, FALSE = ["True", "TRUE", "true"], ["False", "FALSE", "false"]
WORDS = dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False)
OPENERS = {rb"\x1f\x8b": gzip.open, rb"BZh\d1AY&SY": bz2.open}
BYTES_AT_ONCE = 2**22  # bytes of a file that are read at once
IN_MEMORY: dict[str, bytes] = {}  # content of standard input, by name
UNREADABLE = (OSError, EOFError, zlib.error)
FIELDS = re.compile(r"Expected (\d+) fields in line (\d+), \w+ (\d+)")  # of pandas
SEPARATED = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
NOT_UTF8 = (
    "it is not text in UTF-8; save it as 'CSV UTF-8', or name its encoding (on the "
    "command line --encoding cp1252, of Windows, or latin-1)"
)
EMPTY = "it is empty; a header and rows are needed"
HEAD_BYTES = 1000  # first bytes of a file, which show its format
AS_CSV = "save it as 'CSV UTF-8'"
FORMATS = {  # other formats than plain text, by patterns of their first bytes
    rb"\xff\xfe|\xfe\xff|(?:[^\0]\0){8}|(?:\0[^\0]){8}": f"text in UTF-16; {AS_CSV}",
    rb"PK\x03\x04|\xd0\xcf\x11\xe0": f"a workbook or a zip archive; {AS_CSV}",
    rb"PAR1|ARROW1": "in Parquet or Arrow format; end its name in .parquet or .arrow",
    rb"pegasos_stats model": "a saved model; pass the rows to predict",
}
Floats = NDArray[np.float64]

LARGEST_INDEX = 2**31 - 2
LABEL_NAME = "label"
COLON, SPACE, NEWLINE = ord(":"), ord(" "), ord("\n")

NUMBER = rb"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|nan|inf)"
LABEL = re.compile(NUMBER)
LIKE_PAIR = re.compile(rb"[+-]?\d+:[^\s,;]+")
ASIDE = re.compile(rb"#[^\n]*|[ \t]qid:\S+")


def cell_reader(
    decimal: str = ".", thousands: str = "", units: Collection[str] = ()
) -> Reader:
    """Return a function that converts a cell to the text of a number, or to None.

    Parameters
    ----------
    decimal : str
        Decimal mark.
    thousands : str
        Character between groups of three digits; empty for none.
    units : collection of str
        Texts before or after a number, which are dropped.

    Examples
    --------
    >>> parse = cell_reader(",", ".", ["CHF"])
    >>> [parse(cell) for cell in ("CHF 1.234,5", "-7", "1.5", "?")]
    ['1234.5', '-7', None, None]
    """
    groups = rf"[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+|" if thousands else ""
    number = re.compile(
        rf"({groups}[0-9]*)(?:{re.escape(decimal)}([0-9]*))?((?:[eE][+-]?[0-9]+)?)"
    )

    def parse(cell: str) -> str | None:
        sign, text = "", cell.strip()
        for unit in ("", *units):
            text = text.removeprefix(unit).removesuffix(unit).strip()
            if not sign and text[:1] in ("+", "-"):
                sign, text = text[0], text[1:]
        parts = number.fullmatch(text)
        if parts is None or not (parts[1] or parts[2]):
            return None
        whole = parts[1].replace(thousands, "") if thousands else parts[1]
        return sign + whole + f".{parts[2]}" * (parts[2] is not None) + parts[3]

    return parse


PLAIN = cell_reader()


def as_numbers(cells: DataColumn, parse: Reader = PLAIN) -> "DataColumn | None":
    """Numbers of the cells of a column; None if a cell is not a number.

    If all numbers are integers and one exceeds 64 bits, the cells remain text.

    Examples
    --------
    >>> as_numbers(pd.Series(["9007199254740993", None])).tolist()
    [9007199254740993, <NA>]
    >>> as_numbers(pd.Series(["1.0", None])).tolist()
    [1.0, nan]
    """
    present = cells.dropna()
    plain = present.map(parse)
    if plain.isna().any():
        return None
    if not plain.str.fullmatch("[+-]?[0-9]+").all():
        return plain.astype(np.float64).reindex(cells.index)
    whole = [int(text) for text in plain]
    if whole and not -(2**63) <= min(whole) <= max(whole) < 2**63:
        return cells
    integers = pd.Series(whole, present.index, dtype=np.int64)
    complete = len(integers) == len(cells)
    return integers if complete else integers.astype("Int64").reindex(cells.index)


def cell_value(cell: object, parse: Reader = PLAIN) -> object:
    """Convert a text cell to a number or boolean, if possible.

    Examples
    --------
    >>> [cell_value(cell) for cell in ("7", "7.5", "True", "?")]
    [7, 7.5, True, '?']
    """
    if not isinstance(cell, str):
        return cell
    if (plain := parse(cell)) is None:
        return WORDS.get(cell, cell)
    return int(plain) if plain.lstrip("+-").isdigit() else float(plain)


def is_text(column: DataColumn) -> bool:
    """Whether a column of a file contains text, or booleans and empty cells."""
    return column.dtype == object or isinstance(column.dtype, pd.StringDtype)


def as_at_fit(frame: pd.DataFrame, kinds: Kinds, parse: Reader = PLAIN) -> pd.DataFrame:
    """Convert columns of a file to the types of the fit.

    Numbers and booleans become text if the fit had text. If the fit had numbers or
    booleans, cells of text become numbers or booleans where possible, else remain text.

    Examples
    --------
    >>> frame = pd.DataFrame({"code": [250, 401], "ward": ["7", "?"]})
    >>> as_at_fit(frame, {"code": TEXT, "ward": NUMBERS}).to_dict("list")
    {'code': ['250', '401'], 'ward': [7, '?']}
    """
    turned = {}
    for name in kinds.keys() & {*frame.columns}:
        column = frame[name]
        if kinds[name] == TEXT and column.dtype.kind in "biuf":
            turned[name] = as_text(column)
        elif kinds[name] != TEXT and is_text(column):
            values = [cell_value(cell, parse) for cell in column.array]
            turned[name] = pd.Series(values, column.index, dtype=object)
    return frame.assign(**turned) if turned else frame


def as_text(column: DataColumn) -> DataColumn:
    """Convert numbers and booleans to text; missing values remain missing.

    Examples
    --------
    >>> as_text(pd.Series([7.0, 1.1, None])).tolist()
    ['7', '1.1', nan]
    """
    texts: DataColumn = as_character(column.dropna())
    return texts.reindex(column.index)


def opened(path: str | PathLike[str]) -> IO[bytes]:
    """Open a file for reading, unpacked if it is compressed by gzip or bzip2.

    Raises
    ------
    DataError
        If the file does not exist, is a folder, a pipe or a device, or cannot be read.
    """
    file: IO[bytes]
    name = checked_path(path)
    if name in IN_MEMORY:
        content = IN_MEMORY[name]
        file = io.BytesIO(content)
        packed = [opener for mark, opener in OPENERS.items() if re.match(mark, content)]
        return packed[0](file, "rb") if packed else file  # type: ignore[operator]
    try:
        mode = os.stat(name).st_mode
        if not stat.S_ISREG(mode):
            folder = "is a folder; pass the path of a data file"
            other = "is a pipe or a device; write it to a file, and use that"
            what = folder if stat.S_ISDIR(mode) else other
            raise errors.DataError(f"The file {shown_path(name)} {what}.")
        with open(name, "rb") as handle:
            begin = handle.read(10)
        packed = [opener for mark, opener in OPENERS.items() if re.match(mark, begin)]
        file = [*packed, open][0](name, "rb")  # type: ignore[operator]
    except OSError as error:
        raise errors.DataError(unreadable(name, error)) from None
    return file


def unreadable(name: str, error: Exception) -> str:
    """Return the message that a file cannot be read, with the reason."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        what = "does not exist; pass the path of a data file"
        folder, base = os.path.split(name)
        with suppress(OSError):
            what += errors.did_you_mean(base, os.listdir(folder or "."))
        return f"The file {shown_path(name)} {what}."
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    reason = " ".join(reason.split()).rstrip(".")
    return f"The file {shown_path(name)} cannot be read: {reason}."


def not_csv(name: str, reason: str) -> errors.DataError:
    """Return the error for a file that is not a text table."""
    reason = " ".join(reason.split()).rstrip(".")
    return errors.DataError(
        f"The file {shown_path(name)} cannot be read as CSV: {reason}."
    )


def bytes_of_zero(name: str) -> errors.DataError:
    """Return the error for a file that is not text."""
    return not_csv(name, f"it contains bytes of zero; {NOT_UTF8}")


@dataclass(frozen=True)
class CsvStyle:
    """Format of a CSV file: separator, decimal mark, encoding and missing values.

    Attributes
    ----------
    sep, decimal : str
        One character each; for `sep`, ``"tab"`` means a tab.
    encoding : str
        Name of the text encoding in Python.
    na_values : tuple of str
        Texts of missing values, in addition to empty cells, NA and the like; a single
        text is allowed.
    keep_na : bool
        Whether NA and similar texts are values, and not missing, in columns of text.
    thousands : str
        Character between groups of three digits; empty for none.
    strip : tuple of str
        Texts before or after numbers, such as ``"%"`` or ``"CHF"``, which are dropped.

    Raises
    ------
    OptionError
        If a separator or mark is not a single character, if `sep` equals `decimal`, or
        if the encoding is unknown.

    Examples
    --------
    >>> CsvStyle(";", ",", na_values="?").na_values
    ('?',)
    """

    sep: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    na_values: tuple[str, ...] = ()
    keep_na: bool = False
    thousands: str = ""
    strip: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("na_values", "strip"):
            texts: str | Sequence[str] = getattr(self, name)
            texts = [texts] if isinstance(texts, str) else texts
            object.__setattr__(self, name, tuple(filter(None, texts)))
        if self.sep in ("tab", r"\t"):
            object.__setattr__(self, "sep", "\t")
        for name in ("sep", "decimal", "thousands"):
            value = getattr(self, name)
            if len(value) != 1 and (name, value) != ("thousands", ""):
                raise errors.OptionError(
                    f"{name}={value!r} is not allowed; use a single character, such "
                    "as ';' or ','."
                )
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise errors.OptionError(
                "is not a text encoding; use one such as utf-8, latin-1 or cp1252.",
                "encoding",
                self.encoding,
            ) from None
        if self.sep == self.decimal:
            raise errors.OptionError(
                f"sep and decimal are both {self.sep!r}; use two characters, such as "
                "sep=';' and decimal=','."
            )


COMMAS = CsvStyle()


def read_csv(
    path: str,
    style: CsvStyle = COMMAS,
    kinds: Kinds | None = None,
    id: str | None = None,
) -> pd.DataFrame:
    """Read a CSV file; a first column without a name becomes the row names.

    Other columns without a name are dropped.

    Parameters
    ----------
    path : str
    style : CsvStyle
    kinds : mapping of str to str, optional
        Types of columns, ``"numbers"`` or ``"text"``, instead of automatic ones.
    id : str, optional
        Name of a column that is read as text, exactly as written.

    Raises
    ------
    DataError
        If the file does not exist, or is not a table.
    ColumnError
        If a column name occurs twice.
    """
    try:
        file = io.BytesIO(content(path, style))
        names = _header(path, file, style)
        data = _columns(file, style, names, kinds or {}, id)
    except errors.PegasosStatsError:
        raise
    except UnicodeDecodeError:
        raise not_csv(path, NOT_UTF8) from None
    except pd.errors.EmptyDataError:
        raise not_csv(path, EMPTY) from None
    except (*UNREADABLE, ValueError) as error:
        reason = str(error)
        if match := FIELDS.search(reason):
            reason = "line {1} has {2} fields instead of {0}".format(*match.groups())
        raise not_csv(path, reason) from None
    unnamed = [j for j, name in enumerate(names) if j > 0 and not name]
    data = data.drop(columns=data.columns[unnamed])
    if names[0]:
        return data
    labels = data.pop(data.columns[0])
    whole = as_numbers(labels)
    if whole is not None and whole.astype(str).equals(labels):
        labels = whole
    return data.set_axis(pd.Index(labels.array))


def _columns(
    file: IO[bytes], style: CsvStyle, names: Sequence[str], kinds: Kinds, id: str | None
) -> pd.DataFrame:
    """Return all columns; columns that pandas may have changed are read again."""
    texts = [name for name in names if kinds.get(name) == TEXT]
    data = _table(file, style, dtype=dict.fromkeys(texts, str))
    if not isinstance(data.index, pd.RangeIndex):  # rows have more fields than names
        if not separator_in(data.columns):
            raise ValueError(
                "its rows have more fields than its header; add the missing names"
            )
        return data
    others = [name for name in names if name and name not in (id, *texts)]
    if again := [n for n in others if _is_uncertain(data[n], style, kinds.get(n))]:
        parse = cell_reader(style.decimal, style.thousands, style.strip)
        texts_again = _table(file, style, usecols=again, dtype=str)
        numbers = {name: as_numbers(texts_again[name], parse) for name in again}
        data = data.assign(**{n: c for n, c in numbers.items() if c is not None})
        data = as_at_fit(data, {n: kinds[n] for n in again if n in kinds}, parse)
    options: dict[str, Any]
    for name in [*others, *texts] if style.keep_na else []:
        if is_text(data[name]) and kinds.get(name) != NUMBERS:
            options = {"usecols": [name], "dtype": str, "keep_default_na": False}
            column = _table(file, style, **options)[name]
            data[name] = column if column.count() > data[name].count() else data[name]
    for j, name in enumerate(names):
        if name == id or not (name or j):  # names of rows, exactly as written
            options = {"usecols": [j], "dtype": str, "na_filter": False}
            data.isetitem(j, _table(file, style, **options).iloc[:, 0].array)
    return data


def _is_uncertain(column: DataColumn, style: CsvStyle, kind: str | None) -> bool:
    """Whether pandas may have changed the values of a column.

    In pandas, integers in a column with empty cells become floats. An integer of more
    than 63 bits makes the column unsigned, or a mixture of integers and texts.
    """
    if column.dtype.kind == "f":
        return column.hasnans and bool((column.dropna() % 1 == 0).all())
    if is_text(column):
        has_options = style.thousands or style.strip or style.keep_na or kind
        return bool(has_options) or any(type(v) is int or v == "" for v in column.array)
    return column.dtype == np.uint64


def _table(file: IO[bytes], style: CsvStyle, **options: Any) -> pd.DataFrame:
    """The columns of a CSV file as pandas reads them."""
    file.seek(0)
    empty = [""] if options.get("keep_default_na") is False else []
    table: pd.DataFrame = pd.read_csv(
        file,
        sep=style.sep,
        decimal=style.decimal,
        encoding=style.encoding,
        na_values=[*style.na_values, *empty],
        low_memory=False,
        **options,
    )
    return table


def content(path: str, style: CsvStyle) -> bytes:
    """Return the unpacked content of a file of text."""
    with opened(path) as handle:
        text = handle.read()
    check_is_text(path, text[:HEAD_BYTES], style.encoding)
    if b"\0" in text and b"\0" not in "a".encode(style.encoding):
        raise bytes_of_zero(path)
    return text


def _header(path: str, file: IO[bytes], style: CsvStyle) -> list[str]:
    """Names in the first line of a CSV file.

    Raises
    ------
    ColumnError
        If a name occurs twice; pandas would rename the second column.
    """
    line = _table(file, style, header=None, nrows=1, dtype=str, na_filter=False)
    names = [name.removeprefix("\ufeff") for name in line.iloc[0]]
    if doubled := [name for name in names if name and names.count(name) > 1]:
        raise twice(doubled[0], path)
    return names


def check_is_text(path: str, begin: bytes, encoding: str = "utf-8") -> None:
    """Raise `DataError` if the first bytes of a file show another format."""
    for mark, what in FORMATS.items():
        if re.match(mark, begin, re.DOTALL) and b"\0" not in "a".encode(encoding):
            raise not_csv(path, f"it is {what}")


def twice(name: str, path: str) -> errors.ColumnError:
    """Return the error for a column name that occurs twice in a file."""
    return errors.ColumnError(
        f"Column {listing([name])} occurs more than once in {shown_path(path)}; rename "
        "the columns."
    )


def separator_in(names: "Sequence[object] | pd.Index", own: str = ",") -> str:
    """Guess the separator if all columns were read as one; "" if there is none.

    `own` is the separator that was used, which cannot be the result.

    Examples
    --------
    >>> separator_in(["y;x1;x2"]), separator_in(["y", "x"])
    (';', '')
    """
    only = str(names[0]) if len(names) == 1 else ""
    return next((mark for mark in SEPARATED if mark in only and mark != own), "")


@dataclass(frozen=True, eq=False)
class Svmlight:
    """Content of an svmlight file; ``y, X = data`` unpacks labels and rows.

    Attributes
    ----------
    y : Series, shape (n,)
        Labels, as integers if all of them are whole numbers.
    X : float64 CSR array, shape (n, p)
        Column ``j`` is feature ``j + 1`` of the file, or ``j`` if `zero_based`;
        columns are sorted within each row and occur once.
    zero_based : bool
        Whether the features are counted from 0.
    n_dropped : int
        Number of distinct features beyond ``n_features``, which were dropped.
    """

    y: DataColumn
    X: SparseRows
    zero_based: bool
    n_dropped: int = 0

    def __iter__(self) -> Iterator["DataColumn | SparseRows"]:
        return iter((self.y, self.X))


@suggest_arguments
def read_svmlight(
    path: str | PathLike[str],
    n_features: int | None = None,
    *,
    zero_based: bool | None = None,
) -> Svmlight:
    r"""Read an svmlight file: lines of ``label index:value index:value ...``.

    The file may be compressed by gzip or bzip2, whatever its name. Comments (after
    ``#``) and ``qid:`` entries are ignored; indices may be in any order.

    Parameters
    ----------
    path : str or path
    n_features : int, optional
        Number of columns; features beyond it are dropped and counted. By default the
        largest index in the file, plus 1 if features are counted from 0. For test data
        pass the number of columns of the training data, ``X.shape[1]``.
    zero_based : bool, optional
        Whether features are counted from 0. By default from 0 if the index 0 occurs,
        otherwise from 1.

    Returns
    -------
    Svmlight
        ``y, X = read_svmlight(path)`` returns labels and rows. Models name the columns
        by position: ``x1``, ``x2`` and so on. `scan` names features by their index, and
        the first is ``x0`` if they are counted from 0.

    Raises
    ------
    DataError
        If the file does not exist or is not in this format, or a row has an index
        twice; the message names the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.txt"
    >>> _ = path.write_text("+1 1:0.5 3:2  # first row\n-1 2:1\n")
    >>> y, X = read_svmlight(path)
    >>> y.tolist(), X.toarray().tolist()
    ([1, -1], [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]])
    >>> read_svmlight(path, n_features=2).n_dropped
    1
    """
    if n_features is not None:
        check_count("n_features", n_features)
    if zero_based is not None:
        check_flag("zero_based", zero_based)
    name = checked_path(path)
    entries = _joined(list(parsed_blocks(name)), name)
    if zero_based is None:
        zero_based = bool((entries.indices == 0).any())
    elif not zero_based and (entries.indices == 0).any():
        raise DataError(
            f"The file {name} has the index 0, and zero_based=False counts features "
            "from 1; renumber them, or count from 0 (zero_based=True in Python)."
        )
    return _assembled(entries, name, n_features, zero_based)


def looks_like_svmlight(path: str | PathLike[str]) -> bool:
    """Whether the first line with features has the form ``label index:value ...``.

    Raises
    ------
    DataError
        If the file does not exist or cannot be unpacked.

    Examples
    --------
    >>> from pegasos_stats.datasets import digits56_path
    >>> looks_like_svmlight(digits56_path())
    False
    """
    name = checked_path(path)
    with opened(name) as handle:
        try:
            lines = (handle.readline(BYTES_AT_ONCE) for _ in range(100))
            words = (ASIDE.sub(b" ", line).split() for line in lines)
            label, *pairs = next((few for few in words if len(few) > 1), [b""])
        except UNREADABLE as error:
            raise DataError(unreadable(name, error)) from None
    return bool(LABEL.fullmatch(label)) and all(map(LIKE_PAIR.fullmatch, pairs))


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows of an svmlight file.

    Attributes
    ----------
    lines : int64 array, shape (n,)
        Line of each row, counted from 1.
    labels : float64 array, shape (n,)
    lengths : int64 array, shape (n,)
        Number of entries of each row.
    indices : int64 array, values : float64 array, shape (n_entries,)
    """

    lines: Integers
    labels: Floats
    lengths: Integers
    indices: Integers
    values: Floats


def parsed_blocks(name: str) -> Iterator[Entries]:
    """Yield the entries of a file in blocks of whole lines.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is not in svmlight format.
    """
    line = 1
    with opened(name) as handle:
        try:
            for block in _blocks(handle):
                entries = _parsed(ASIDE.sub(b" ", block), line)
                if entries is None:
                    raise _wrong_line(block, line, name)
                yield entries
                line += block.count(b"\n")
        except UNREADABLE as error:
            raise DataError(unreadable(name, error)) from None


def _blocks(handle: IO[bytes]) -> Iterator[bytes]:
    """Yield pieces of a file that consist of whole lines."""
    rest: list[bytes] = []  # parts of a line that continues in the next chunk
    while chunk := handle.read(BYTES_AT_ONCE):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, chunk[:cut]])
            rest = []
        rest.append(chunk[cut:])
    if any(rest):
        yield b"".join(rest)


def _parsed(block: bytes, line: int) -> Entries | None:
    """Parse whole lines; None if one of them is not in the format."""
    text = np.frombuffer(block, dtype=np.uint8)
    solid = text > SPACE
    starts = np.flatnonzero(solid & ~np.concatenate([[False], solid[:-1]]))
    lines = np.searchsorted(np.flatnonzero(text == NEWLINE), starts)
    leads = np.diff(lines, prepend=-1) > 0
    colons = np.flatnonzero(text == COLON)
    if not _well_formed(text, starts, leads, colons):
        return None
    lengths = np.diff(np.flatnonzero(np.append(leads, True))) - 1
    numbers = _numbers(block.replace(b":", b" "))
    at = np.arange(len(lengths)) + 2 * (np.cumsum(lengths) - lengths)
    if len(numbers) != len(lengths) + 2 * len(colons):
        return None
    pairs = np.delete(numbers, at).reshape(-1, 2)
    features, labels = pairs[:, 0], numbers[at]
    allowed = (
        (features >= 0) & (features <= LARGEST_INDEX) & (features == np.rint(features))
    )
    if not allowed.all() or np.isinf(labels).any():
        return None
    indices = features.astype(np.int64)
    return Entries(lines[leads] + line, labels, lengths, indices, pairs[:, 1])


def _well_formed(
    text: NDArray[np.uint8],
    starts: NDArray[np.intp],
    leads: NDArray[np.bool_],
    colons: NDArray[np.intp],
) -> bool:
    """Whether all words have one colon between two texts, except the first of a line.

    The first word of a line is the label and has no colon.
    """
    words = np.searchsorted(starts, colons, side="right") - 1
    if len(colons) != int((~leads).sum()) or (words < 0).any():
        return False
    after = text[np.minimum(colons + 1, len(text) - 1)]
    inside = (starts[words] < colons) & (after > SPACE) & (after != COLON)
    return bool((words == np.flatnonzero(~leads)).all() and inside.all())


def _numbers(text: bytes) -> Floats:
    """Parse numbers between spaces, up to the first word that is not a number."""
    if not text.strip():
        return np.empty(0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return np.fromstring(text, sep=" ")
        except ValueError:
            return np.empty(0)


def _joined(parts: list[Entries], name: str) -> Entries:
    if not sum(len(part.labels) for part in parts):
        raise DataError(f"The file {name} has no rows; use a file with data.")
    return Entries(
        *(
            np.concatenate([getattr(part, field) for part in parts])
            for field in Entries.__dataclass_fields__
        )
    )


def _assembled(
    entries: Entries, name: str, n_features: int | None, zero_based: bool
) -> Svmlight:
    """Build the CSR array of the entries, without features beyond ``n_features``."""
    from scipy.sparse import csr_array

    n = len(entries.labels)
    rows, indices, values = sorted_entries(entries, name)
    columns = indices - (0 if zero_based else 1)
    p = int(columns.max(initial=-1)) + 1 if n_features is None else n_features
    within = columns < p
    n_dropped = len(np.unique(columns[~within]))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[within], minlength=n))])
    whole = np.int32 if indptr[-1] <= LARGEST_INDEX else np.int64
    places = columns[within].astype(whole), indptr.astype(whole)
    matrix = csr_array((values[within], *places), shape=(n, p))
    return Svmlight(_labels(entries.labels), matrix, zero_based, n_dropped)


def sorted_entries(entries: Entries, name: str) -> tuple[Integers, Integers, Floats]:
    """Rows, indices and values of the entries, sorted by row and index.

    Rows are counted from 0.

    Raises
    ------
    DataError
        If a row has an index twice.
    """
    rows = np.repeat(np.arange(len(entries.labels)), entries.lengths)
    indices, values = entries.indices, entries.values
    if ((np.diff(indices) <= 0) & (np.diff(rows) == 0)).any():
        order = np.lexsort((indices, rows))
        rows, indices, values = rows[order], indices[order], values[order]
    same = (np.diff(indices) == 0) & (np.diff(rows) == 0)
    if same.any():
        raise DataError(
            f"Line {entries.lines[rows[int(same.argmax())]]} of {name} has the same "
            "index twice; each feature may occur once in a row."
        )
    return rows, indices, values


def _labels(labels: Floats) -> DataColumn:
    whole = are_whole(labels)
    return pd.Series(labels.astype(np.int64) if whole else labels, name=LABEL_NAME)


def are_whole(labels: Floats) -> bool:
    """Whether all labels are whole numbers of 64 bits, and none is missing."""
    return bool((np.abs(labels) < 2.0**63).all() and (labels == np.rint(labels)).all())


def _wrong_line(block: bytes, line: int, name: str) -> DataError:
    """Return the error for the first line that is not in the format."""
    lines = enumerate(block.split(b"\n"), line)
    at, text = next(
        (k, content)
        for k, content in lines
        if _parsed(ASIDE.sub(b" ", content), k) is None
    )
    return DataError(
        f"Line {at} of {name} is {text[:60].decode('latin-1')!r}; the format is 'label "
        "index:value index:value ...', with finite labels and whole numbers up to "
        f"{LARGEST_INDEX:,} as indices."
    )

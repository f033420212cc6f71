"""Types of the columns of CSV files: those that hold all values of all files."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from pegasos_stats.data.files import SEPARATED, opened, separator_in
from pegasos_stats.data.scan.formats import (
    BLOCK,
    FALSE,
    SEPARATORS,
    TRUE,
    check_is_text,
    csv_batches,
    csv_header,
    csv_names,
    ending_of,
    trimmed,
    unreadable,
    unsigned,
)
from pegasos_stats.data.scan.kinds import BOOLEANS, NUMBERS, TEXT
from pegasos_stats.errors import ColumnError, DataError, OptionError, listing, shown
from pegasos_stats.writing import shown_path

if TYPE_CHECKING:
    import pyarrow as pa

UNLIKE = re.compile(r"In CSV column #(\d+):.* CSV conversion error .*value '(.*)'")
EMPTY, WHOLE, DOUBLE = "nothing", "whole numbers", "doubles"
WIDER = {  # what a column may hold after it held this, the narrowest first; or text
    EMPTY: (BOOLEANS, WHOLE, DOUBLE),
    BOOLEANS: (BOOLEANS,),
    WHOLE: (WHOLE, DOUBLE),
    DOUBLE: (DOUBLE,),
    TEXT: (),
}


def stated_types(types: object) -> tuple[tuple[str, str], ...]:
    """Read ``types=`` of `scan`.

    Raises
    ------
    OptionError
        If it is no dictionary of names of columns and kinds.

    Examples
    --------
    >>> stated_types({"zip": "text"})
    (('zip', 'text'),)
    """
    known = NUMBERS, TEXT, BOOLEANS
    if types is None:
        return ()
    if not isinstance(types, Mapping) or not all(
        isinstance(name, str) and kind in known for name, kind in types.items()
    ):
        raise OptionError(
            f"types={shown(types)} is not allowed; give a dictionary of columns and "
            f"what they hold, {listing(known)}, such as {{'zip': 'text'}}."
        )
    return tuple(types.items())


def agreed_types(
    files: Sequence[str], stated: Mapping[str, str]
) -> "dict[str, pa.DataType]":
    """Read CSV files for what each column holds, unless that is stated.

    Whole numbers, if all values of all files are; else doubles, if all are numbers;
    else booleans, if all are ``True`` or ``False``; else text.

    Raises
    ------
    DataError
        If a file cannot be read to its end.
    ColumnError
        If a stated column is in no file.
    """
    import pyarrow as pa

    kinds: dict[str, str] = {}
    for file in files:
        sep = SEPARATORS[str(ending_of(file))]
        try:
            names = csv_names(file, sep)
            _check_separator(file, names, sep)
            kinds |= {name: kinds.get(name, EMPTY) for name in names}
            wanted = [name for name in dict.fromkeys(names) if name not in stated]
            as_text = dict.fromkeys(wanted, pa.string())
            last = None
            for batch in csv_batches(file, wanted, 0, as_text, sep):
                for name, column in zip(wanted, batch.columns, strict=True):
                    check_is_text(file, column)
                    kinds[name] = widened(kinds[name], column)
                last = batch if batch.num_rows else last
            if last is not None and names[-1] in wanted:
                _check_closed(file, last.column(names[-1])[-1].as_py(), sep)
        except DataError:
            raise
        except Exception as error:  # of pyarrow, and of the system
            with suppress(OSError), opened(file) as handle:
                first = handle.readline(BLOCK).decode("utf-8", "replace").strip()
                _check_separator(file, first.split(sep), sep)
            raise unreadable(file, error) from None
    if unknown := [name for name in stated if name not in kinds]:
        raise ColumnError(
            f"types= states {listing(unknown[:1])}, which is a column of no CSV file; "
            f"they have {listing(kinds, 8)}."
        )
    of_kind = {
        **{EMPTY: pa.null(), BOOLEANS: pa.bool_(), TEXT: pa.string()},
        **{WHOLE: pa.int64(), DOUBLE: pa.float64(), NUMBERS: pa.float64()},
    }
    return {name: of_kind[kind] for name, kind in (kinds | dict(stated)).items()}


def _check_separator(file: str, names: Sequence[str], own: str) -> None:
    """Raise `DataError` if columns seem to be separated by something else."""
    if mark := separator_in(names, own):
        ending = {"\t": ".tsv", ",": ".csv"}.get(mark)
        cure = f"let its name end in {ending}"
        if ending is None:
            cure = f"write it with commas, or read it in memory with sep={mark!r}"
        raise DataError(
            f"The file {shown_path(file)} has the single column {names[0]!r}: its "
            f"columns are separated by {SEPARATED[mark]}; {cure}."
        )


def _check_closed(file: str, value: str | None, sep: str) -> None:
    """Raise `DataError` if the last value is all that follows a quote, never closed."""
    if value is None or "\n" not in value:
        return
    with opened(file) as handle:
        end = b""
        while part := handle.read(BLOCK):
            end = (end + part)[-BLOCK:]
    if not end.rstrip().endswith(b'"'):
        with opened(file) as handle:
            text = io.TextIOWrapper(handle, "utf-8", "replace", newline="")
            lines, first, after = csv.reader(text, delimiter=sep), 0, 0
            for _ in lines:
                first, after = after + 1, lines.line_num
        raise DataError(
            f"The file {shown_path(file)} cannot be read as CSV: a quote that line "
            f"{first} opens is never closed."
        )


def not_as_stated(
    file: str, error: Exception, stated: Mapping[str, str]
) -> ColumnError | None:
    """The error for a value that is not what ``types=`` states; None if it is another.

    Parameters
    ----------
    file : str
    error : Exception
        Of pyarrow.
    stated : dict
        Columns and what they hold.
    """
    found = UNLIKE.search(str(error)) if stated else None
    if found is None:
        return None
    name = csv_header(file, SEPARATORS[str(ending_of(file))])[int(found[1])]
    if name not in stated:
        return None
    return ColumnError(
        f"Column {listing([name])} holds {shown(found[2])} in {shown_path(file)}, and "
        f"types= states {stated[name]}; state 'text', leave it out of types= to have "
        "its type found, or mend the file."
    )


def widened(kind: str, column: "pa.StringArray") -> str:
    """What a column holds that held `kind` before, and now these values too.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [widened("nothing", pa.array(values)) for values in (["7", None], ["7", ".5"])]
    ['whole numbers', 'doubles']
    >>> widened("whole numbers", pa.array(["True"]))
    'text'
    """
    values = column.drop_null()
    if len(values) == 0:
        return kind
    return next((wide for wide in WIDER[kind] if _holds(values, wide)), TEXT)


def _holds(values: "pa.StringArray", kind: str) -> bool:
    """Whether values are all of a kind, by the rules by which CSV is read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == BOOLEANS:
        words = pa.array([*TRUE, *FALSE])
        return bool(pc.all(pc.is_in(values, value_set=words)).as_py())
    plain = trimmed(values)
    if kind == WHOLE:
        # Arrow takes 0x1f for a whole number; in memory it is text.
        if pc.any(pc.match_substring(plain, "x", ignore_case=True)).as_py():
            return False
        plain = unsigned(plain)
    # Of words, NAN for one, only those of `MISSING` are no text in memory.
    elif pc.any(pc.match_substring_regex(plain, "^[+-]?(?i:nan)")).as_py():
        return False
    try:
        pc.cast(plain, pa.int64() if kind == WHOLE else pa.float64())
    except pa.ArrowInvalid:
        return False
    return True

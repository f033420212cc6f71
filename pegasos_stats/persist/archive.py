"""The file of a saved model: a zip archive of arrays and one JSON text."""

import json
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import DataError
from pegasos_stats.outputs import Place, outputs

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]

FORMAT = "pegasos_stats model"
VERSION = 1


def write_archive(place: Place, header: Header, arrays: Arrays) -> None:
    """Write arrays and a header to a file: beside it, then put in its place.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    header = {"format": FORMAT, "version": VERSION} | header
    text = json.dumps(header, allow_nan=False, ensure_ascii=False)
    arrays = arrays | {"header": np.frombuffer(text.encode(), dtype=np.uint8)}
    with outputs() as files:
        np.savez_compressed(files.open(place), **arrays)  # type: ignore[arg-type]


def read_archive(path: str | PathLike[str]) -> tuple[Arrays, Header]:
    """Read arrays and header of a file, made sure to be ours.

    Raises
    ------
    DataError
        If the file is not there, is none of ours, is damaged or too new.
    """
    name = fspath(path)
    if not Path(name).is_file():
        what = "is a folder" if Path(name).is_dir() else "is not there"
        raise DataError(f"The file {name} {what}; give the path of a saved model.")
    try:
        with open(name, "rb") as handle:
            arrays = _arrays_of(handle)
        header: Header = json.loads(arrays.pop("header").tobytes())
        ours = header["format"] == FORMAT
        newer = ours and int(header["version"]) > VERSION
        known = not ours or isinstance(header["kind"], str)
    except Exception as error:  # whatever numpy, zipfile and json make of damage
        raise DataError(damaged(name, error)) from None
    if not ours or not known:
        raise DataError(_not_ours(name))
    if newer:
        raise DataError(_newer(name, header))
    return arrays, header


def _arrays_of(handle: IO[bytes]) -> Arrays:
    """Arrays of an archive; something else has a header that is none of ours."""
    nothing = {"header": np.frombuffer(b'{"format": null}', dtype=np.uint8)}
    if handle.read(2) != b"PK":
        return nothing
    handle.seek(0)
    with np.load(handle, allow_pickle=False) as archive:
        if "header" not in archive.files:
            return nothing
        return {key: archive[key] for key in archive.files}


def _newer(name: str, header: Header) -> str:
    return (
        f"The file {name} has format {header['version']}, written by pegasos_stats "
        f"{header.get('package', 'of a later version')}; this version reads formats up "
        f"to {VERSION}: install the newer one."
    )


def _not_ours(name: str) -> str:
    return (
        f"The file {name} is not a model saved by pegasos_stats; give one that save() "
        "or `pegasos-stats fit --save` wrote."
    )


def damaged(name: str, error: Exception) -> str:
    """Say in one sentence that a file is damaged, and how that showed."""
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return f"The file {name} is damaged or incomplete ({reason}); save it again."

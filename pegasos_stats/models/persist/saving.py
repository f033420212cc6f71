"""Fitted models in files: one archive of arrays and JSON, without pickle."""

import io
from collections.abc import Callable, Collection
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from pegasos_stats.data.formula import check_functions
from pegasos_stats.data.language.expressions import Functions
from pegasos_stats.errors import (
    DataError,
    OptionError,
    PegasosStatsError,
    listing,
    shown,
)
from pegasos_stats.models.persist import archive as files
from pegasos_stats.models.persist import designs, fit_fields
from pegasos_stats.models.persist.archive import MODEL, Arrays
from pegasos_stats.models.persist.header import Json, record
from pegasos_stats.models.persist.kinds import KINDS
from pegasos_stats.models.persist.values import packed, restored
from pegasos_stats.models.results import Results
from pegasos_stats.writing import checked_path, checked_place, outputs, shown_path


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds: the fit, and facts that were saved beside it.

    Attributes
    ----------
    result : LinearResults or KernelResults
    about : dict
        What `save` was given.
    package : str
        Version of pegasos_stats that wrote the file.
    """

    result: Results
    about: dict[str, Any]
    package: str


def save(
    result: Results,
    path: str | PathLike[str],
    *,
    about: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fitted model to a file; `pegasos_stats.save` says what is in it.

    Raises
    ------
    DataError
        If something in the fit cannot be written so that it comes back the same, or
        the file cannot be written, or another one is there that is no model.
    OptionError
        If `path` is none, or `about` no dictionary.
    """
    place = checked_place(path, MODEL, overwrite)
    facts = packed_facts(about)
    kind, fit, arrays = parts_of_fit(result)
    header = files.header_of(kind, facts, fit)
    try:  # whether it can be loaded, and then codes rows the same
        content = files.packed_archive(header, arrays)
        saved = _rebuilt(
            files.unpacked_archive(io.BytesIO(content)), result.design.functions
        )
        designs.check_same(result.design, saved.result.design)
    except DataError:
        raise
    except Exception as error:
        raise DataError(
            f"The model cannot be saved so that it comes back the same "
            f"({files.shortened(error)}); use labels and options of plain types in the "
            "fit."
        ) from None
    with outputs() as places:
        places.write(place, content)


def parts_of_fit(result: Results) -> tuple[str, Json, Arrays]:
    """Kind, fields and arrays of a fit.

    Raises
    ------
    DataError
        If it is none, or something in it cannot be written.
    """
    kinds = [kind for kind in KINDS if isinstance(result, KINDS[kind].type)]
    if not kinds:
        raise DataError(
            f"A {type(result).__name__} cannot be saved; give what fit() returns."
        )
    fit, arrays = fit_fields.fields_of(result), fit_fields.arrays_of(result)
    arrays |= KINDS[kinds[0]].out(result, fit)
    return kinds[0], fit, arrays


def packed_facts(about: object) -> Json:
    """Read ``about=``."""
    if not isinstance(about, dict | None):
        raise OptionError(
            f"about={shown(about)} is not allowed; give a dictionary of names and "
            "facts, such as {'study': 'pilot'}."
        )
    try:
        return packed(dict(about or {}))
    except RecursionError:
        raise OptionError(
            "about= holds itself, or is nested too deeply; give a dictionary of names "
            "and facts, such as {'study': 'pilot'}."
        ) from None


def load(
    path: str | PathLike[str],
    *,
    functions: dict[str, Callable[..., Any]] | None = None,
) -> Any:
    """Read a fitted model that `save` wrote; see `pegasos_stats.load`.

    Raises
    ------
    DataError, OptionError
        As `pegasos_stats.load` does.
    """
    return load_saved(path, functions).result


def load_saved(
    path: str | PathLike[str], functions: object = None, others: Collection[str] = ()
) -> Saved:
    """Read a fitted model with the facts that were saved beside it.

    Parameters
    ----------
    path : str or path
    functions : dict of str to callable, optional
    others : collection of str
        What files hold that are of no fit, for the message.

    Raises
    ------
    DataError, OptionError
        As for `load`.
    """
    known = check_functions(functions)
    with files.read_archive(path) as archive:
        if (kind := archive.header["kind"]) in others:
            raise DataError(
                f"The file {shown_path(checked_path(path))} holds a result of the type "
                f"{kind} and no fit; read it in "
                "Python by pegasos_stats.load(path), or give a file that "
                "`pegasos-stats fit --save` wrote."
            )
        return _rebuilt(archive, known)


def _rebuilt(archive: files.Archive, functions: Functions) -> Saved:
    """Put together what an archive holds, every field being checked."""
    header = archive.header
    if header["kind"] not in KINDS:
        raise DataError(
            f"The file holds a {files.shortened(header['kind'])!r} model; known are "
            f"{listing(KINDS)}."
        )
    about = restored(header["about"])
    if type(about) is not dict:
        raise ValueError("about is no dictionary")
    result = rebuilt_fit(archive, functions)
    return Saved(result, about, header["package"])


def rebuilt_fit(archive: files.Archive, functions: Functions) -> Results:
    """Put a fit together again, every field being checked.

    Raises
    ------
    ValueError and others
        If the fit is not as it was written.
    DataError
        If its formula calls a function that is not given.
    """
    header = archive.header
    fit, kind = header["fit"], KINDS[header["kind"]]
    try:
        with np.errstate(all="ignore"):
            record(fit, "the fit", (*sorted(kind.own), *sorted(fit_fields.FIELDS)))
            fields = fit_fields.FitFields(fit, archive, functions)
            result = kind.back(fields, fit, archive)
            fields.put_into(result)
    except DataError:
        raise
    except PegasosStatsError as error:
        raise ValueError(str(error)) from None
    archive.check_all_taken()
    return result

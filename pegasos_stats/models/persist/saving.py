"""Fitted models in files: one archive of arrays and JSON, without pickle."""

from collections.abc import Callable
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
    PegasosStatsWarning,
    listing,
    shown,
    warn_caller,
)
from pegasos_stats.models.persist import archive as files
from pegasos_stats.models.persist import designs, fit_fields
from pegasos_stats.models.persist.container import MODEL, Arrays
from pegasos_stats.models.persist.header import Json, record
from pegasos_stats.models.persist.kinds import KINDS
from pegasos_stats.models.persist.values import packed, restored
from pegasos_stats.models.results import Results
from pegasos_stats.writing import checked_place, outputs


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
    checked : bool
        Whether a digest has shown that the file is as it was written; one of format 1
        has none.
    """

    result: Results
    about: dict[str, Any]
    package: str
    checked: bool = True


def save(
    result: Results,
    path: str | PathLike[str],
    *,
    about: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fitted model to a file.

    The file is a zip archive of arrays and one JSON text, as numpy writes it (npz),
    sealed by a digest of the whole. It has every bit of the coefficients and all that
    predictions on new data need: coding of the labels and of the predictors, and what
    the summary shows. The covariance of the coefficients is in it if it was computed
    before, or there are no more than 256 and it takes little time. The file holds no
    pickle, and no training rows but the support of a kernel model; a digest of them
    says whether rows are those of the fit. The same fit gives the same bytes. An
    earlier model is replaced as a whole, with its permissions; a symbolic link stays,
    and what it leads to is replaced.

    The digest finds damage. It is no signature: whoever can write the file can write a
    new digest.

    Parameters
    ----------
    result : LinearResults or KernelResults
    path : str or path
    about : dict, optional
        Further facts of text, numbers and dates to keep with the model.
    overwrite : bool
        Whether another file than a model may be replaced.

    Raises
    ------
    DataError
        If something in the fit cannot be written so that it comes back the same, or
        the file cannot be written, or another one is there that is no model.
    OptionError
        If `path` is none, or `about` no dictionary.

    See Also
    --------
    load : reads it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> result = ps.svm("digit ~ .", train).fit(ps.Pegasos(epochs=20, seed=443))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "digits.model"
    >>> save(result, path)
    >>> bool((load(path).params == result.params).all())
    True
    """
    from importlib.metadata import version

    place = checked_place(path, MODEL, overwrite)
    facts = packed_facts(about)
    kind, fit, arrays = parts_of_fit(result)
    header: files.Header = {
        "package": version("pegasos_stats"),
        "kind": kind,
        "about": facts,
        "fit": fit,
    }
    try:  # whether it can be loaded, and then codes rows the same
        content = files.packed_archive(header, arrays)
        saved = _rebuilt(files.unpacked_archive(content), result.design.functions)
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
        places.open(place).write(content)


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
    """Read a fitted model that `save` wrote.

    Parameters
    ----------
    path : str or path
    functions : dict of str to callable, optional
        The functions that the model was given for its formula: a file holds only their
        names.

    Returns
    -------
    LinearResults or KernelResults
        As it was saved, for everything that does not need the training rows: those
        are not in the file, and ``predict()`` without data raises `DataError`.

    Raises
    ------
    DataError
        If the file is not there, is not a saved model, is damaged or changed, was
        written by a newer version, or calls a function that is not given.
    OptionError
        If `functions` is no dictionary of names and functions.

    Warns
    -----
    PegasosStatsWarning
        If the file is of format 1, which has no digest, so that a change of it may go
        unnoticed.

    Notes
    -----
    Nothing in a file is run. A formula is read into a tree of columns, numbers, text,
    arithmetic and known functions, and columns of new data are computed from the tree.

    The digest, SHA-256 of the whole file, finds damage, and changes made without
    writing it anew. It is no signature: whoever can write the file can write a new
    digest. Load models only from where you would take a script.

    Every field is checked, so that a file that was made up ends in an error as well.
    Loading takes the memory that the arrays take, which is no more than the size of
    the file, and less than 64 MiB beside; a file of format 1, which is compressed,
    may inflate to 64 MiB, or to 32 times its size if that is more.

    Examples
    --------
    >>> load("nosuch.model")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: The file nosuch.model is not there; give ...
    """
    return load_saved(path, functions).result


def load_saved(path: str | PathLike[str], functions: object = None) -> Saved:
    """Read a fitted model with the facts that were saved beside it.

    Raises
    ------
    DataError, OptionError
        As for `load`.

    Warns
    -----
    PegasosStatsWarning
        As for `load`.
    """
    known = check_functions(functions)
    with files.read_archive(path) as archive:
        saved = _rebuilt(archive, known)
    if not saved.checked:
        warn_caller(
            "The model was saved in format 1, which has no digest: that its file is as "
            "it was written is not checked; save it again.",
            PegasosStatsWarning,
        )
    return saved


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
    return Saved(result, about, header["package"], archive.checked)


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
    fit, kind = fit_fields.EARLIER | header["fit"], KINDS[header["kind"]]
    try:
        with np.errstate(all="ignore"):
            fit = dict.fromkeys(kind.later) | fit
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

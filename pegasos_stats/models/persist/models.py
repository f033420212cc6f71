"""Fitted models in files: one archive of arrays and JSON, without pickle."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from pegasos_stats.data.design import Design
from pegasos_stats.data.formula import check_functions
from pegasos_stats.data.language.nodes import Functions
from pegasos_stats.errors import (
    DataError,
    OptionError,
    PegasosStatsError,
    PegasosStatsWarning,
    listing,
    shown,
    warn_caller,
)
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.persist.absent import Absent
from pegasos_stats.models.persist.archive import (
    Archive,
    Header,
    packed_archive,
    read_archive,
    shortened,
    unpacked_archive,
)
from pegasos_stats.models.persist.common import (
    FIELDS,
    Common,
    common_arrays,
    common_out,
)
from pegasos_stats.models.persist.container import Arrays
from pegasos_stats.models.persist.covariances import (
    cov_type_in,
    covariance_in,
    covariance_out,
)
from pegasos_stats.models.persist.designs import check_same
from pegasos_stats.models.persist.earlier import MODEL
from pegasos_stats.models.persist.fields import items, record, whole
from pegasos_stats.models.persist.values import packed, restored
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.kernel_problem import (
    KernelFunction,
    KernelProblem,
    KernelSolution,
    checked_kernel,
    support_of,
)
from pegasos_stats.solvers.problem import Problem, Solution
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
    pickle, and no training rows but the support of a kernel model. The same fit gives
    the same bytes. An earlier model is replaced as a whole, with its permissions; a
    symbolic link stays, and what it leads to is replaced.

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
    if not isinstance(about, dict | None):
        raise OptionError(
            f"about={shown(about)} is not allowed; give a dictionary of names and "
            "facts, such as {'study': 'pilot'}."
        )
    kind, arrays = _kind_of(result), common_arrays(result)
    header: Header = {
        "package": version("pegasos_stats"),
        "kind": kind,
        "about": packed(dict(about or {})),
        "fit": common_out(result),
    }
    arrays |= KINDS[kind][1](result, header["fit"])
    content = _made_sure(header, arrays, result.design)
    with outputs() as files:
        files.open(place).write(content)


def _made_sure(header: Header, arrays: Arrays, design: Design) -> bytes:
    """Content of a file, made sure that it can be loaded and codes rows the same."""
    try:
        content = packed_archive(header, arrays)
        saved = _rebuilt(unpacked_archive(content), design.functions)
        check_same(design, saved.result.design)
    except DataError:
        raise
    except Exception as error:
        raise DataError(
            f"The model cannot be saved so that it comes back the same "
            f"({shortened(error)}); use labels and options of plain types in the fit."
        ) from None
    return content


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


def load_saved(path: str | PathLike[str], functions: Any = None) -> Saved:
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
    with read_archive(path) as archive:
        saved = _rebuilt(archive, known)
    if not saved.checked:
        warn_caller(
            "The model was saved in format 1, which has no digest: that its file is as "
            "it was written is not checked; save it again.",
            PegasosStatsWarning,
        )
    return saved


def _rebuilt(archive: Archive, functions: Functions) -> Saved:
    """Put together what an archive holds, every field being checked."""
    header = archive.header
    if header["kind"] not in KINDS:
        raise DataError(
            f"The file holds a {shortened(header['kind'])!r} model; known are "
            f"{listing(KINDS)}."
        )
    about = restored(header["about"])
    if type(about) is not dict:
        raise ValueError("about is no dictionary")
    try:
        with np.errstate(all="ignore"):
            fit, kind = header["fit"], KINDS[header["kind"]]
            result = _result(fit, *kind[2:], archive, functions)
    except DataError:
        raise
    except PegasosStatsError as error:
        raise ValueError(str(error)) from None
    archive.check_all_taken()
    return Saved(result, about, header["package"], archive.checked)


def _kind_of(result: Any) -> str:
    for kind, (type_, _, _, _) in KINDS.items():
        if isinstance(result, type_):
            return kind
    raise DataError(
        f"A {type(result).__name__} cannot be saved; give what fit() returns."
    )


def _result(
    fit: Header,
    build: Callable[..., Results],
    own: set[str],
    archive: Archive,
    functions: Functions,
) -> Results:
    """Put a fit together whose kind has these fields of its own."""
    record({"seconds": None} | fit, "the fit", FIELDS | own)
    common = Common(fit, archive, functions)
    result = build(common, fit, archive)
    common.put_into(result)
    return result


def _linear_out(result: Any, fit: Header) -> Arrays:
    arrays: Arrays = {"beta": result.solution.beta, "dual": result.solution.dual}
    return arrays | covariance_out(result, fit)


def _linear_in(common: Common, fit: Header, archive: Archive) -> LinearResults:
    n, p = common.n, common.p
    common.check_width(p)
    beta, dual = archive.take("beta", "f8", p), archive.take("dual", "f8", n)
    if not (np.isfinite(beta).all() and np.isfinite(dual).all()):
        raise ValueError("a coefficient is not finite")
    cov_type, k = cov_type_in(fit["cov_type"]), p + common.intercept
    result = LinearResults(
        problem=Problem(Absent((n, p)), **common.problem),
        solution=Solution(beta, common.alpha, dual, *common.counts),
        cov_type=cov_type,
        **common.results,
    )
    estimated = covariance_in(fit["covariance"], k, cov_type, archive)
    if estimated is not None:
        vars(result)["estimated"] = estimated
    return result


def _kernel_out(result: Any, fit: Header) -> Arrays:
    """Kernel, counts, and the rows that predictions depend on."""
    problem, found = result.problem, result.solution
    fit["kernel"] = [asdict(problem.kernel), int(problem.memory)]
    arrays: Arrays = {"counts": found.counts, "g": found.g}
    if result.columns is not None:
        arrays["columns"] = result.columns
    else:
        arrays["support"] = problem.X[support_of(problem, found)[0]]
    return arrays


def _kernel_in(common: Common, fit: Header, archive: Archive) -> KernelResults:
    n, p = common.n, common.p
    options, memory = items(fit["kernel"], "the kernel", 2)
    kernel = checked_kernel(**options, p=p)
    if kernel != KernelFunction(**options) or common.loss != "hinge":
        raise ValueError(f"no kernel has {options}")
    counts, g = archive.take("counts", "i8", n), archive.take("g", "f8", n)
    if (counts < 0).any() or not np.isfinite(g).all() or common.counts[0] < 1:
        raise ValueError("a count is below zero, or a score not finite")
    weighted = counts if common.weights is None else counts * common.weights
    rows = np.flatnonzero(weighted)
    columns = support = None
    if kernel.name == "precomputed":
        columns = _columns(archive, common)
    else:
        common.check_width(p)
        support = archive.take("support", "f8 f4", len(rows), p)
        if not np.isfinite(support).all():
            raise ValueError("a support row is not finite")
    X = Absent((n, p), None if support is None else rows, support)
    return KernelResults(
        problem=KernelProblem(
            X,
            **common.problem,
            kernel=kernel,
            memory=whole(memory, "memory", 1),
        ),
        solution=KernelSolution(counts, g, common.alpha, *common.counts),
        columns=columns,
        **common.results,
    )


def _columns(archive: Archive, common: Common) -> Any:
    """Columns of the rows used, among those of a precomputed kernel."""
    columns, width = archive.take("columns", "i8", common.n), len(common.design.names)
    good = (columns >= 0).all() and (columns < width).all()
    if not good or len(np.unique(columns)) < common.n or common.p != common.n:
        raise ValueError(f"columns are not {common.n} of {width}")
    return columns


# Kinds of results: their type, what is written beside what all have, how they are put
# together again, and the fields of a header that they have alone.
KINDS: dict[str, tuple[type, Callable[..., Arrays], Callable[..., Results], set[str]]]
KINDS = {
    "linear": (LinearResults, _linear_out, _linear_in, {"cov_type", "covariance"}),
    "kernel": (KernelResults, _kernel_out, _kernel_in, {"kernel"}),
}

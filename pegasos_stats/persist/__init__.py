"""Objects in files: one archive of arrays and JSON, without pickle."""

import io
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from os import PathLike

import numpy as np

from pegasos_stats.data.language.formula import check_functions
from pegasos_stats.data.language.vocabulary import Functions
from pegasos_stats.errors import DataError, OptionError, PegasosStatsError, one_line
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.results import Results
from pegasos_stats.persist import archive, codec, fits  # noqa: F401 fits fills the rules
from pegasos_stats.persist.archive import MODEL, Arrays, Header, Json, Value
from pegasos_stats.persist.codec import ArrayReader, ArrayWriter, check_same
from pegasos_stats.writing import outputs, validated_output_path

# What a file may hold, and the modules of classes that are not public names.
KINDS = dict.fromkeys(
    (
        *("CalibratedResults", "ConfusionMatrix", "CrossValidation", "DecisionCurve"),
        *("ErrorComparison", "Folds", "KernelResults", "KernelTuning", "LabelCoding"),
        *("LambdaPath", "LinearResults", "ModelComparison", "PairedComparison"),
        *("ParityCheck", "PooledResults", "PrecisionRecall", "Reliability"),
        *("RocComparison", "SessionInfo", "SolverComparison", "Thresholds"),
    ),
    "",
) | {
    "ConfusionReport": ".metrics.caret",
    "ContrastTests": ".models.inference.wald",
    "JointTest": ".models.inference.wald",
    "LikelihoodRatioTest": ".models.diagnostics",
    "Margins": ".models.effects",
    "Summary": ".tables",
}
__all__ = ["Saved", "load", "load_saved", "save"]

# What a study's fields have to be good for, beside being shown.
USED = ("tidy", "glance", "table", "by_class", "overall", "calibration_error")


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds: the object, and facts that were saved beside it.

    Attributes
    ----------
    result : LinearResults, KernelResults or another object
    about : dict
        What `save` was given.
    package : str
        Version of pegasos_stats that wrote the file.
    """

    result: Value
    about: dict[str, Json]
    package: str


@suggest_arguments
def save(
    result: object,
    path: str | PathLike[str],
    *,
    about: dict[str, Json] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fit, a study or a table to a file.

    The file is a zip archive of arrays and one JSON text, as numpy writes it (npz),
    sealed by a digest of the whole. It has every bit of the coefficients and all that
    predictions on new data need: coding of the labels and of the predictors, and what
    the summary shows. The covariance of the coefficients is in it if it was computed
    before, or there are no more than 256 and it takes little time. Nothing is solved
    again: how far a fit is from its minimum is what its certificate says, unless a
    summary has computed more. The file holds no
    pickle, and no predictors of training rows but of the support of a kernel model,
    but their labels, weights, offsets and dual weights; a spline keeps the smallest and
    the largest value of its column. A digest says whether rows are those
    of the fit. The same fit gives the same bytes. An
    earlier file of this kind is replaced as a whole, with its permissions; a symbolic
    link stays, and what it leads to is replaced.

    The digest finds damage. It is no signature: whoever can write the file can write a
    new digest.

    Parameters
    ----------
    result : LinearResults or KernelResults, or another object of the package
        Cross-validations, folds, paths of lambda, tuned kernels, calibrated fits,
        thresholds, reliabilities, curves, pooled fits, comparisons of models, errors,
        predictions, areas and solvers, confusion tables and their reports, margins and
        tests, checks against R, summaries.
    path : str or path
    about : dict, optional
        Further facts of text, numbers and dates to keep with it.
    overwrite : bool
        Whether another file than one of this kind may be replaced.

    Raises
    ------
    DataError
        If something in the object cannot be written so that it comes back the same, or
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
    >>> model = ps.logit("digit ~ .", train, lam=1.0)
    >>> result = model.fit()
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> save(result, folder / "digits.model")
    >>> load(folder / "digits.model").params.equals(result.params)
    True
    >>> save(ps.cross_validate(model, folds=5, seed=443), folder / "digits.study")
    >>> load(folder / "digits.study")
    Cross-validation
    ...
    """
    place = validated_output_path(path, MODEL, overwrite)
    content = _content_of(result, _facts(about))
    with outputs() as places:
        places.write(place, content)


@suggest_arguments
def load(
    path: str | PathLike[str],
    *,
    functions: dict[str, Callable[..., object]] | None = None,
) -> Value:
    """Read what `save` wrote.

    Parameters
    ----------
    path : str or path
    functions : dict of str to callable, optional
        The functions that the model was given for its formula, and those of your own
        among the metrics: a file holds only their names.

    Returns
    -------
    LinearResults, KernelResults, or what else was saved
        As it was saved, for everything that does not need the training rows: their
        predictors are not in the file, and ``predict()`` without data raises
        `DataError`, as does ``refit()`` of a study.

    Raises
    ------
    DataError
        If the file is not there, is not a saved model, is damaged or changed, is of
        the format of another version, or calls a function that is not given.
    OptionError
        If `functions` is no dictionary of names and functions.

    Notes
    -----
    Nothing in a file is run. A formula is read into a tree of columns, numbers, text,
    arithmetic and known functions, and columns of new data are computed from the tree.

    The digest, SHA-256 of the whole file, finds damage, and changes made without
    writing it anew. It is no signature: whoever can write the file can write a new
    digest. Load models only from where you would take a script.

    Every field is checked, so that a file that was made up ends in an error as well.
    Loading takes the memory that the arrays take, which is no more than the size of
    the file, and less than 64 MiB beside.

    Examples
    --------
    >>> load("nosuch.model")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: The file nosuch.model is not there; give ...
    """
    return load_saved(path, functions).result


def load_saved(path: str | PathLike[str], functions: object = None) -> Saved:
    """Read what `save` wrote, with the facts that were saved beside it.

    Parameters
    ----------
    path : str or path
    functions : dict of str to callable, optional

    Raises
    ------
    DataError, OptionError
        As for `load`.
    """
    known = check_functions(functions)
    with archive.open_npz(path) as (header, arrays):
        found = _rebuilt(header, arrays, known)
        about = codec.any_back(header["about"], ArrayReader({}, {}))
        check_same(header["about"], codec.any_out(dict(about), ArrayWriter()))
        return Saved(found, about, header["package"])


def _class_of(kind: str) -> Value:
    """The class of a name, or `DataError` if no file holds such objects."""
    if kind not in KINDS:
        raise DataError(
            f"No file holds a {one_line(kind)}; give what fit() returns, or a study "
            "or table of the package."
        )
    return getattr(import_module(f"pegasos_stats{KINDS[kind]}"), kind)


def _facts(about: object) -> Json:
    """Read ``about=``, which has no arrays."""
    writer = ArrayWriter()
    if isinstance(about, dict | None):
        with suppress(RecursionError):  # it holds itself, or is nested too deeply
            facts = codec.any_out(dict(about or {}), writer)
            if not writer.arrays():
                return facts
    raise OptionError(
        "is not allowed; give a dictionary of names and facts without arrays, such as "
        "{'study': 'pilot'}.",
        "about",
        about,
    )


def _content_of(kept: object, facts: Json) -> bytes:
    """The content of a file, which can be loaded and is then written the same."""
    kind = type(kept).__name__
    _class_of(kind)
    try:
        content, tree, writer = _packed(kept, facts)
        found = _rebuilt(*archive.unpack(io.BytesIO(content)), writer.functions)
        again = ArrayWriter()
        trees = tree, codec.write(type(kept), found, again)
        if len({*map(archive.json_text, trees)}) > 1 or not again.holds_same(writer):
            raise ValueError("a field would be another one")
    except DataError:
        raise
    except Exception as error:
        raise DataError(
            f"The {kind} cannot be saved so that it comes back the same "
            f"({one_line(error)}); use labels and options of plain types in it."
        ) from None
    return content


def _packed(kept: object, facts: Json) -> tuple[bytes, Json, ArrayWriter]:
    """The content of a file, with the tree and the arrays that are in it."""
    writer, cls = ArrayWriter(), type(kept)
    tree = codec.write(cls, kept, writer)
    return archive.pack(cls.__name__, facts, tree, writer.arrays()), tree, writer


def _rebuilt(header: Header, arrays: Arrays, functions: Functions) -> Value:
    """Put together what an archive holds, every field being checked."""
    cls, stored = _class_of(header["kind"]), header["object"]
    reader = ArrayReader(arrays, dict(functions))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = codec.read(cls, stored, reader)
            reader.check_all_taken()
            check_same(stored, codec.write(cls, found, ArrayWriter()))
            if not isinstance(found, Results):
                _use(found)
    except DataError:
        raise
    except PegasosStatsError as error:
        why = "What is there cannot be part of a saved model"
        raise DataError(f"{why}: {one_line(error)}.") from None
    return found


def _use(found: object) -> None:
    """Ask for what is computed from several fields; errors of ours are answers too."""
    for show in (repr, str, getattr(type(found), "_repr_html_", repr)):
        show(found)
    for name in USED:
        with suppress(PegasosStatsError):
            answer = getattr(found, name, None)
            if callable(answer):
                answer()

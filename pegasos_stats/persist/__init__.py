"""Save objects as files of arrays and JSON, without pickle, and load them."""

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

# Classes that a file may contain, each with its module if it has no public name.
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
CLASSIFIERS = {"KernelSVMClassifier", "LogitClassifier", "SVMClassifier"}
__all__ = ["Saved", "load", "load_saved", "save"]

# Methods and properties that must work after loading, as must printing.
USED = ("tidy", "glance", "table", "by_class", "overall", "calibration_error")


@dataclass(frozen=True, eq=False)
class Saved:
    """Content of a file: the object, and facts that were saved with it.

    Attributes
    ----------
    result : LinearResults, KernelResults or another object
    about : dict
        Argument `about` of `save`.
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

    The file consists of one JSON text and arrays, with a digest of the whole. It
    contains the exact coefficients, the coding of labels and predictors for predictions
    on new data, and the content of the summary. The covariance of the coefficients is
    included if it was computed before. Otherwise saving computes a sandwich covariance
    of n rows in memory and p columns if ``p <= 256`` and ``n p^2 <= 1e10``. Saving
    never draws resamples: before you save an SVM, call ``summary()``, or ``conf_int()``
    if the summary omits standard errors as slow. Then the file contains the standard
    errors. The file also contains the certificate's bound on the distance of the
    objective from its minimum, or a better bound that ``summary()`` or `shortfall`
    computed.

    The file contains no pickle. It contains labels, weights, offsets and dual weights
    of the training rows, but no predictors, except the support rows of a kernel model;
    a spline stores the smallest and the largest value of its column. A digest of the
    rows identifies training data. Two files of one result are equal, unless standard
    errors, a summary or `shortfall` were computed in between. An earlier file of this
    kind is replaced as a whole; the new file has its permissions. If `path` is a
    symbolic link, the target of the link is replaced.

    The digest detects damage. It is not a signature: anyone who can write the file can
    write a new digest.

    Parameters
    ----------
    result : LinearResults or KernelResults, or another object of the package
        Cross-validations, folds, paths of lambda, tuned kernels, calibrated fits,
        thresholds, reliabilities, curves, pooled fits, comparisons (of models, errors,
        predictions, areas or solvers), confusion tables and their reports, margins,
        tests, checks against R, summaries. Data frames are not saved.
    path : str or path
    about : dict, optional
        Facts to store with the object: text, numbers and dates.
    overwrite : bool
        Whether a file of another kind may be replaced.

    Raises
    ------
    DataError
        If the object cannot be saved without loss, the file cannot be written, or a
        file of another kind exists.
    OptionError
        If `path` is not a path, or `about` not a dictionary.

    See Also
    --------
    load : Read the file.

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
        Your functions in the formula and among the metrics, by name: a file contains
        only the names.

    Returns
    -------
    LinearResults, KernelResults, or another saved object
        It supports everything that does not need the predictors of the training rows,
        which are not in the file. ``predict()`` without data and ``refit()`` of a study
        raise `DataError`.

    Raises
    ------
    DataError
        If the file does not exist, is not a saved model, is damaged or changed, has the
        format of another version, or calls a function that is not in `functions`.
    OptionError
        If `functions` is not a dictionary of names and functions.

    Notes
    -----
    No code in a file is executed. A formula is parsed into a tree of columns, numbers,
    text, arithmetic and listed functions. Columns of new data are computed from this
    tree.

    The digest, SHA-256 of the whole file, detects damage. It is not a signature: anyone
    who can write the file can write a new digest. Load models only from sources whose
    scripts you would run.

    Every field is checked, so that a forged file raises an error as well. Loading needs
    memory for the arrays, at most the size of the file, plus less than 64 MiB.

    Examples
    --------
    >>> load("nosuch.model")
    Traceback (most recent call last):
    pegasos_stats.errors.DataError: The file nosuch.model does not exist; pass ...
    """
    return load_saved(path, functions).result


def load_saved(path: str | PathLike[str], functions: object = None) -> Saved:
    """Read what `save` wrote, with the facts that were saved with it.

    Parameters
    ----------
    path : str or path
    functions : dict of str to callable, optional

    Raises
    ------
    DataError, OptionError
        As for `load`.
    """
    named_functions = check_functions(functions)
    with archive.opened(path) as (header, arrays):
        result = _rebuilt(header, arrays, named_functions)
        about = codec.any_back(header["about"], ArrayReader({}, {}))
        check_same(header["about"], codec.any_out(dict(about), ArrayWriter()))
        return Saved(result, about, header["package"])


def _class_of(kind: str) -> Value:
    """Return the class of a name; raise `DataError` if it cannot be saved."""
    if kind not in KINDS:
        advice = "what fit() returns, or a study or table of the package"
        if kind in CLASSIFIERS:  # its fit() returns the classifier itself
            advice = "classifier.result_, or joblib.dump() the classifier"
        raise DataError(
            f"A value of type {one_line(kind)} cannot be saved; pass {advice}."
        )
    return getattr(import_module(f"pegasos_stats{KINDS[kind]}"), kind)


def _facts(about: object) -> Json:
    """Encode ``about=``, which must not contain arrays."""
    writer = ArrayWriter()
    if isinstance(about, dict | None):
        with suppress(RecursionError):  # it contains itself, or is nested too deeply
            facts = codec.any_out(dict(about or {}), writer)
            if not writer.arrays():
                return facts
    raise OptionError(
        "is not allowed; use a dictionary of names and facts without arrays, such as "
        "{'study': 'pilot'}.",
        "about",
        about,
    )


def _content_of(result: object, facts: Json) -> bytes:
    """Return the content of a file."""
    from importlib.metadata import version

    kind, writer = type(result).__name__, ArrayWriter()
    cls = _class_of(kind)
    try:
        tree = codec.write(cls, result, writer)
    except DataError:
        raise
    except Exception as error:
        raise DataError(
            f"The {kind} cannot be saved ({one_line(error)}); use only text, numbers, "
            "booleans and dates as its labels and options."
        ) from None
    header = {"version": archive.VERSION, "package": version("pegasos_stats")}
    header |= {"kind": kind, "about": facts, "object": tree}
    return archive.pack(header, writer.arrays())


def _rebuilt(header: Header, arrays: Arrays, functions: Functions) -> Value:
    """Rebuild the object of a file and check every field."""
    cls, stored = _class_of(header["kind"]), header["object"]
    reader = ArrayReader(arrays, dict(functions))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = codec.restore(cls, stored, reader)
            reader.check_all_used()
            check_same(stored, codec.write(cls, result, ArrayWriter()))
            if not isinstance(result, Results):
                _use(result)
    except DataError:
        raise
    except PegasosStatsError as error:
        why = "The file contains values that a saved model cannot have"
        raise DataError(f"{why}: {one_line(error)}.") from None
    return result


def _use(result: object) -> None:
    """Print an object and call `USED`, to detect fields that contradict each other.

    Exceptions that the package raises on purpose are ignored in calls of `USED`.
    """
    for show in (repr, str, getattr(type(result), "_repr_html_", repr)):
        show(result)
    for name in USED:
        with suppress(PegasosStatsError):
            answer = getattr(result, name, None)
            if callable(answer):
                answer()

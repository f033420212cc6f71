"""To save and load fits, and whatever else a user keeps."""

import dataclasses
import io
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from os import PathLike
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Matrix
from pegasos_stats.data.formula import check_functions
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.expressions import Functions
from pegasos_stats.data.sample import Sample
from pegasos_stats.errors import DataError, PegasosStatsError
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.metrics.matrix import ConfusionMatrix
from pegasos_stats.models.base import Model
from pegasos_stats.models.kernel import KernelSVM
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.persist import archive as files
from pegasos_stats.models.persist import designs, header
from pegasos_stats.models.persist import saving as fits
from pegasos_stats.models.persist.archive import MODEL, Archive, Arrays
from pegasos_stats.models.persist.data_fields import (
    OF_DATA,
    DataFields,
    arrays_of_data,
    data_of,
)
from pegasos_stats.models.persist.fit_fields import GIVEN, packed_solver, solver_in
from pegasos_stats.models.persist.header import Json, items, one_of, record, same, text
from pegasos_stats.models.persist.kinds import (
    KINDS,
    Absent,
    columns_in,
    kernel_of,
    kernel_read,
)
from pegasos_stats.models.persist.saving import parts_of_fit, rebuilt_fit
from pegasos_stats.models.persist.values import (
    cannot_hold,
    packed,
    packed_coding,
    restored,
    unpacked_coding,
)
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.keeping.frames import (
    frame_in,
    frame_out,
    index_in,
    index_out,
)
from pegasos_stats.studies.keeping.shelves import Emptying, Filling
from pegasos_stats.studies.reliability import Reliability
from pegasos_stats.studies.selection.fold_metrics import (
    LARGER_IS_BETTER,
    MEASURES,
    Metric,
    function_of,
    own_metric,
)
from pegasos_stats.studies.selection.folds import Folds, Split
from pegasos_stats.writing import checked_place, outputs

MODELS: dict[str, type[SVM | Logit | KernelSVM]] = {
    "SVM": SVM,
    "Logit": Logit,
    "KernelSVM": KernelSVM,
}
NOT_SAVED = (
    "The training rows are not in the file of a study; build the model from its data "
    "again, with the lam that was chosen, and fit it."
)


def inside_out(head: Json, arrays: Arrays, filling: Filling) -> Json:
    """Write a header with arrays of its own."""
    return [head, {name: filling.put(array) for name, array in arrays.items()}]


def inside_in(stored: Json, emptying: Emptying) -> Archive:
    """Undo `inside_out`."""
    head, arrays = items(stored, "a part", 2)
    return Archive(head, {name: emptying.take(of) for name, of in arrays.items()})


def fit_out(result: Results, filling: Filling) -> Json:
    """Write a fit, as its own file has it."""
    kind, fit, arrays = parts_of_fit(result)
    _note_design(result, fit, filling)
    return inside_out({"kind": kind, "fit": fit}, arrays, filling)


def fit_in(stored: Json, emptying: Emptying) -> Results:
    """Undo `fit_out`."""
    inside = inside_in(stored, emptying)
    head = record(inside.header, "a fit", ("kind", "fit"))
    one_of(head["kind"], "the kind of a fit", KINDS)
    return rebuilt_fit(inside, emptying.functions)


def model_out(model: Model, filling: Filling) -> Json:
    """Write a model: its options and labels, without its rows.

    Raises
    ------
    DataError
        If it is of no known class, or its formula cannot be saved.
    """
    kind = type(model).__name__
    if MODELS.get(kind) is not type(model):
        raise DataError(f"A {kind} cannot be saved; give one of ps.svm() or the like.")
    problem, sample, arrays = model.problem, model._sample, arrays_of_data(model)
    data = data_of(model)
    _note_design(model, data, filling)
    arrays["kept"] = sample.kept
    kernel = None
    if isinstance(model, KernelSVM):
        kernel = kernel_of(model.problem)
        if model._columns is not None:
            arrays["columns"] = model._columns
    index = index_out(sample.index, filling)
    head = {"kind": kind, "data": data, "kernel": kernel, "index": index}
    assert len(sample.index) == problem.n
    return inside_out(head, arrays, filling)


def model_in(stored: Json, emptying: Emptying) -> Model:
    """Undo `model_out`."""
    head, _ = items(stored, "a model", 2)
    record(head, "a model", ("kind", "data", "kernel", "index"))
    data = record(head["data"], "a model", sorted(OF_DATA))
    index = index_in(head["index"], emptying)
    inside = inside_in(stored, emptying)
    kind = MODELS[one_of(head["kind"], "the kind of a model", MODELS)]
    fields = DataFields(data, inside, emptying.functions)
    n, p = fields.n, fields.p
    if len(index) != n:
        raise ValueError(f"there are {len(index)} labels of {n} rows")
    if fields.loss != getattr(kind, "loss", "hinge"):
        raise ValueError(f"a {kind.__name__} has the loss {fields.loss}")
    kept = inside.take("kept", "b1", None)
    rows: Any = Absent((n, p), fields.digest, advice=NOT_SAVED)
    model: Any = kind.__new__(kind)
    model._sample = Sample(
        X=rows,
        y=fields.y,
        index=index,
        design=fields.design,
        coding=fields.coding,
        dropped=fields.dropped,
        kept=kept,
        weights=fields.weights,
        balanced=fields.balanced,
        counted=fields.freq_weights,
        offset=fields.offset,
        offsets=fields.offsets,
    )
    if kind is KernelSVM:
        function, memory = kernel_read(head["kernel"], fields)
        gram = function.name == "precomputed"
        model._columns = columns_in(fields, inside) if gram else None
        model.problem = KernelProblem(
            rows, **fields.problem, kernel=function, memory=memory
        )
    elif head["kernel"] is not None:
        raise ValueError("a linear model has a kernel")
    else:
        model.problem = Problem(rows, **fields.problem)
    if kind is not KernelSVM or model._columns is None:
        fields.check_width(p)
    inside.check_all_taken()
    found: Model = model
    return found


def solver_out(solver: Pegasos | SDCA, filling: Filling) -> Json:
    """Write a solver with its options."""
    given = {name: getattr(solver, name, None) for name in GIVEN}
    arrays = {k: each for k, each in given.items() if isinstance(each, np.ndarray)}
    return inside_out(packed_solver(solver), arrays, filling)


def solver_in_object(stored: Json, emptying: Emptying) -> Pegasos | SDCA:
    """Undo `solver_out`."""
    inside = inside_in(stored, emptying)
    found = solver_in(inside.header, inside)
    inside.check_all_taken()
    return found


def metric_out(metric: Metric, filling: Filling) -> Json:
    """Write a metric: its name, and whether it is a function of the user."""
    own = MEASURES.get(metric.name) is not metric.measure
    if own:
        filling.use({metric.name: function_of(metric)})
    return [metric.name, own]


def metric_in(stored: Json, emptying: Emptying) -> Metric:
    """Undo `metric_out`.

    Raises
    ------
    DataError
        If it is a function of the user that is not given.
    """
    name, own = items(stored, "a metric", 2)
    if not header.flag(own, "a metric"):
        one_of(name, "a metric", MEASURES)
        return Metric(name, MEASURES[name], name in LARGER_IS_BETTER)
    if not header.text(name, "a metric").isidentifier():
        raise ValueError(f"a metric is called {name!r}")
    if name not in emptying.functions:
        raise DataError(
            f"The metric {name} is a function of yours, which no file holds; give "
            f"load(path, functions={{{name!r}: {name}}})."
        )
    return own_metric(name, emptying.functions[name])


def _note_design(fitted: Results | Model, data: Json, filling: Filling) -> None:
    """Note the functions of a formula, which comes back the same, or `DataError`."""
    functions = dict(fitted.design.functions)
    if fitted.offsets is not None:
        functions |= fitted.offsets.functions
    filling.use(functions)
    rebuilt = designs.unpacked_design(data["design"], functions)
    designs.check_same(fitted.design, rebuilt)


def check_split(split: Split) -> None:
    """Raise ValueError for rows that are not there."""
    for rows in (split.test, split.given):
        if rows is not None and (
            rows.ndim != 1 or ((rows < 0) | (rows >= split.n)).any()
        ):
            raise ValueError(f"a fold has rows beyond the {split.n} that there are")


def check_folds(folds: Folds) -> None:
    """Raise ValueError for folds of different rows, or of none."""
    repeats = [split.repeat for split in folds.splits]
    if not repeats or any(split.n != folds.n for split in folds.splits):
        raise ValueError(f"folds are not of {folds.n} rows")
    if repeats != sorted(repeats) or set(repeats) != set(range(1, repeats[-1] + 1)):
        raise ValueError(f"folds are of the repeats {repeats[:10]}")
    if folds.groups is not None and folds.groups.shape != (folds.n,):
        raise ValueError(f"groups have the shape {folds.groups.shape}")


def check_matrix(matrix: ConfusionMatrix) -> None:
    """Raise ValueError for a table that does not fit its levels."""
    k, counts = len(matrix.levels), matrix.counts
    if k < 2 or counts.shape != (k, k + 1) or not (counts >= 0).all():
        raise ValueError(f"a table of {k} levels has the shape {counts.shape}")
    positive_position(matrix.levels, matrix.choices.positive)
    scored = matrix.scored
    if scored is None:
        return
    n, codes = scored.codes.size, scored.codes
    if codes.ndim != 1 or ((codes < -1) | (codes >= k)).any():
        raise ValueError(f"rows are of other levels than {k}")
    for array in (scored.scores, scored.weights):
        if array is not None and array.shape != (n,):
            raise ValueError(f"{n} rows have scores or weights of {array.shape}")
    weights, p = scored.weights, scored.probabilities
    if weights is not None and not ((weights >= 0.0) & (weights < np.inf)).all():
        raise ValueError("rows have weights that are none")
    if p is None:
        return
    if p.shape != (n, k):
        raise ValueError(f"probabilities have the shape {p.shape}")
    _check_shares(p)


def check_reliability(found: Reliability) -> None:
    """Raise ValueError for a table of other columns, or of numbers that are none."""
    bins = "low", "high", "n", "mean_predicted", "observed", "conf_low", "conf_high"
    if tuple(found.table.columns) != bins:
        raise ValueError("a reliability table has other columns")
    if any(getattr(dtype, "kind", "") not in "iuf" for dtype in found.table.dtypes):
        raise ValueError("a reliability table has columns that are no numbers")
    n, shares = found.table["n"], found.table.drop(columns="n").to_numpy(np.float64)
    if not ((n >= 0) & (n < np.inf) & (n % 1 == 0)).all():
        raise ValueError("a reliability table has numbers of rows that are none")
    _check_shares(shares)


def _check_shares(shares: Matrix) -> None:
    """Raise ValueError for a share that is neither missing nor from 0 to 1."""
    if ((shares < 0.0) | (shares > 1.0)).any():
        raise ValueError("a share or probability is not from 0 to 1")


CHECKS: dict[Any, Callable[[Any], None]] = {
    Split: check_split,
    Folds: check_folds,
    ConfusionMatrix: check_matrix,
    Reliability: check_reliability,
}


NUMBERS = {float: (float, np.floating), int: (int, np.integer), bool: (bool, np.bool_)}


class Form(NamedTuple):
    """How values of a type are written, and how they are read."""

    out: Callable[[Any, Filling], Json]
    back: Callable[[Json, Emptying], Any]


@cache
def form_of(hint: Any) -> Form:
    """The form of the values of a field of this type.

    Raises
    ------
    TypeError
        If fields of this type have none.
    """
    hint = meant_by(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if hint in FORMS:
        return FORMS[hint]
    if origin in (Union, types.UnionType):
        return _one_of_several(inner)
    if origin is Literal or hint in (str, *NUMBERS):
        return _single(hint)
    if origin is np.ndarray:
        return _array(hint)
    if origin is tuple or hint is tuple:
        return _tuple(inner)
    if origin in (list, Sequence):
        return _sequence(inner[0], origin)
    if origin in (dict, Mapping):
        return _pairs(*inner)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or _is_named(hint)):
        return _fields(hint)
    raise TypeError(f"no form is known for {hint}")


def meant_by(hint: Any) -> Any:
    """The type that an alias stands for; `NDArray` is one from numpy 2.5 on.

    Examples
    --------
    >>> from numpy.typing import NDArray
    >>> get_origin(meant_by(NDArray[np.float64])) is np.ndarray
    True
    """
    value = getattr(get_origin(hint) or hint, "__value__", None)
    if value is None:
        return hint
    return value[get_args(hint)] if get_args(hint) else value


def _is_named(hint: type) -> bool:
    return issubclass(hint, tuple) and hasattr(hint, "_fields")


def _single(hint: Any) -> Form:
    """A number, text, or one of some words."""

    def back(stored: Json, emptying: Emptying) -> Any:
        found = restored(stored)
        if get_origin(hint) is Literal:
            good = isinstance(found, str) and found in get_args(hint)
        elif hint is str:
            good = type(found) is str
        else:
            also_flags = hint is bool or not isinstance(found, bool)
            good = isinstance(found, NUMBERS[hint]) and also_flags
        if not good:
            raise ValueError(f"{stored!r} is not {hint}")
        return found

    def out(value: Any, filling: Filling) -> Json:
        stored = packed(value)
        if hint is float and isinstance(value, int):  # where a whole number was given
            raise cannot_hold(value)
        return stored

    return Form(out, back)


def _array(hint: Any) -> Form:
    """An array of numbers of one type."""
    (declared,) = get_args(get_args(hint)[1])

    def back(stored: Json, emptying: Emptying) -> Any:
        found = emptying.take(stored)
        if not np.issubdtype(found.dtype, declared):
            raise ValueError(f"an array is of type {found.dtype}")
        return found

    return Form(lambda value, filling: filling.put(value), back)


def _one_of_several(hints: tuple[Any, ...]) -> Form:
    """One of several types, or None; which one it is, is written beside it."""
    kinds = [hint for hint in hints if hint is not types.NoneType]
    if set(kinds) == {Pegasos, SDCA}:
        inner = FORMS[Pegasos]
    elif len(kinds) == 1:
        inner = form_of(kinds[0])
    else:
        inner = _chosen(kinds)
    if len(kinds) == len(hints):
        return inner
    return Form(
        lambda value, filling: None if value is None else [inner.out(value, filling)],
        lambda stored, emptying: (
            None
            if stored is None
            else inner.back(items(stored, "a value", 1)[0], emptying)
        ),
    )


def _chosen(hints: list[Any]) -> Form:
    """One of several types that are not None."""
    kinds = [meant_by(hint) for hint in hints]

    def fits(value: Any, hint: Any) -> bool:
        if get_origin(hint) is np.ndarray:
            (declared,) = get_args(get_args(hint)[1])
            return isinstance(value, np.ndarray) and np.issubdtype(
                value.dtype, declared
            )
        if get_origin(hint) is Literal:
            return value in get_args(hint)
        return type(value) is (get_origin(hint) or hint)

    def out(value: Any, filling: Filling) -> Json:
        for place, hint in enumerate(kinds):
            if fits(value, hint):
                return [place, form_of(hint).out(value, filling)]
        raise cannot_hold(value)

    def back(stored: Json, emptying: Emptying) -> Any:
        place, value = items(stored, "a value", 2)
        if type(place) is not int or not 0 <= place < len(kinds):
            raise ValueError(f"{place!r} is none of {len(kinds)} types")
        return form_of(kinds[place]).back(value, emptying)

    return Form(out, back)


def _tuple(hints: tuple[Any, ...]) -> Form:
    """A tuple: of values of one type, or of some types in their order."""
    several = len(hints) == 2 and hints[1] is Ellipsis

    def of(length: int) -> list[Form]:
        return [form_of(h) for h in ([hints[0]] * length if several else hints)]

    def out(value: Any, filling: Filling) -> Json:
        each = zip(of(len(value)), value, strict=True)
        return [form.out(item, filling) for form, item in each]

    def back(stored: Json, emptying: Emptying) -> Any:
        given = items(stored, "a tuple", None if several else len(hints))
        each = zip(of(len(given)), given, strict=True)
        return tuple(form.back(item, emptying) for form, item in each)

    return Form(out, back)


def _sequence(hint: Any, origin: Any) -> Form:
    """A list; a sequence may be a tuple as well."""
    inner = _tuple((hint, Ellipsis))

    def out(value: Any, filling: Filling) -> Json:
        if type(value) not in (list, tuple) or (origin is list) > (type(value) is list):
            raise cannot_hold(value)
        return [type(value) is list, inner.out(value, filling)]

    def back(stored: Json, emptying: Emptying) -> Any:
        is_list, values = items(stored, "a list", 2)
        if is_list is not True and (is_list is not False or origin is list):
            raise ValueError(f"{is_list!r} is no kind of list")
        found = inner.back(values, emptying)
        return list(found) if is_list else found

    return Form(out, back)


def _pairs(key: Any, value: Any) -> Form:
    """A dictionary, in its order."""
    inner = _tuple((tuple[key, value], Ellipsis))

    def back(stored: Json, emptying: Emptying) -> Any:
        pairs = inner.back(stored, emptying)
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a dictionary has one name twice")
        return found

    return Form(lambda given, filling: inner.out(tuple(given.items()), filling), back)


def _fields(kind: Any) -> Form:
    """A dataclass or a named tuple, field by field."""
    hints = {k: h for k, h in get_type_hints(kind).items() if k in _names(kind)}

    def out(value: Any, filling: Filling) -> Json:
        if type(value) is not kind:
            raise cannot_hold(value)
        each = hints.items()
        return {k: form_of(h).out(getattr(value, k), filling) for k, h in each}

    def back(stored: Json, emptying: Emptying) -> Any:
        given = record(stored, f"a {kind.__name__}", list(hints))
        each = given.items()  # arrays stand in the order of the fields
        found = kind(**{k: form_of(hints[k]).back(v, emptying) for k, v in each})
        if kind in CHECKS:
            CHECKS[kind](found)
        return found

    return Form(out, back)


def _names(kind: Any) -> Sequence[str]:
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    names: Sequence[str] = kind._fields
    return names


def _any_out(value: Any, filling: Filling) -> Json:
    """Write a label or the like, which may be an array of numbers."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return ["array", filling.put(value)]
    return ["value", packed(value)]


def _any_in(stored: Json, emptying: Emptying) -> Any:
    """Undo `_any_out`."""
    form, value = items(stored, "a value", 2)
    if text(form, "a value") == "array":
        return emptying.take(value)
    if form != "value":
        raise ValueError(f"a value is of the form {form!r}")
    return restored(value)


FORMS: dict[Any, Form] = {
    Any: Form(_any_out, _any_in),
    object: Form(_any_out, _any_in),
    pd.DataFrame: Form(frame_out, frame_in),
    Results: Form(fit_out, fit_in),
    Model: Form(model_out, model_in),
    Pegasos: Form(solver_out, solver_in_object),
    SDCA: Form(solver_out, solver_in_object),
    Metric: Form(metric_out, metric_in),
    LabelCoding: Form(
        lambda value, filling: packed_coding(value),
        lambda stored, emptying: unpacked_coding(stored),
    ),
}


KEPT = {  # what a file may hold beside fits, and the module that has it
    "CalibratedResults": "studies.calibrated_results",
    "ConfusionMatrix": "metrics.matrix",
    "ConfusionReport": "metrics.caret",
    "ContrastTests": "models.inference.wald",
    "CrossValidation": "studies.selection.cross_validation",
    "ErrorComparison": "studies.compare_errors",
    "Folds": "studies.selection.folds",
    "JointTest": "models.inference.wald",
    "KernelTuning": "studies.selection.kernel_tuning",
    "LabelCoding": "data.labels",
    "LambdaPath": "studies.selection.path_results",
    "Margins": "models.effects.margins",
    "ModelComparison": "studies.model_comparison",
    "PairedComparison": "metrics.paired",
    "ParityCheck": "studies.parity.check",
    "Reliability": "studies.reliability",
    "SessionInfo": "session",
    "SolverComparison": "studies.compare_results",
    "Summary": "tables",
    "Thresholds": "studies.threshold_results",
}
# What objects would compute from the training rows, which no file holds.
COMPUTED = {"CalibratedResults": ("_losses",)}
# What a file's fields have to be good for, beside being shown.
USED = ("tidy", "glance", "table", "by_class", "overall", "calibration_error")
INSTEAD = {  # what else may be given to save(), and what to do
    "Report": "take its write(path)",
    "DataFrame": "take its to_csv(path) or to_parquet(path)",
    "SVM": "save what fit() returns",
    "Logit": "save what fit() returns",
    "KernelSVM": "save what fit() returns",
}


@suggest_arguments
def save(
    result: object,
    path: str | PathLike[str],
    *,
    about: dict[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a fit, a study or a table to a file.

    The file is a zip archive of arrays and one JSON text, as numpy writes it (npz),
    sealed by a digest of the whole. It has every bit of the coefficients and all that
    predictions on new data need: coding of the labels and of the predictors, and what
    the summary shows. The covariance of the coefficients is in it if it was computed
    before, or there are no more than 256 and it takes little time. The file holds no
    pickle, and no training rows but the support of a kernel model; a digest of them
    says whether rows are those of the fit. The same fit gives the same bytes. An
    earlier file of this kind is replaced as a whole, with its permissions; a symbolic
    link stays, and what it leads to is replaced.

    The digest finds damage. It is no signature: whoever can write the file can write a
    new digest.

    Parameters
    ----------
    result : LinearResults or KernelResults, or another object of the package
        Cross-validations, folds, paths of lambda, tuned kernels, calibrated fits,
        thresholds, reliabilities, comparisons of models, errors, predictions and
        solvers, confusion tables and their reports, margins and tests, checks against
        R, summaries.
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
    >>> model = ps.svm("digit ~ .", train, lam=1.0)
    >>> result = model.fit(ps.Pegasos(epochs=20, seed=443))
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> save(result, folder / "digits.model")
    >>> bool((load(folder / "digits.model").params == result.params).all())
    True
    >>> save(ps.cross_validate(model, folds=5, seed=443), folder / "digits.study")
    >>> load(folder / "digits.study")
    <CrossValidation: 5 stratified folds of 200 rows, error_rate ...>
    """
    if isinstance(result, Results):
        fits.save(result, path, about=about, overwrite=overwrite)
        return
    place = checked_place(path, MODEL, overwrite)
    facts, kind = fits.packed_facts(about), _kind_of(result)
    content = _content_of(result, kind, facts)
    with outputs() as places:
        places.write(place, content)


@suggest_arguments
def load(
    path: str | PathLike[str],
    *,
    functions: dict[str, Callable[..., Any]] | None = None,
) -> Any:
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
        As it was saved, for everything that does not need the training rows: those
        are not in the file, and ``predict()`` without data raises `DataError`, as does
        ``refit()`` of a study.

    Raises
    ------
    DataError
        If the file is not there, is not a saved model, is damaged or changed, was
        written by a newer version, or calls a function that is not given.
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
    known = check_functions(functions)
    with files.read_archive(path) as archive:
        if archive.header["kind"] in KEPT:
            return _rebuilt(archive, known)
    return fits.load(path, functions=functions)


def _kind_of(kept: object) -> str:
    """The name of an object in a file, or `DataError` if no file holds such objects."""
    kind = type(kept)
    module = f"pegasos_stats.{KEPT.get(kind.__name__)}"
    if kind.__module__ == module:
        return kind.__name__
    cure = INSTEAD.get(
        kind.__name__, "give what fit() returns, or a study or table of the package"
    )
    raise DataError(f"A {kind.__name__} cannot be saved; {cure}.")


def _content_of(kept: Any, kind: str, facts: files.Header) -> bytes:
    """The content of a file, which can be loaded and then says the same."""
    try:
        filling = Filling()
        tree = _tree_of(kept, kind, filling)
        header = files.header_of(kind, facts, tree)
        content = files.packed_archive(header, filling.arrays())
        found = _rebuilt(files.unpacked_archive(io.BytesIO(content)), filling.functions)
        again = Filling()
        if not same(_tree_of(found, kind, again), tree):
            raise ValueError("a field would be another one")
        for name, array in again.arrays().items():
            if array.tobytes() != filling.arrays()[name].tobytes():
                raise ValueError("a number would be another one")
    except DataError:
        raise
    except Exception as error:
        raise DataError(
            f"The {kind} cannot be saved so that it comes back the same "
            f"({files.shortened(error)}); use labels and options of plain types in it."
        ) from None
    return content


def _tree_of(kept: Any, kind: str, filling: Filling) -> files.Header:
    """An object, and what it would compute from the training rows."""
    names = COMPUTED.get(kind, ())
    computed = [frame_out(getattr(kept, name), filling) for name in names]
    cls: Any = type(kept)
    return {"object": form_of(cls).out(kept, filling), "computed": computed}


def _rebuilt(archive: files.Archive, functions: Functions) -> Any:
    """Put together what an archive holds, every field being checked."""
    kind = archive.header["kind"]
    if type(restored(archive.header["about"])) is not dict:
        raise ValueError("about is no dictionary")
    tree = record(archive.header["fit"], f"a {kind}", ("computed", "object"))
    cls = getattr(import_module(f"pegasos_stats.{KEPT[kind]}"), kind)
    emptying, names = Emptying(archive, functions), COMPUTED.get(kind, ())
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            stored = items(tree["computed"], "what was computed", len(names))
            computed = [frame_in(each, emptying) for each in stored]
            found = form_of(cls).back(tree["object"], emptying)
            vars(found).update(zip(names, computed, strict=True))
            emptying.check_all_taken()
            for show in (repr, str, getattr(cls, "_repr_html_", repr)):
                show(found)
            _use(found)
    except DataError:
        raise
    except PegasosStatsError as error:
        raise ValueError(str(error)) from None
    return found


def _use(found: Any) -> None:
    """Ask for what is computed from several fields; errors of ours are answers too."""
    for name in USED:
        with suppress(PegasosStatsError):
            answer = getattr(found, name, None)
            if callable(answer):
                answer()

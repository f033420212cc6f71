"""Fits, models, solvers and metrics inside of other objects, as JSON and arrays."""

from typing import Any

import numpy as np

from pegasos_stats.data.sample import Sample
from pegasos_stats.errors import DataError
from pegasos_stats.models.base import Model
from pegasos_stats.models.kernel import KernelSVM
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.persist import designs, header
from pegasos_stats.models.persist.archive import Archive, Arrays
from pegasos_stats.models.persist.data_fields import (
    OF_DATA,
    DataFields,
    arrays_of_data,
    data_of,
)
from pegasos_stats.models.persist.fit_fields import GIVEN, packed_solver, solver_in
from pegasos_stats.models.persist.header import Json, items, one_of, record
from pegasos_stats.models.persist.kinds import (
    KINDS,
    Absent,
    columns_in,
    kernel_of,
    kernel_read,
)
from pegasos_stats.models.persist.saving import parts_of_fit, rebuilt_fit
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.keeping.frames import index_in, index_out
from pegasos_stats.studies.keeping.shelves import Emptying, Filling
from pegasos_stats.studies.selection.fold_metrics import (
    LARGER_IS_BETTER,
    MEASURES,
    Metric,
    function_of,
    own_metric,
)

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

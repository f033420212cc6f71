"""What fits of all kinds have in a file: fields of the header, and arrays."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.data.language.expressions import Functions
from pegasos_stats.errors import plain
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.persist import header, judged, values
from pegasos_stats.models.persist.archive import Archive, Arrays, Header
from pegasos_stats.models.persist.data_fields import (
    OF_DATA,
    DataFields,
    arrays_of_data,
    data_of,
)
from pegasos_stats.models.persist.header import Json, items, whole
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.options import declared, values_of
from pegasos_stats.solvers.orders import check_rows
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA

FIELDS = {
    *OF_DATA,
    "solver",
    "refinement",
    "alpha",
    "counts",
    "ran",
    "certificate",
    "training_table",
    "seconds",
    "judged",
    "trace",
}
SOLVERS: dict[str, type[Pegasos] | type[SDCA]] = {"Pegasos": Pegasos, "SDCA": SDCA}
TRACE = {
    "epoch": "i8",
    "steps": "i8",
    "objective": "f8",
    "gap": "f8",
    "violations": "i8",
    "training_error": "f8",
    "test_error": "f8",
    "cpu_seconds": "f8",
}
GIVEN = {"order": "i8", "start": "f8", "step": "f8"}  # options that may be arrays
LARGEST_SEED = 2**31 - 1
LARGEST = 1e300  # of a number, whose products with others would overflow


def fields_of(result: Results) -> Header:
    """Write what fits of all kinds have as JSON, but for the arrays."""
    found = result.solution
    return data_of(result) | {
        "solver": packed_solver(result.solver),
        "refinement": result.refinement and packed_solver(result.refinement),
        "alpha": values.packed(float(found.alpha)),
        "counts": [int(found.n_iter), int(found.n_violations), plain(found.seed)],
        "ran": [plain(found.n_epochs), bool(found.settled)],
        "certificate": values.packed(asdict(result.certificate)),
        "training_table": result.training_table.counts.tolist(),
        "seconds": result.seconds,
        "judged": judged.packed_judgement(result),
        "trace": None if result.trace is None else list(result.trace.columns),
    }


def arrays_of(result: Results) -> Arrays:
    """Labels, and weights, arrays among the options, a trace where there are any."""
    arrays = arrays_of_data(result)
    for name in GIVEN:
        given = getattr(result.solver, name, None)
        if isinstance(given, np.ndarray):
            arrays[name] = given
    if result.trace is not None:
        for name in result.trace.columns:
            arrays[f"trace.{name}"] = result.trace[name].to_numpy()
    return arrays


def packed_solver(solver: Pegasos | SDCA) -> list[Json]:
    """Name and options; those that are arrays are written as such."""
    options = values_of(solver)
    for name in GIVEN:
        if isinstance(options.get(name), np.ndarray):
            options[name] = None
    return [solver.name, values.packed(options)]


class FitFields(DataFields):
    """What `fields_of` and `arrays_of` wrote, checked one by one and together.

    Raises
    ------
    ValueError and others
        If a field is not as they write it.
    """

    def __init__(self, fit: Header, archive: Archive, functions: Functions) -> None:
        super().__init__(fit, archive, functions)
        self.alpha = header.real(fit["alpha"], "the intercept")
        if abs(self.alpha) > LARGEST:
            raise ValueError(f"the intercept is {self.alpha:g}")
        if not self.intercept and self.alpha != 0.0:
            raise ValueError(f"there is no intercept and it is {self.alpha}")
        self.solver = _solver(fit["solver"], archive, self.n, self.p + self.intercept)
        self.refinement = _refinement(fit["refinement"], self.solver)
        steps, violations, seed = items(fit["counts"], "counts", 3)
        if seed is not None or self.solver.uses_random_numbers or self.refinement:
            whole(seed, "the seed", -LARGEST_SEED, LARGEST_SEED)
        self.counts = whole(steps, "steps"), whole(violations, "violations"), seed
        self.ran = _ran(fit["ran"])

        self.trace = _trace(fit["trace"], archive)
        self.certificate = _certificate(fit["certificate"], self.n)
        self.table = self._table(fit["training_table"])
        given = fit["judged"], self.certificate, self.n, self.p
        self.judged = judged.unpacked_judgement(*given)
        seconds = fit["seconds"]
        self.seconds = (
            None if seconds is None else header.real(seconds, "the run time", 0.0)
        )

    @property
    def results(self) -> dict[str, Any]:
        """Arguments of the results, but for problem and solution."""
        return {
            "solver": self.solver,
            "refinement": self.refinement,
            "design": self.design,
            "coding": self.coding,
            "index": pd.RangeIndex(self.n),
            "dropped": self.dropped,
            "trace": self.trace,
            "seconds": self.seconds,
            "counted": self.freq_weights,
            "offsets": self.offsets,
        }

    def put_into(self, result: Results) -> None:
        """Give a result what it would compute from the training rows."""
        none = pd.DataFrame(columns=["actual", "predicted"])
        given = self.coding.levels, self.table, none
        table = ConfusionMatrix(*given, source="training")
        vars(result)["training_table"] = table
        vars(result)["certificate"] = self.certificate
        vars(result).update(self.judged)

    def _table(self, stored: Json) -> np.ndarray:
        """Counts of the training rows; those of weight 0 may be among them."""
        rows = [items(row, "a row of counts", 3) for row in items(stored, "counts", 2)]
        counts = np.array([[whole(count, "a count") for count in row] for row in rows])
        heavy = True if self.weights is None else self.weights > 0.0
        labels = self.y, self.y[heavy].ravel()
        there = [[int((y == sign).sum()) for sign in (-1.0, 1.0)] for y in labels]
        if counts.sum(axis=1).tolist() not in there:
            raise ValueError(f"the training table counts {stored}, and rows {there[0]}")
        return counts.astype(np.int64)


def _solver(stored: Json, archive: Archive, n: int, width: int) -> Pegasos | SDCA:
    solver = solver_in(stored, archive)
    if isinstance(solver, Pegasos):
        check_rows(solver.order, n)
        if isinstance(solver.start, np.ndarray) and solver.start.size != width:
            raise ValueError(f"the start has {solver.start.size} numbers")
    return solver


def solver_in(stored: Json, archive: Archive) -> Pegasos | SDCA:
    """A solver, whatever problem it is for."""
    name, options = items(stored, "the solver", 2)
    kind = SOLVERS[header.one_of(name, "the solver", SOLVERS)]
    options = options_of(kind, options)
    if kind is Pegasos:
        for each in GIVEN:
            if options[each] is None and each in archive.arrays:
                shape = [None] * archive.arrays[each].ndim
                options[each] = archive.take(each, GIVEN[each], *shape)
    return kind(**options)


def _ran(stored: Json) -> dict[str, Any]:
    """Epochs that the solver ran, and whether it settled."""
    epochs, settled = items(stored, "the run", 2)
    if epochs is not None:
        whole(epochs, "epochs")
    return {"n_epochs": epochs, "settled": header.flag(settled, "the run")}


def _refinement(stored: Json, solver: Pegasos | SDCA) -> SDCA | None:
    if stored is None:
        return None
    name, options = items(stored, "the refinement", 2)
    if name != "SDCA" or solver.to_optimum:
        raise ValueError(f"{name!r} refines {type(solver).__name__}")
    return SDCA(**options_of(SDCA, options))


def options_of(kind: type, stored: Json) -> dict[str, Any]:
    """Options of a dataclass: all of its fields."""
    options = values.restored(stored)
    if isinstance(options, dict) and options.keys() == declared(kind).keys():
        return options
    raise ValueError(f"the options of {kind.__name__} are not complete")


def _trace(stored: Json, archive: Archive) -> pd.DataFrame | None:
    if stored is None:
        return None
    columns, length = items(stored, "the trace"), None
    if columns and list(columns) not in (
        list(TRACE),
        [name for name in TRACE if name != "test_error"],
    ):
        raise ValueError(f"the trace has the columns {columns}")
    trace = {}
    for name in columns:
        trace[name] = archive.take(f"trace.{name}", TRACE[name], length)
        length = len(trace[name])
    return pd.DataFrame(trace)


def _certificate(stored: Json, n: int) -> Certificate:
    """The certificate, whose lower bound is not above the objective."""
    found = values.restored(stored)
    certificate = Certificate(**found)
    objective = header.real(certificate.objective, "the objective")
    dual = header.real(certificate.dual_objective, "the dual objective")
    rounding, pair = certificate.rounding, certificate.at_zero
    if type(rounding) is not float or not rounding >= 0.0:
        raise ValueError(f"the rounding of the objective is {rounding!r}")
    counts = [whole(count, "a count of rows") for count in (certificate.errors, *pair)]
    if type(pair) is not tuple or len(pair) != 2 or sum(counts) > n:
        raise ValueError(f"the certificate counts {counts} of {n} rows")
    if objective < 0.0 or dual > objective:
        raise ValueError(f"the objective is {objective}, its lower bound {dual}")
    return certificate

"""Models of rows in files: read a few times, and what comes of it kept."""

import time
from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_flag
from pegasos_stats.data.labels import Coding
from pegasos_stats.data.language.design import doubtful_in, warn_of_columns
from pegasos_stats.data.sample import NaAction, Sample
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.levels import Source, resolve_formula
from pegasos_stats.data.scan.rows import StreamedRows, in_memory_only, streamed_rows
from pegasos_stats.data.weights import Counts, kind_of
from pegasos_stats.errors import (
    OptionError,
    PegasosStatsWarning,
    counted,
    shown,
    warn_caller,
)
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.inference.options import (
    CovName,
    CovType,
    checked_cov_type,
    chosen_options,
)
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import with_progress
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.reads.few_reads import few_reads
from pegasos_stats.solvers.reads.steps import run_over_files
from pegasos_stats.solvers.sdca import SDCA, near_enough, warn_of

MATRICES = 6  # of the products of all pairs of columns, that a step takes


def check_rows_in_memory(lam: object, title: str) -> None:
    """Raise `OptionError` if lambda is to be chosen by folds of rows elsewhere."""
    if isinstance(lam, str):
        raise OptionError(
            f"lam={shown(lam)} needs the rows in memory and does not go with {title}; "
            "give "
            "a number, or leave it out for 1/n."
        )


def sample_of_scan(
    formula: str,
    scan: Source,
    intercept: bool,
    coding: Coding,
    na_action: NaAction,
    weights: object = None,
    freq_weights: object = None,
    functions: object = None,
    standardize: bool = False,
    offset: object = None,
) -> tuple[Sample, bool]:
    """Read a scan as far as a fit needs to know it before it begins.

    Returns
    -------
    sample : Sample
        Its rows are `StreamedRows`.
    intercept : bool
        Whether the formula keeps it.

    Raises
    ------
    FormulaError, ColumnError, LabelError, DataError
        As for `resolve_formula` and `measure`.
    OptionError
        If an option needs all rows at once.
    """
    check_flag("standardize", standardize)
    if functions is not None:
        cure = f"compute the column in the {scan.noun}"
        raise OptionError(f"functions= does not go with {scan.title}; {cure}.")
    column = "give the name of a column"
    for name, value, allowed, cure in (
        ("freq_weights", freq_weights, str, column),
        ("offset", offset, str, column),
        ("weights", weights, str | dict, f"{column}, 'balanced', or a weight a level"),
    ):
        if not (value is None or isinstance(value, allowed)):
            raise OptionError(
                f"{name}={shown(value)} does not go with {scan.title}; {cure}."
            )
    counts, known = cast("list[str | None]", [freq_weights, offset])
    stamps = scan.renewed()
    agreed = resolve_formula(scan, formula, intercept, coding, counts, known)
    warn_of_products(scan, len(agreed.design.names))
    found = streamed_rows(scan, agreed, weights, standardize, na_action, stamps)
    warn_of_columns(doubtful_in(found.matrices.design))
    n = found.y.size
    sample = Sample(
        X=found,
        y=cast(Vector, found.y),  # a byte a row, not eight
        index=pd.RangeIndex(n),
        design=found.matrices.design,
        coding=agreed.coding,
        dropped=found.dropped,
        kept=np.broadcast_to(np.True_, n),
        weights=found.weights,
        weights_of=kind_of(weights),
        counted=None if counts is None else Counts(counts, found.lines),
        offset=found.offset,
        offsets=agreed.offsets,
    )
    return sample, agreed.intercept


def warn_of_products(scan: Source, p: int) -> None:
    """Warn of products of pairs of columns that take more than the budget."""
    if (size := 8 * MATRICES * (p + 1) ** 2) > scan.memory:
        warn_caller(
            f"Products of pairs of {counted(p, 'coefficient')} take "
            f"{size / 2**20:,.0f} MiB, more than {scan.more}; leave columns out, or "
            "give more.",
            PegasosStatsWarning,
        )


def check_fit(
    solver: Pegasos | SDCA, given: dict[str, object], rows: StreamedRows
) -> Pegasos | SDCA:
    """Return the solver of a fit from files, or refuse what needs rows in memory.

    Parameters
    ----------
    solver : Pegasos or SDCA
    given : dict
        Options of ``fit`` that rows in memory have, by name; None or False if not
        asked for.
    """
    if isinstance(solver, Pegasos) and not isinstance(rows.scan, Scan):
        raise OptionError(
            f"A fit from {rows.scan.noun} is one of ps.SDCA(tol=...), and "
            f"{solver.name} was given; leave the solver out, or give SDCA."
        )
    if isinstance(solver, SDCA) and solver.algorithm != "newton":
        raise OptionError(
            f"algorithm={solver.algorithm!r} takes its rows in random order, and "
            f"{rows.scan.noun} are read from first to last; leave it out."
        )
    for name, value in given.items():
        if value is not None and value is not False:
            raise in_memory_only(name, rows.scan.title)
    return solver


def fit_from_files(
    problem: Problem,
    sample: Sample,
    solver: Pegasos | SDCA,
    cov_type: CovType | CovName,
    progress: bool,
) -> LinearResults:
    """Fit rows in files.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.
    """
    assert isinstance(problem.X, StreamedRows)
    chosen_options(cov_type, problem)
    rows, began = problem.X, time.perf_counter()
    if isinstance(solver, Pegasos):
        told = partial(with_progress, total=solver.epochs, unit="epoch")
        shown = told if progress else iter
        found = run_over_files(problem, solver, shown)
    else:
        found = few_reads(problem, solver, shown_reads() if progress else None)
        at, reached = found.certificate, found.reached
        if solver.stops and not (reached or near_enough(at, solver)):
            # Where rows near the margin find no room, reads may come to no end.
            lacks_room = problem.loss == "hinge" and rows.most_kept < problem.n
            hint = f"; more memory may help: {rows.scan.more}" if lacks_room else ""
            epochs = found.solution.n_epochs
            warn_of(at, solver, False, "tol", epochs=epochs, hint=hint)
    problem.X.check_unchanged()
    result = LinearResults(
        problem=problem,
        solver=solver,
        solution=found.solution,
        design=sample.design,
        coding=sample.coding,
        index=sample.index,
        dropped=sample.dropped,
        errors_by=checked_cov_type(cov_type),
        seconds=time.perf_counter() - began,
        counted=sample.counted,
        offsets=sample.offsets,
    )
    vars(result)["certificate"] = found.certificate
    none = pd.DataFrame(columns=["actual", "predicted"])
    # The reads count all rows; one more counts them without those of weight 0.
    counts = result.confusion().counts if problem.n_weightless else found.table
    table = ConfusionMatrix(sample.coding.levels, counts, none, source="training")
    vars(result)["training_table"] = table
    vars(result)["n_reads"] = problem.X.first_reads + found.n_reads
    return result


def shown_reads() -> Callable[[int, Certificate], None]:
    """Show reads done and the relative gap reached, on a line of tqdm's."""
    from tqdm import tqdm

    bar = tqdm(total=None, unit="read")

    def show(read: int, at: Certificate) -> None:
        bar.set_postfix_str(f"relative gap {at.relative_gap:.1e}", refresh=False)
        bar.update(1)

    return show

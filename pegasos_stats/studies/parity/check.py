"""Comparison of a fit with the same fit by the R reference."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.errors import counted
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.solvers.options import values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.parity.parting import Parting, first_parting
from pegasos_stats.studies.parity.session import R, Via, r_at_hand
from pegasos_stats.studies.parity.setup import Setup, setup_of
from pegasos_stats.studies.parity.sides import (
    NAMES,
    Compared,
    Run,
    compared,
    difference,
    epochs_of,
    in_python,
    in_r,
    sums_apart,
)
from pegasos_stats.tables import header_html, lines_html, params_html, params_text

BLAS = "another BLAS sums x'beta in another order: R uses {}"
NEAR = 1e-9  # of a margin: within it another order of summation may move it over 1


@dataclass(frozen=True, eq=False, repr=False)
class ParityCheck:
    """A run in Python beside the same run in R.

    Attributes
    ----------
    table : DataFrame
        One row for each quantity that both computed, by name: columns ``python``, ``r``
        (text) and ``same``, which is "every bit", "to rounding" or "differs".
    coefficients : DataFrame
        Columns ``python`` and ``r``, the intercept first; rows by name. For a kernel
        model the violation count of each row.
    equal : bool
        Whether nothing differs.
    parting : str
        The first step that differs, with its row and margins; empty if all are equal.
    reason : str
        Why the runs differ, as far as is known; empty if all are equal.
    r : dict
        Version of R, how it was called, its BLAS and its kinds of random numbers.
    ran_python, ran_r : dict
        All compared quantities, by their names in the R reference; rows are counted
        from 1.

    Examples
    --------
    >>> table = pd.DataFrame({"python": ["3"], "r": ["3"], "same": ["every bit"]})
    >>> ParityCheck(table, table, "svm", "", "", {"version": "4.2.2"}, {}, {}).equal
    True
    """

    table: pd.DataFrame
    coefficients: pd.DataFrame
    title: str
    parting: str
    reason: str
    r: dict[str, str]
    ran_python: Run = field(default_factory=dict)
    ran_r: Run = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not bool((self.table["same"] == "differs").any())

    @property
    def verdict(self) -> str:
        """The result of the comparison in one sentence."""
        if not self.equal:
            apart = self.table.index[self.table["same"] == "differs"]
            return f"Python and R differ in: {', '.join(apart)}."
        rounded = self.table.index[self.table["same"] == "to rounding"]
        if rounded.empty:
            return "Python and R are the same in every bit."
        return f"Python and R are the same; to rounding alone in: {', '.join(rounded)}."

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return [(f"{name}:", value) for name, value in self.r.items()]

    @property
    def _said(self) -> list[str]:
        return [line for line in (self.verdict, self.parting, self.reason) if line]

    def __str__(self) -> str:
        facts = [f"{name} {value}" for name, value in self._facts]
        return "\n".join([self.title, *facts, *params_text(self.table), *self._said])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = header_html(self.title, self._facts, []), params_html(self.table)
        return "\n".join([*parts, lines_html(self._said)])

    def to_json_dict(self) -> dict[str, Any]:
        """Verdict, table and reasons as values of JSON."""
        return {
            "equal": self.equal,
            "table": self.table.rename_axis("name").reset_index().to_dict("records"),
            "parting": self.parting,
            "reason": self.reason,
            "r": self.r,
        }


@suggest_arguments
def check_against_r(
    model: Any, solver: Pegasos | SDCA | None = None, *, via: Via | None = None
) -> ParityCheck:
    """Run a fit in Python and with the R reference in an installed R, and compare.

    The reference, the same algorithms in base R, comes with the package. Numbers are
    passed to R and back as doubles, not as decimal text. R needs about 50 microseconds
    for each row visited.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
        With the data, not fitted.
    solver : Pegasos or SDCA, optional
        ``Pegasos()`` by default; a missing seed is 1. If SDCA has a tolerance, R runs
        as many epochs as Python needed.
    via : "rpy2" or "Rscript", optional
        How R is called; by default rpy2 if it can be imported, else Rscript.

    Returns
    -------
    ParityCheck

    Raises
    ------
    DependencyError
        If R is not installed.
    OptionError
        If the reference lacks a feature of the fit: the fast arithmetic, SDCA with
        Newton steps or a kernel, rows that are read from files.
    DataError
        If R stops with an error.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> check = ps.check_against_r(  # doctest: +SKIP
    ...     ps.svm("digit ~ .", train, lam=1.0), ps.Pegasos(epochs=2, seed=443)
    ... )
    >>> check.equal  # doctest: +SKIP
    True
    """
    setup = setup_of(model, solver)
    with r_at_hand(via) as r:
        return checked_in(r, setup)


def checked_in(r: R, setup: Setup) -> ParityCheck:
    """Compare the two sides in an R that is there."""
    facts = dict(r.eval("r_facts()"))
    ours = in_python(r, setup)
    setup = setup.ended_at(ours["n_epochs"])
    by_r = {"levels": levels_in_r(r, setup)}
    levels = difference(setup, "levels", ours, by_r)
    if not levels.equal:  # the other things are compared in our order
        setup = replace(setup, coding=pd.Series(setup.levels))
    theirs = in_r(r, setup)
    found = [levels, *compared(setup, ours, theirs)[1:]]
    found = [_summed(setup, each, ours, theirs) for each in found]
    parting, reason = "", ""
    if any(each.name == "scores" and each.how == "to rounding" for each in found):
        reason = BLAS.format(_blas(facts)) + "." if setup.problem.loss != "log" else ""
    if not levels.equal:
        parting = f"Before the first step: the levels are {levels.words}."
        reason = (
            "another order of levels: R sorts text by its locale "
            f"({facts['collate'][0]}), Python by code point; give coding=(negative, "
            "positive) and, in R, factor(levels = ...)."
        )
    elif not all(each.equal for each in found):
        parted = first_parting(r, setup, ours, theirs)
        parting, reason = str(parted), _reason(setup, parted, ours, theirs, facts)
    return ParityCheck(
        _table(found, ours, theirs | by_r),
        _coefficients(setup, ours, theirs),
        f"{setup.solver.name} in Python and in R",
        parting,
        reason[:1].upper() + reason[1:],
        {
            "R": f"{facts['version'][0]}, by {r.name}",
            "BLAS of R": _blas(facts),
            "Random numbers": ", ".join(facts["kinds"]),
        },
        ours,
        theirs,
    )


def levels_in_r(r: R, setup: Setup) -> list[str]:
    """Levels in the order in which R has them, by its own locale."""
    return [str(each) for each in r.call("label_levels", setup.labels, setup.coding)]


def _blas(facts: Run) -> str:
    return f"{facts['blas'][0] or 'not known'} (matprod {facts['matprod'][0]})"


def _summed(setup: Setup, each: Compared, ours: Run, theirs: Run) -> Compared:
    """Scores that differ as sums in another order do are the same to rounding."""
    if each.name != "scores" or each.equal:
        return each
    apart = np.abs(ours["scores"] - theirs["scores"])
    summed = bool((apart <= sums_apart(setup, ours)).all())
    return Compared("scores", "to rounding") if summed else each


def _reason(setup: Setup, parted: Parting, ours: Run, theirs: Run, facts: Run) -> str:
    """Why two runs part, as far as it can be known."""
    if parted.step is not None and parted.here is None:
        solver = setup.solver
        other = "rounding" if solver.sample_kind == "rejection" else "rejection"
        values = values_of(solver) | {"sample_kind": other}
        turned = replace(setup, solver=type(solver)(**values))
        rows = np.concatenate(epochs_of(turned))[: len(theirs["rows"])] + 1
        kinds, version = ", ".join(facts["kinds"]), facts["version"][0]
        if np.array_equal(rows, theirs["rows"]):
            return (
                f"another RNGkind: R {version} draws with sample.kind {other!r}, as R "
                f'before 3.6 always does; give sample_kind="{other}".'
            )
        return f"another RNGkind: that of R {version} is {kinds}."
    if parted.here is not None and parted.there is not None:
        near = np.abs(parted.here - parted.there) <= NEAR * (1.0 + np.abs(parted.here))
        if setup.problem.loss == "log":
            return (
                "exp() of R and of Python rounds differently, and the first steps "
                "magnify that where lam is small beside the squares of the rows."
            )
        moved = (parted.here < 1.0) != (parted.there < 1.0)
        if (near & moved).any():
            return f"the margin is 1 to rounding, and {BLAS.format(_blas(facts))}."
    return "the reason is not known; please report it, with the data if you may."


def _table(found: list[Compared], ours: Run, theirs: Run) -> pd.DataFrame:
    rows = {
        NAMES[each.name]: (
            _cell(each.name, ours[each.name]),
            _cell(each.name, theirs[each.name]),
            each.how,
        )
        for each in found
    }
    columns = ["python", "r", "same"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _cell(name: str, value: Any) -> str:
    """A value in a few signs: one number, levels, a table, or how many there are."""
    if name == "levels":
        return ", ".join(map(str, value))
    array = np.asarray(value)
    if name == "table":
        return " / ".join(" ".join(str(int(n)) for n in row) for row in array)
    if array.size == 1:
        return f"{array.flat[0]:.10g}"
    return counted(array.size, "row" if name == "rows" else "number")


def _coefficients(setup: Setup, ours: Run, theirs: Run) -> pd.DataFrame:
    name = setup.state[0]
    terms = list(setup.model.names) if name == "beta" else list(range(len(ours[name])))
    sides = {
        "python": np.concatenate([[ours["alpha"]], ours[name]]),
        "r": np.concatenate([np.atleast_1d(theirs["alpha"]), theirs[name]]),
    }
    found = pd.DataFrame(sides, index=["Intercept", *terms])
    return found if setup.problem.intercept else found.iloc[1:]

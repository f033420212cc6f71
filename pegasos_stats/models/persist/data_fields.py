"""What fits and models have of their data in a file: all but the rows themselves."""

import re
from typing import Any, TypeAlias

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.data.counts import Counts
from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.digests import rows_digest
from pegasos_stats.data.language.expressions import Functions
from pegasos_stats.data.sample import Dropped
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.models.base import Model
from pegasos_stats.models.persist import designs, header, values
from pegasos_stats.models.persist.archive import Archive, Arrays, Header
from pegasos_stats.models.persist.header import Json, items, whole
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.problem import RULE_TEXT, ZERO_LOSS

Fitted: TypeAlias = Results | Model

OF_DATA = {
    "design",
    "coding",
    "problem",
    "shape",
    "digest",
    "dropped",
    "freq_weights",
    "offset",
    "missing",
    "balanced",
    "lam_rule",
}
SHA256 = re.compile("[0-9a-f]{64}")
ROUNDING = 1e-6  # of weights, whose mean is 1, summed in another order
SAME_SUM = 1e-9  # relative, of the weights of both classes, to rounding


def data_of(fitted: Fitted) -> Header:
    """Write what is known of the data, and what is minimised on them, as JSON."""
    problem, dropped = fitted.problem, fitted.dropped
    return {
        "design": designs.packed_design(fitted.design),
        "coding": values.packed_coding(fitted.coding),
        "problem": [float(problem.lam), problem.loss, bool(problem.intercept)],
        "shape": [int(size) for size in problem.X.shape],
        "digest": rows_digest(problem.X),
        "dropped": [dropped.outcome, dropped.predictors],
        "freq_weights": fitted.counted
        and [fitted.counted.column, fitted.counted.lines],
        "offset": fitted.offsets and designs.packed_offset(fitted.offsets),
        "missing": [list(pair) for pair in dropped.missing],
        "balanced": problem.balanced,
        "lam_rule": problem.lam_rule,
    }


def arrays_of_data(fitted: Fitted) -> Arrays:
    """Labels; weights and offset, if there are any."""
    problem = fitted.problem
    arrays: Arrays = {"y": problem.y.astype(np.int8)}
    if problem.weights is not None:
        arrays["weights"] = problem.weights
    if problem.offset is not None:
        arrays["offset"] = problem.offset
    return arrays


class DataFields:
    """What `data_of` and `arrays_of_data` wrote, checked one by one and together.

    Raises
    ------
    ValueError and others
        If a field is not as they write it.
    """

    def __init__(self, fit: Header, archive: Archive, functions: Functions) -> None:
        shape = items(fit["shape"], "the shape", 2)
        self.n, self.p = (whole(size, "a size", 1) for size in shape)
        self.digest: str | None = fit["digest"]
        if self.digest is not None and not SHA256.fullmatch(
            header.text(self.digest, "the digest")
        ):
            raise ValueError(f"the digest is {self.digest!r}")
        lam, loss, intercept = items(fit["problem"], "the problem", 3)
        self.lam, self.loss = (
            header.real(lam, "lambda"),
            header.one_of(loss, "the loss", ZERO_LOSS),
        )
        self.lam_rule = header.one_of(fit["lam_rule"], "the rule of lambda", RULE_TEXT)
        self.intercept = header.flag(intercept, "the intercept")
        if self.lam <= 0.0:
            raise ValueError(f"lambda is {lam}")

        self.y, self.weights = archive.take("y", "i1", self.n).astype(np.float64), None
        if set(np.unique(self.y).tolist()) != {-1.0, 1.0}:
            raise ValueError("y holds other numbers than -1 and 1")
        if "weights" in archive.arrays:
            self.weights = archive.take("weights", "f8", self.n)
            off = abs(self.weights.mean() - 1.0)
            if not (self.weights >= 0.0).all() or off > ROUNDING:
                raise ValueError("weights do not have the mean 1")

        self.balanced = balanced_in(fit["balanced"], self.y, self.weights)
        self.design = _design(fit["design"], functions)
        self.coding = values.unpacked_coding(fit["coding"])
        left_out = (whole(n, "rows left out") for n in items(fit["dropped"], "rows", 2))
        outcome, predictors = left_out
        self.dropped = Dropped(outcome, predictors, _missing(fit["missing"]))
        counts = fit["freq_weights"]
        if counts is not None:
            column, lines = items(counts, "the counts", 2)
            counts = Counts(header.text(column, "a name"), whole(lines, "lines", 1))
        self.freq_weights: Counts | None = counts
        self.offsets = designs.unpacked_offset(fit["offset"], functions)
        self.offset = None
        if self.offsets is not None:
            self.offset = archive.take("offset", "f8", self.n)
            if not np.isfinite(self.offset).all():
                raise ValueError("an offset is not finite")

    @property
    def problem(self) -> dict[str, Any]:
        """Arguments of the problem, but for its rows."""
        return {
            "y": self.y,
            "lam": self.lam,
            "lam_rule": self.lam_rule,
            "loss": self.loss,
            "intercept": self.intercept,
            "weights": self.weights,
            "balanced": self.balanced,
            "offset": self.offset,
        }

    def check_width(self, width: int) -> None:
        """Raise ValueError unless the design has so many columns."""
        if len(self.design.names) != width:
            raise ValueError(f"{len(self.design.names)} names for {width} columns")


def balanced_in(stored: Json, y: Vector, weights: Vector | None) -> bool:
    """Whether weights were asked for by which both classes weigh the same."""
    if not header.flag(stored, "whether weights are balanced"):
        return False
    classes = [y < 0.0, y > 0.0]
    w = np.ones(y.size) if weights is None else weights
    constant = all(np.ptp(w[rows]) == 0.0 for rows in classes)
    low, high = (float(w[rows].sum()) for rows in classes)
    if not constant or abs(high - low) > SAME_SUM * high:
        raise ValueError("balanced weights are not")
    return True


def _missing(stored: Json) -> tuple[tuple[str, int], ...]:
    """Columns and how many values each lacks."""
    pairs = [items(pair, "a count", 2) for pair in items(stored, "the counts")]
    return tuple((header.text(k, "a name"), whole(v, "a count", 1)) for k, v in pairs)


def _design(stored: Json, functions: Functions) -> Design:
    """The design, checked: it codes rows, and is written again as it was."""
    design = designs.unpacked_design(stored, functions)
    if not header.same(designs.packed_design(design), stored):
        raise ValueError("the design is not as it was written")
    designs.replayed(design)
    if design.formula is not None:
        header.text(design.formula, "the formula")
    names = [header.text(name, "a name") for name in design.names]
    if len(set(names)) < len(names) or "Intercept" in names:
        raise ValueError("two coefficients have one name")
    inner = design
    if isinstance(design, ScaledDesign):
        centre, scale = design.scaling.centre, design.scaling.scale
        for numbers in (centre, scale):
            if numbers.shape != (len(names),) or not np.isfinite(numbers).all():
                raise ValueError(f"the scales have shape {numbers.shape}")
        if isinstance(design.design, ScaledDesign) or not (scale > 0.0).all():
            raise ValueError("the scales are not above zero")
        inner, stored = design.design, stored["design"]
    if isinstance(inner, FrameDesign):
        header.flag(inner.named, "the design")
        items(stored["columns"], "the columns", len(names))
    return design

"""When two fits are the same: in every bit, or to what rounding may do."""

from typing import Any

import numpy as np
import pandas as pd

from tests.parity.cases import Case, Fit, case_data

# The objective is not part of the reference arithmetic: R sums it in a loop and numpy
# in pairs. Margins lose up to four digits where columns span six powers of ten.
OBJECTIVE_RTOL = 1e-12

# The dual objective is a difference of two sums that are as large as the objective,
# and R does not rescale its dual weights as the kernels do.
DUAL_RTOL = 1e-10

# exp() may differ in the last place from one mathematical library to the next, and the
# large first steps magnify that: on these cases up to 1000 times. The hinge loss has no
# exp().
LOG_RTOL = 1e-12


def assert_inputs_of_r(case: Case, rows: np.ndarray, found: dict[str, Any]) -> None:
    """Data, lambda and the rows that are visited, as the golden values have them."""
    X = case_data(case)[0].to_numpy()
    assert X.shape == (case.n, case.p)
    assert case.lam == float.fromhex(found["lambda"])
    in_a_loop = np.add.accumulate(X.ravel(order="F"))[-1]
    assert_same_bits(in_a_loop, float.fromhex(found["data_sum"]), "sum of the data")
    assert rows[:10].tolist() == found["rows"]
    assert int(rows @ np.arange(1, len(rows) + 1)) == found["rows_sum"]


def assert_same_fit(case: Case, ours: Fit, theirs: Fit) -> None:
    """Equality in every bit; for the log loss to `LOG_RTOL`."""
    if case.loss == "log":
        assert_close_fit(ours, theirs, LOG_RTOL)
    else:
        assert_same_steps(ours, theirs)
        assert_same_bits(ours.beta, theirs.beta, "beta")
        assert_same_bits(ours.alpha, theirs.alpha, "alpha")
    scale = theirs.objective
    assert abs(ours.objective - scale) <= OBJECTIVE_RTOL * scale
    assert abs(ours.dual_objective - theirs.dual_objective) <= DUAL_RTOL * scale
    assert abs(ours.gap - theirs.gap) <= DUAL_RTOL * scale


def assert_same_steps(ours: Fit, theirs: Fit) -> None:
    """Equality of all that is counted."""
    assert ours.n_iter == theirs.n_iter
    assert ours.violations == theirs.violations
    assert_same_table(ours.table, theirs.table)


def assert_close_fit(ours: Fit, theirs: Fit, rtol: float) -> None:
    """Equality of counts; beta to `rtol` of its norm, alpha to `rtol` of itself."""
    assert_same_steps(ours, theirs)
    distance = np.linalg.norm(ours.beta - theirs.beta)
    assert distance <= rtol * np.linalg.norm(theirs.beta)
    assert abs(ours.alpha - theirs.alpha) <= rtol * abs(theirs.alpha)


def assert_same_table(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """Equality of counts, of the labels as text, and of the names of the axes."""
    as_text = (table.rename(index=str, columns=str) for table in (ours, theirs))
    left, right = (table.to_dict("split") for table in as_text)
    assert left == right
    assert (ours.index.name, ours.columns.name) == ("Actual", "Predicted")


def assert_same_bits(ours: Any, theirs: Any, what: str) -> None:
    """Equality in every bit, signs of zero included."""
    left, right = (np.atleast_1d(np.array(v, dtype=np.float64)) for v in (ours, theirs))
    assert left.shape == right.shape, what
    differs = np.flatnonzero(left.view(np.int64) != right.view(np.int64))
    if differs.size:
        j = differs[0]
        raise AssertionError(
            f"{what}: {differs.size} of {left.size} numbers differ, first at {j}: "
            f"{left.flat[j].hex()} here, {right.flat[j].hex()} in R"
        )

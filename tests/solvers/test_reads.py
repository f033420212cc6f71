"""The optimum from few reads of the rows: exact, certified, and the same everywhere."""

import numpy as np
import pytest

from pegasos_stats.data.scan import rows
from pegasos_stats.data.scan.source import added
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver_runs import certificate_of
from pegasos_stats.solvers.streamed.few_reads import few_reads
from pegasos_stats.solvers.streamed.hinge import NoRoomError, StreamedHinge
from pegasos_stats.solvers.streamed.risk_and_bound import cut, units
from pegasos_stats.solvers.sums import risk_and_image
from tests.solvers.exactly import fractions
from tests.solvers.memory_rows import streamed
from tests.solvers.solved import solved

pytestmark = pytest.mark.slow

TOL = 1e-7
SOLVER = Optimum(tol=TOL, seed=1)


def problem_of(loss, weighted, dtype=np.float64):
    rng = np.random.default_rng(3)
    y = np.where(rng.random(3000) < 0.25, 1.0, -1.0)
    X = rng.standard_normal((3000, 4)) @ np.diag([1.0, 2.0, 0.5, 1.0])
    X[:, 0] += 0.8 * y
    X[:, 3] = np.round(X[:, 3])  # rows that tie
    w = rng.gamma(2.0, size=3000) * (rng.random(3000) < 0.9)
    w = w / w.mean() if weighted else None
    return Problem(X.astype(dtype), y, 0.01, loss, weights=w)


CASES = [("hinge", False), ("hinge", True), ("log", False), ("log", True)]


@pytest.fixture(scope="module", params=CASES, ids=str)
def fit(request):
    problem = problem_of(*request.param)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "STREAM_BLOCK", 2000)  # six blocks of 500 rows
        found = few_reads(
            *(streamed(problem, workers=1), SOLVER),
            observe=lambda read, at: seen.append((read, at)),
        )
    return problem, found, seen


def test_the_certificate_is_that_of_all_rows(fit):
    problem, found, _ = fit
    at = certificate_of(problem, found.solution)
    assert found.reached
    assert 0.0 <= at.relative_gap <= TOL
    # Both are the same sums, added in another order and rounded in another way.
    assert found.certificate.objective == pytest.approx(at.objective, rel=1e-13)
    assert found.certificate.gap == pytest.approx(at.gap, abs=1e-9)
    assert found.certificate.errors == at.errors
    assert found.certificate.at_zero == at.at_zero


def test_dual_weights_balance_and_are_in_their_range(fit):
    problem, found, _ = fit
    a = found.solution.dual
    assert ((a >= 0.0) & (a <= problem.row_weights)).all()
    assert units(a[problem.y > 0.0]) == units(a[problem.y < 0.0])
    assert (cut(a) == a).all()


def test_few_reads_are_enough_and_each_is_told(fit):
    _, found, seen = fit
    assert [read for read, _ in seen] == list(range(1, found.solution.n_epochs + 1))
    assert found.solution.n_epochs <= 6
    assert seen[-1][1] == found.certificate
    assert all(at.dual_objective <= found.certificate.objective for _, at in seen)


def test_the_table_counts_rows_by_label_and_sign(fit):
    problem, found, _ = fit
    scores = problem.X @ found.solution.beta + found.solution.alpha
    for line, sign in enumerate((-1.0, 1.0)):
        of_class = scores[problem.y == sign]
        expected = [(of_class < 0.0).sum(), (of_class > 0.0).sum(), 0]
        assert found.table[line].tolist() == expected


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_no_bit_depends_on_the_number_of_threads(loss, monkeypatch):
    monkeypatch.setattr(rows, "STREAM_BLOCK", 1000)
    problem = problem_of(loss, True)
    runs = [few_reads(streamed(problem, workers), SOLVER) for workers in (1, 4)]
    for name in ("beta", "alpha", "dual"):
        one, other = (getattr(run.solution, name) for run in runs)
        assert np.array_equal(one, other)
    assert runs[0].certificate == runs[1].certificate


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_single_precision_and_no_intercept(loss):
    problem = problem_of(loss, False, np.float32)
    free = Problem(problem.X, problem.y, problem.lam, loss, intercept=False)
    found = few_reads(streamed(free), SOLVER)
    assert found.solution.alpha == 0.0
    assert certificate_of(free, found.solution).relative_gap <= TOL


def test_the_last_read_is_the_limit():
    problem = problem_of("hinge", False)
    found = few_reads(streamed(problem), Optimum(epochs=1, tol=TOL, seed=1))
    assert (found.reached, found.solution.n_epochs) == (False, 1)
    assert found.certificate.relative_gap == 1.0  # no dual point yet


def of_budget(rows_kept, tol=1e-6, free=True, weighted=False):
    rng = np.random.default_rng(3)
    y = np.where(rng.random(40_000) < 0.4, 1.0, -1.0)
    X = rng.standard_normal((y.size, 20))
    X[:, :5] += 0.4 * y[:, None]
    w = rng.gamma(2.0, size=y.size)
    w = w / w.mean() if weighted else None
    problem = Problem(X, y, 1e-3, intercept=free, weights=w)
    seen = []
    found = few_reads(
        *(streamed(problem, max_retained_rows=rows_kept), Optimum(tol=tol, seed=1)),
        observe=lambda read, at: seen.append(at),
    )
    return problem, found, seen


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("rows_kept", [40_000, 6000, 2400, 400, 250])
def test_the_optimum_needs_room_for_few_rows(rows_kept, free, weighted):
    """In 4 to 5 reads, with room for all rows or for five to a coefficient."""
    problem, found, seen = of_budget(rows_kept, 1e-6, free, weighted)
    assert found.reached
    assert found.solution.n_epochs == len(seen) <= 7
    assert certificate_of(problem, found.solution).relative_gap <= 1e-6
    _, best = solved(problem, Optimum(tol=1e-9, seed=1), warn=False)
    # Both intervals, from bound to risk, have the minimum within.
    assert found.certificate.dual_objective <= best.objective
    assert best.dual_objective <= found.certificate.objective


def test_a_fit_that_may_keep_no_row_is_certified_and_ends():
    _, found, seen = of_budget(1, tol=1e-9)
    assert not found.reached
    assert found.certificate.relative_gap < 1e-4
    assert len(seen) < 25  # of 100: it sees that reads bring nothing
    assert of_budget(1, tol=1e-4)[1].reached


@pytest.mark.parametrize("failing", ["pass_over", "solve"])
def test_rows_that_find_no_room_after_all_are_let_go(failing, monkeypatch):
    """Whatever the sample said: the fit goes on without rows, and tries again."""
    method, calls = getattr(StreamedHinge, failing), []

    def first_in_vain(step, *given):
        calls.append(step)
        if len(calls) == 1:
            raise NoRoomError
        return method(step, *given)

    monkeypatch.setattr(StreamedHinge, failing, first_in_vain)
    _, found, seen = of_budget(2400)
    assert found.reached
    assert len({id(step) for step in calls}) == 2
    assert len(seen) <= 9
    closer = of_budget(40_000, tol=1e-10)[1]
    assert closer.reached
    # Both intervals, from bound to risk, have the minimum within: the second, a ten
    # thousandth as long, says where it is.
    assert found.certificate.dual_objective <= closer.certificate.objective
    assert closer.certificate.dual_objective <= found.certificate.objective


def test_a_rare_class_that_is_given_up_is_certified_too():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((2000, 3)), np.where(np.arange(2000) < 60, 1.0, -1.0)
    problem = Problem(X + 0.3 * y[:, None], y, 1.0)
    found = few_reads(streamed(problem), SOLVER)
    assert found.reached
    assert (found.solution.dual[y > 0.0] == 1.0).all()


KNOWN = {  # offsets by the labels
    "each row is right by far": lambda y: 1e3 * y,
    "each row is wrong by far": lambda y: -1e3 * y,
    "one row is wrong": lambda y: np.where(np.arange(y.size) == 3, -1e6 * y, 1e3 * y),
    "nothing is left of a loss": lambda y: 1e300 * y,
    "one class is right": lambda y: np.where(y > 0.0, 1e3, 0.0),
}


@pytest.mark.parametrize(
    ("loss", "free", "lam"),
    [
        *(("hinge", False, 1e-6), ("hinge", True, 1.0), ("hinge", True, 1e300)),
        *(("log", True, 1e-6), ("log", False, 1.0), ("log", True, 1e300)),
    ],
)
@pytest.mark.parametrize("known", KNOWN)
def test_offsets_that_leave_no_row_near_the_margin_are_read(known, loss, free, lam):
    """No row is kept then, or the log loss has no curvature: it is certified still."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    problem = Problem(X, y, lam, loss, free, offset=KNOWN[known](y))
    found = few_reads(streamed(problem), Optimum(epochs=5, tol=TOL, seed=1))
    _, at = solved(problem, Optimum(tol=1e-10, seed=1), warn=False)
    assert found.certificate.dual_objective <= at.objective
    assert at.dual_objective <= found.certificate.objective


@pytest.mark.parametrize("first", [1.0, 3.0e9, 2.0**60])
def test_sums_of_blocks_are_rounded_by_their_share_at_most(first):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((8, 2)), np.where(np.arange(8) % 3, 1.0, -1.0)
    seen = risk_and_image(X, y, np.zeros(2), 0.0, "hinge", np.zeros(8))
    values = np.append(first, rng.random(6))
    found = added([seen._replace(loss=v, entropy=2 * v) for v in values.tolist()])
    exact = fractions(values).sum()
    assert abs(found.loss - exact) <= found.share * exact
    assert abs(found.entropy - 2 * exact) <= found.share * 2 * exact
    assert found.errors == 7 * seen.errors

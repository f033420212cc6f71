"""Compare kernel SVMs with scikit-learn's SVC, in one thread.

    python benchmarks/kernel_optimum.py [--repeats 3] [--exact]

Prints for each simulated data set: the time of ``KernelSVM.fit()`` with the tolerances
1e-3 and 1e-6; the time of SVC with its default tolerance of 1e-3; how far the objective
of SVC is above the certified lower bound of the minimum, relative to this bound; and
the share of support rows. With ``--exact`` it also runs SVC with a tolerance of 1e-8,
which is slow, and checks that our objective exceeds the objective of SVC by at most our
gap. Compilation is not timed.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from comparison import Comparison, in_turn
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import pegasos_stats as ps

Data = tuple[np.ndarray, np.ndarray]


def moons(n: int, rng: np.random.Generator) -> Data:
    """Two noisy half circles: two columns; nearly all dual variables are at a bound."""
    angle, upper = rng.uniform(0.0, np.pi, n), rng.random(n) < 0.5
    x1 = np.where(upper, 1.0 - np.cos(angle), np.cos(angle))
    x2 = np.where(upper, 0.5 - np.sin(angle), np.sin(angle))
    X = np.column_stack([x1, x2]) + 0.3 * rng.standard_normal((n, 2))
    return X, np.where(upper, 1, -1)


def indicators(n: int, rng: np.random.Generator) -> Data:
    """A hundred dummies, most of them rare, as in a census."""
    X = (rng.random((n, 100)) < rng.beta(0.4, 2.0, 100)).astype(float)
    score = X @ rng.standard_normal(100) + 1.5 * rng.logistic(size=n)
    return X, np.where(score > np.quantile(score, 0.76), 1, -1)


def waves(n: int, rng: np.random.Generator) -> Data:
    """Twenty-two columns, 10% positive rows; few dual variables at a bound."""
    X = rng.uniform(-1.0, 1.0, (n, 22))
    score = np.sin(3 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + X[:, 3] ** 2
    score += 0.3 * rng.standard_normal(n)
    return X, np.where(score > np.quantile(score, 0.9), 1, -1)


def images(n: int, rng: np.random.Generator) -> Data:
    """Ten groups of rows with 256 columns, as of pixels: few support rows."""
    centres, group = rng.standard_normal((10, 256)), rng.integers(0, 10, n)
    noise = rng.standard_normal((n, 20)) @ rng.standard_normal((20, 256))
    X = centres[group] + 0.3 * noise + 0.4 * rng.standard_normal((n, 256))
    return np.tanh(X), np.where(group % 2 == 0, 1, -1)


def mixed(n: int, rng: np.random.Generator) -> Data:
    """Ten numeric columns and 44 dummies: classes that are hard to separate."""
    measured, marks = rng.standard_normal((n, 10)), rng.random((n, 44)) < 0.1
    score = np.sin(2 * measured[:, 0]) + measured[:, 1] * measured[:, 2]
    score += np.abs(measured[:, 3]) + marks @ rng.standard_normal(44)
    score += rng.standard_normal(n)
    return np.column_stack([measured, marks]), np.where(score > np.median(score), 1, -1)


class Case(NamedTuple):
    """A data set, its size, and the parameters of SVC."""

    draw: Callable[[int, np.random.Generator], Data]
    n: int
    C: float
    gamma: float


CASES = [
    Case(moons, 5_000, 1.0, 1.0),
    Case(moons, 20_000, 10.0, 1.0),
    Case(indicators, 10_000, 1.0, 0.02),
    Case(waves, 8_000, 10.0, 0.5),
    Case(images, 6_000, 5.0, 0.004),
    Case(mixed, 8_000, 10.0, 0.1),
    Case(mixed, 5_000, 300.0, 0.02),
]


def objective_of(peer: SVC, model: ps.KernelSVM, C: float) -> float:
    """Return the objective of SVC's function, with the best intercept."""
    problem = model.problem
    scores = peer.decision_function(problem.X) - peer.intercept_
    a = np.abs(peer.dual_coef_[0]) / C
    penalty = 0.5 * float(a * problem.y[peer.support_] @ scores[peer.support_])
    kinks = np.sort(problem.y - scores)
    rank = int((problem.y > 0).sum())
    alpha = 0.5 * (kinks[rank - 1] + kinks[rank])
    loss = np.maximum(0.0, 1.0 - problem.y * (scores + alpha)).mean()
    return penalty / problem.n + float(loss)


def compare(case: Case, repeats: int) -> Iterator[Comparison]:
    """Compare fits with both tolerances with SVC at its default tolerance."""
    X, y = case.draw(case.n, np.random.default_rng(1))
    lam = 1.0 / (case.C * case.n)
    model = ps.KernelSVM(y, X, lam=lam, gamma=case.gamma, standardize=False)
    peer = SVC(C=case.C, gamma=case.gamma)
    best = model.fit(ps.Optimum(tol=1e-6, seed=1))
    for tol in (1e-3, 1e-6):

        def ours(seed: int, tol: float = tol) -> None:
            model.fit(ps.Optimum(tol=tol, seed=seed))

        ratio = in_turn(ours, lambda _: peer.fit(X, y), repeats)
        above = objective_of(peer, model, case.C) / best.dual_objective - 1.0
        yield Comparison.on(
            f"{case.draw.__name__}, C = {case.C:g}",
            X,
            (f"KernelSVM to {tol:g}", f"tol={tol:g}"),
            ("SVC", f"tol={peer.tol:g}"),
            ratio,
            f"SVC within {above:.0e}; {best.n_support / case.n:.0%} are support rows",
        )


def check_exact(case: Case) -> None:
    """Check that our objective exceeds SVC's, at tolerance 1e-8, by at most our gap."""
    X, y = case.draw(case.n, np.random.default_rng(1))
    lam = 1.0 / (case.C * case.n)
    model = ps.KernelSVM(y, X, lam=lam, gamma=case.gamma, standardize=False)
    best = model.fit(ps.Optimum(tol=1e-6, seed=1))
    peer = SVC(C=case.C, gamma=case.gamma, tol=1e-8).fit(X, y)
    apart = best.objective - objective_of(peer, model, case.C)
    print(f"  our objective minus SVC's at 1e-8: {apart:.1e}, our gap {best.gap:.1e}")
    assert apart <= best.gap


def comparisons(repeats: int = 3) -> Iterator[Comparison]:
    """Compare all cases."""
    for case in CASES:
        yield from compare(case, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--exact", action="store_true")
    options = parser.parse_args()
    for found in comparisons(options.repeats):
        print(found, flush=True)
    for case in CASES if options.exact else ():
        check_exact(case)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()

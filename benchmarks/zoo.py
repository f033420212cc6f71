"""Simulate the coverage of 95% intervals, of the two defaults and other methods.

    python benchmarks/zoo.py build/zoo.csv
    python benchmarks/zoo.py build/zoo.csv --loss log --rows 300
    python benchmarks/zoo.py build/zoo.csv another.csv --table docs

A cell is a combination of population (fifteen), loss, number of rows and lambda, where
0 stands for 1/n. Each cell has 200 replications, in parts of 20; a part of every cell
is simulated before the next part of any. Each part is a line of the file for each
method. It has, for each slope: how often the interval contained the minimiser of the
penalised risk in the population, the sum of its lengths, and the number of samples with
an interval (separated samples have none). It also has the number of samples in which
the joint test of all slopes rejected the true values at 5%. Parts that are in the file
are not repeated, so that a run can be interrupted and continued, and files can be
joined. The minimiser is exact for discrete predictors: all their combinations are
fitted, weighted by their probabilities. For other predictors it is fitted to 1,000,000
rows, each with both labels, weighted by the probabilities of the labels.

The methods for the hinge use one set of 399 resamples; 2.5% of 399 + 1 is a whole
number, as it is of 999 + 1. ``envelope`` is the default. ``Hall`` subtracts and adds
the 95% quantile of the absolute deviations, with the joint test of the default.
``percentile`` uses quantiles of the resamples, with a joint test by Mahalanobis
distances. ``normal`` uses 1.96 standard deviations, with a chi-squared test. The
methods for the log loss are ``HC3``, the default, HC0 and nonrobust, as ``cov_type=``.
"""

import argparse
import csv
import itertools
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom, chi2, norm

import pegasos_stats as ps
from pegasos_stats.models.inference.wald import ATOM_SHARE

Vector = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Vector, Vector]]

LEVEL = 0.05
TOGETHER = 20  # replications in a part
RESAMPLES = 399
LARGE = 1_000_000  # rows that represent a population
NOISE = 1e-5  # numerical error of distances, due to the tolerance of the solver
TARGET = ps.Optimum(tol=1e-7, epochs=2000, seed=1)
CELLS = ps.Optimum(tol=1e-11, epochs=20_000, seed=1)
LOSSES: dict[str, Any] = {"hinge": ps.SVM, "log": ps.Logit}
DEFAULTS = {"hinge": "envelope", "log": "HC3"}
AXES = ["population", "loss", "rows", "lam"]
LISTS = ["held", "length", "shown"]  # a number for each slope
SUMS = ["joint", "warned"]
COLUMNS = [*AXES, "part", "method", *LISTS, *SUMS]


def linear(X: Vector, c: float, *g: float) -> Vector:
    """Return ``P(y = 1) = 1 / (1 + exp(-c - x'g))``."""
    return np.asarray(expit(c + X @ np.array(g)))


def normals(rng: np.random.Generator, n: int, p: int, r: float = 0.0) -> Vector:
    """Draw standard normal columns; each pair has the correlation ``r``."""
    own, shared = rng.standard_normal((n, p)), rng.standard_normal((n, 1))
    return np.sqrt(1.0 - r) * own + np.sqrt(r) * shared


def factor(rng: np.random.Generator, n: int, shares: list[float]) -> Vector:
    """Draw a factor; return the indicators of all levels except the first."""
    level = rng.choice(len(shares), n, p=shares)
    return (level[:, None] == np.arange(1, len(shares))).astype(float)


# Discrete populations: all possible rows, their probabilities, P(y = 1).


def grid(*values: int) -> Vector:
    """Return all combinations of integers from 0 to below each of `values`."""
    return np.array(list(itertools.product(*map(range, values))), dtype=float)


def checklist() -> tuple[Vector, Vector, Vector]:
    """Six binary items in a mixture of two groups of people; two items interact."""
    X = grid(*[2] * 6)
    kinds = [0.7, 0.6, 0.5, 0.4, 0.3, 0.6], [0.3, 0.2, 0.4, 0.1, 0.15, 0.5]
    each = [binom.pmf(X, 1, kind).prod(axis=1) for kind in kinds]
    more = -0.8 * X[:, 0] * X[:, 1]
    likely = expit(-0.6 + X @ [1.2, -0.8, 0.6, 0.0, 0.9, 0.0] + more)
    return X, 0.6 * each[0] + 0.4 * each[1], likely


def crossed() -> tuple[Vector, Vector, Vector]:
    """Two factors with three levels each and interactions; one cell has 2% of rows."""
    levels = grid(3, 3)
    shares = np.outer([0.5, 0.3, 0.2], [0.6, 0.3, 0.1]).ravel()
    a, b = ((levels[:, [i]] == [1.0, 2.0]).astype(float) for i in (0, 1))
    both = (a[:, :, None] * b[:, None, :]).reshape(len(levels), 4)
    X = np.hstack([a, b, both])
    return X, shares, linear(X, -0.4, 0.9, -0.5, 0.3, 1.0, -0.6, 0.8, 0.5, -1.2)


def likert() -> tuple[Vector, Vector, Vector]:
    """Scales of 4, 4, 3 and 11 points in a mixture of three groups, and sex."""
    X = grid(4, 4, 3, 11, 2)
    kinds = [0.3, (0.2, 0.3, 0.2, 0.5)], [0.4, (0.5, 0.4, 0.4, 0.75)]
    kinds += ([0.3, (0.8, 0.7, 0.7, 0.9)],)
    shares = sum(
        share * binom.pmf(X[:, :4], [3, 3, 2, 10], chances).prod(axis=1) / 2.0
        for share, chances in kinds
    )
    return X, np.asarray(shares), linear(X, -2.2, 0.6, -0.5, 0.0, 0.3, 0.4)


# Other populations: random rows and their P(y = 1).


def regions(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """A factor with six levels, three of them with 7%, 3% and 2%; age; a dummy."""
    shares = [0.45, 0.3, 0.13, 0.07, 0.03, 0.02]
    age, city = rng.uniform(1.8, 8.0, n), rng.random(n) < 0.6
    X = np.column_stack([factor(rng, n, shares), age, city])
    return X, linear(X, -1.2, 0.5, -0.5, 0.9, 0.0, 1.2, 0.25, 0.0)


def trial(x: Vector) -> tuple[Vector, Vector]:
    """Return rows of `dose` with the values `x` of the covariate."""
    i = np.arange(x.size)
    level, arm = i % 4, i // 4 % 2
    doses = (level[:, None] == [1, 2, 3]).astype(float)
    X = np.column_stack([doses, arm, doses * arm[:, None], x])
    return X, linear(X, -0.8, 0.3, 0.6, 0.9, 0.0, 0.2, 0.5, 0.9, 0.6)


def dose(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """A trial: four doses in two arms, with interaction, and a normal covariate."""
    return trial(rng.standard_normal(n))


def dose_cells() -> tuple[Vector, Vector, Vector]:
    """As `dose`, with a fine grid for the normal covariate."""
    x = np.repeat(np.linspace(-6.0, 6.0, 2401), 8)
    X, likely = trial(x)
    return X, norm.pdf(x) / norm.pdf(x).sum(), likely


def visits(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """Overdispersed, zero-inflated and geometric counts, and a dummy.

    P(y = 1) is between 0.1 and 0.85.
    """
    many = rng.negative_binomial(0.7, 0.26, n)
    zeros = rng.poisson(4.0, n) * (rng.random(n) < 0.4)
    X = np.column_stack([many, zeros, rng.geometric(0.4, n), rng.random(n) < 0.3])
    return X, 0.1 + 0.75 * linear(X, -0.5, 0.5, -0.3, 0.2, 0.0)


def elliptical(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """Student's t with 2.5 degrees of freedom in four dimensions, correlated."""
    X = normals(rng, n, 4, 0.4) / np.sqrt(rng.chisquare(2.5, (n, 1)) / 2.5)
    return X, linear(X, 0.3, 0.8, -0.5, 0.0, 0.3)


def contaminated(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """A logistic model; 8% of rows are five times as far from 0, with random labels."""
    X, odd = normals(rng, n, 4), rng.random(n) < 0.08
    likely = linear(X, 0.2, 1.5, -1.0, 0.5, 0.0)
    return X * np.where(odd, 5.0, 1.0)[:, None], np.where(odd, 0.5, likely)


def clumps(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """A mixture of three normal groups; the log odds are far from linear."""
    kind = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    centres = np.array([[0.0, 0, 0, 0], [2.5, 0, 1, 0], [0, 3, -1, 0]])
    X = centres[kind] + normals(rng, n, 4) * np.array([1.0, 0.7, 0.4])[kind][:, None]
    chance = np.array([0.25, 0.8, 0.35])[kind]
    return X, np.clip(chance + 0.15 * np.tanh(X[:, 3]), 0.02, 0.98)


def heaped(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """Age, rounded to 5 by half of the people; rounded income; schooling; a dummy."""
    age = np.round(rng.gamma(9.0, 5.0, n))
    age = np.where(rng.random(n) < 0.5, 5.0 * np.round(age / 5.0), age)
    income = np.round(2.0 * np.exp(1.0 + 0.6 * rng.standard_normal(n))) / 2.0
    school = 8.0 + rng.binomial(10, 0.45, n)
    X = np.column_stack([age / 10.0, income, school, rng.random(n) < 0.4])
    return X, linear(X, -0.6, -0.35, 0.35, 0.1, 0.0)


def claims(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """An outcome with a share of one fifth, which the predictors separate well."""
    young, city = rng.random(n) < 0.15, rng.random(n) < 0.4
    power, years = 1 + rng.binomial(5, 0.3, n), rng.uniform(0.0, 2.0, n)
    X = np.column_stack([young, city, power, years, normals(rng, n, 1)])
    return X, linear(X, -4.4, 2.2, 0.9, 0.5, 1.0, -1.3)


def laboratory(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """Measurements on very different scales, two of them skewed; standardized."""
    X = np.column_stack(
        [
            40.0 * rng.gamma(1.5, 1.0, n),
            np.exp(0.8 * rng.standard_normal(n)),
            140.0 + 5.0 * rng.standard_normal(n),
            rng.poisson(3.0, n),
            rng.random(n) < 0.2,
        ]
    )
    return X, linear(X, 16.8, 0.015, 0.4, -0.13, 0.0, 0.9)


def nothing(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """Predictors of five kinds without any effect."""
    scale = np.digitize(rng.standard_normal(n), [-1.0, 0.0, 1.0])
    columns = rng.standard_normal(n), rng.standard_t(3, n), rng.random(n) < 0.3
    return np.column_stack([*columns, rng.poisson(1.5, n), scale]), np.full(n, 0.5)


def dense(rng: np.random.Generator, n: int, p: int) -> tuple[Vector, Vector]:
    """Normal columns, all with effects of equal absolute value."""
    X = normals(rng, n, p)
    return X, np.asarray(expit(0.3 + 1.5 * X @ directions(p).ravel()))


def along(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """`dense` in the direction of its effects, which contains the minimiser."""
    x = rng.standard_normal(n)
    return x[:, None], np.asarray(expit(0.3 + 1.5 * x))


def directions(p: int) -> Vector:
    return (np.where(np.arange(p) % 3, 1.0, -1.0) / np.sqrt(p))[:, None]


def four(rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
    """The four predictors of `questionnaire` that have an effect."""
    scale = np.digitize(rng.standard_normal(n), [-1.0, 0.0, 1.0])
    X = np.column_stack([normals(rng, n, 2), rng.random(n) < 0.4, scale])
    return X, linear(X, -0.8, 1.0, -0.5, 0.8, 0.4)


def questionnaire(rng: np.random.Generator, n: int, p: int) -> tuple[Vector, Vector]:
    """Four predictors with an effect; five-point scales and dummies without effect."""
    X, likely = four(rng, n)
    scales = np.digitize(rng.standard_normal((n, p - 4)), [-1.2, -0.4, 0.4, 1.2])
    dummies = rng.random((n, p - 4)) < 0.35
    return np.hstack([X, np.where(np.arange(p - 4) % 2, dummies, scales)]), likely


@dataclass(frozen=True)
class Population:
    """A distribution of rows with their ``P(y = 1)``, and how they are fitted.

    Attributes
    ----------
    draw : callable, optional
        Returns ``n`` random rows and their ``P(y = 1)``; with `wide` it also takes the
        number ``p`` of columns.
    cells : callable, optional
        Returns all possible rows, their probabilities and ``P(y = 1)``. The minimiser
        is computed from these; without `draw`, samples are drawn from them as well.
    at_large : callable, optional
        Returns rows of a smaller problem, whose minimiser determines the minimiser of
        the full problem.
    wide : callable, optional
        Returns the matrix that maps slopes of the smaller problem to all ``p`` slopes.
    standardize : bool
        Whether predictors are standardized.
    """

    draw: Callable[..., tuple[Vector, Vector]] | None = None
    cells: Callable[[], tuple[Vector, Vector, Vector]] | None = None
    at_large: Draw | None = None
    wide: Callable[[int], Vector] | None = None
    standardize: bool = False

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
        """Draw ``n`` rows and their labels, 1 or -1."""
        if self.draw is not None:
            size = {"p": n // 10 - 1} if self.wide else {}
            X, likely = self.draw(rng, n, **size)
        else:
            assert self.cells is not None
            every, shares, chances = self.cells()
            chosen = rng.choice(len(every), n, p=shares / shares.sum())
            X, likely = every[chosen], chances[chosen]
        return X, np.where(rng.random(n) < likely, 1.0, -1.0)

    def slopes(self, rng: np.random.Generator, build: Any, lam: float) -> Vector:
        """Return the slopes that minimise the penalised risk in the population.

        With `at_large` these are the slopes of the smaller problem.
        """
        if self.cells is not None:
            X, shares, likely = self.cells()
        else:
            draw = self.at_large or self.draw
            assert draw is not None
            X, likely = draw(rng, LARGE)
            shares = np.ones(LARGE)
        y = np.repeat([1.0, -1.0], len(X))
        weights = np.concatenate([shares * likely, shares * (1.0 - likely)])
        options = {"weights": weights, "standardize": self.standardize, "lam": lam}
        model = build(y, np.vstack([X, X]), **options)
        fit = model.fit(CELLS if self.cells else TARGET, cov_type="none")
        if not fit.certificate.relative_gap < 1e-6:
            raise RuntimeError(f"The fit to the population has not converged: {fit}")
        return np.asarray(fit.params.to_numpy()[1:])


def padded(p: int) -> Vector:
    return np.eye(p, 4)


DRAWN = regions, visits, elliptical, contaminated, clumps, heaped, claims
POPULATIONS = {
    **{f.__name__: Population(cells=f) for f in (checklist, crossed, likert)},
    **{f.__name__: Population(f) for f in DRAWN},
    "dose": Population(dose, dose_cells),
    "laboratory": Population(laboratory, standardize=True),
    "nothing": Population(nothing),
    "dense": Population(dense, at_large=along, wide=directions),
    "questionnaire": Population(questionnaire, at_large=four, wide=padded),
}


class Cell(NamedTuple):
    """One cell of the table; a `lam` of 0 is 1/n."""

    population: str
    loss: str
    rows: int
    lam: float

    @property
    def penalty(self) -> float:
        """Lambda."""
        return self.lam or 1.0 / self.rows

    def generator(self, *numbers: int) -> np.random.Generator:
        """Return a random generator that depends on the population and `numbers`."""
        return np.random.default_rng([zlib.crc32(self.population.encode()), *numbers])


@cache
def large_slopes(population: str, loss: str, lam: float) -> Vector:
    rng = Cell(population, loss, LARGE, lam).generator()
    return POPULATIONS[population].slopes(rng, LOSSES[loss], lam)


def true_slopes(cell: Cell, p: int) -> Vector:
    """Slopes of the minimiser of the penalised risk in the population, shape (p,)."""
    if cell.population == "nothing":
        return np.zeros(p)
    found = large_slopes(cell.population, cell.loss, cell.penalty)
    wide = POPULATIONS[cell.population].wide
    return found if wide is None else wide(p) @ found


class Outcome(NamedTuple):
    """Intervals by one method in one sample, and the joint test of all slopes."""

    low: Vector
    high: Vector
    pvalue: float


def by_fit(found: Any, true: Vector) -> Outcome:
    """Return the intervals and the joint test of the fit."""
    low, high = found.conf_int().to_numpy()[1:].T
    joint = found.wald_test((np.eye(true.size + 1)[1:], true))
    return Outcome(low, high, joint.pvalue)


def by_resamples(found: Any, true: Vector) -> dict[str, Outcome]:
    """Apply the other methods for the hinge to the resamples of the fit."""
    theta, drawn = found.params.to_numpy()[1:], found.covariance
    apart, noise = drawn.estimates[:, 1:] - theta, drawn.solver_noise[1:]
    m, ordered = len(apart), np.sort(apart, axis=0)
    k = int(0.025 * (m + 1) + 1e-9)
    hall = np.sort(np.abs(apart), axis=0)[m - 2 * k] + noise
    V = np.cov(apart, rowvar=False)
    reach = norm.ppf(0.975) * np.sqrt(np.diag(V)) + noise
    inverse, d = np.linalg.pinv(V, hermitian=True), theta - true
    far = np.sqrt(np.einsum("bi,ij,bj->b", apart, inverse, apart))
    own = float(np.sqrt(d @ inverse @ d))
    counted = float((1 + (far >= own - NOISE).sum()) / (1 + m))
    ends = theta + ordered[k - 1] - noise, theta + ordered[m - k] + noise
    return {
        "Hall": Outcome(theta - hall, theta + hall, by_fit(found, true).pvalue),
        "percentile": Outcome(*ends, counted),
        "normal": Outcome(
            theta - reach, theta + reach, float(chi2.sf(own**2, true.size))
        ),
    }


def replication(cell: Cell, number: int, size: int) -> dict[str, dict[str, Any]]:
    """Return, by method, which intervals contain the truth, lengths, joint tests."""
    population = POPULATIONS[cell.population]
    X, y = population.sample(cell.generator(cell.rows, number), cell.rows)
    options = {"lam": cell.penalty, "standardize": population.standardize}
    model, true = LOSSES[cell.loss](y, X, **options), true_slopes(cell, X.shape[1])
    warned = False
    if cell.loss == "hinge":
        found = model.fit(cov_type=ps.Bootstrap(size))
        methods = {"envelope": by_fit(found, true)} | by_resamples(found, true)
        warned = bool((found.covariance.atoms >= ATOM_SHARE).any())
    else:
        found, names = model.fit(), ("HC3", "HC0", "nonrobust")
        methods = {n: by_fit(found.with_covariance(n), true) for n in names}
    return {
        name: {
            "held": (each.low <= true) & (true <= each.high),
            "length": np.nan_to_num(each.high - each.low),
            "shown": np.isfinite(each.low),
            "joint": each.pvalue <= LEVEL,
            "warned": warned,
        }
        for name, each in methods.items()
    }


def part_of(cell: Cell, part: int, size: int) -> Iterator[dict[str, object]]:
    """Yield the lines of one part of a cell: sums over its replications."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = range(part * TOGETHER, (part + 1) * TOGETHER)
        done = [replication(cell, number, size) for number in numbers]
    for method in done[0]:
        sums = {
            name: np.sum([each[method][name] for each in done], axis=0)
            for name in [*LISTS, *SUMS]
        }
        texts = {name: " ".join(f"{v:.6g}" for v in sums[name]) for name in LISTS}
        yield cell._asdict() | {"part": part, "method": method} | sums | texts


def read(paths: list[Path]) -> pd.DataFrame:
    """Return the lines of all files, each part of a cell once."""
    known = [pd.read_csv(path) for path in paths if path.exists()]
    lines = pd.concat(known) if known else pd.DataFrame(columns=COLUMNS)
    return lines.drop_duplicates([*AXES, "part", "method"])


def run(path: Path, cells: list[Cell], parts: int, size: int) -> None:
    """Add missing parts to the file: the first part of every cell, then the second."""
    done = set(read([path])[[*AXES, "part"]].itertuples(index=False, name=None))
    begun = path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not begun:
            writer.writeheader()
        for part, cell in itertools.product(range(parts), cells):
            if (*cell, part) not in done:
                writer.writerows(list(part_of(cell, part, size)))
                file.flush()


def joined(lines: pd.DataFrame) -> pd.DataFrame:
    """Return a row per cell and method; lengths are relative to the default method."""
    usual = np.ones(0)
    rows = []
    for names, parts in lines.groupby([*AXES, "method"], sort=False):
        count = len(parts) * TOGETHER
        held, length, shown = (
            np.sum([np.array(text.split(), float) for text in parts[name]], axis=0)
            for name in LISTS
        )
        held, length = held / shown, length / shown
        if names[-1] in DEFAULTS.values():
            usual = length
        free = usual > 1e-3
        rows.append(
            dict(zip([*AXES, "method"], names, strict=True))
            | {"samples": count, "mean": held.mean(), "lowest": held.min()}
            | {"length": (length[free] / usual[free]).mean()}
            | {name: parts[name].sum() / count for name in SUMS}
        )
    return pd.DataFrame(rows)


def by_method(cells: pd.DataFrame) -> pd.DataFrame:
    """Return means and extremes over all cells, by method."""
    return cells.groupby(["loss", "method"], sort=False).agg(
        cells=("mean", "size"),
        mean=("mean", "mean"),
        lowest_mean=("mean", "min"),
        lowest=("lowest", "min"),
        length=("length", "mean"),
        joint=("joint", "mean"),
        largest_joint=("joint", "max"),
    )


def by_population(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the results of the two defaults in each population, over all lambdas."""
    parts = []
    for loss, method in DEFAULTS.items():
        some = cells[(cells["loss"] == loss) & (cells["method"] == method)]
        found = some.groupby(["population", "rows"], sort=False).agg(
            samples=("samples", "min"),
            mean=("mean", "mean"),
            lowest=("lowest", "min"),
            joint=("joint", "mean"),
            warned=("warned", "mean"),
        )
        parts.append(found.add_prefix(f"{loss}: "))
    both = pd.concat(parts, axis=1).drop(columns="log: warned")
    shown = both.round(3)
    counts = [name for name in shown if name.endswith("samples")]
    return shown.astype(dict.fromkeys(counts, int)).reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    every = list(POPULATIONS)
    default = [Path("build/zoo.csv")]
    parser.add_argument("files", nargs="*", type=Path, default=default)
    table = "folder; write tables of the files there, without simulating"
    parser.add_argument("--table", type=Path, help=table)
    parser.add_argument("--population", nargs="+", choices=every, default=every)
    parser.add_argument("--loss", nargs="+", choices=LOSSES, default=list(LOSSES))
    parser.add_argument("--rows", nargs="+", type=int, default=[300, 1000])
    parser.add_argument("--lam", nargs="+", type=float, default=[0.0, 1e-2, 1e-1])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    given = parser.parse_args()
    axes = given.population, given.loss, given.rows, given.lam
    if given.table is None:
        cells = [Cell(*values) for values in itertools.product(*axes)]
        parts = -(-given.replications // TOGETHER)
        run(given.files[0], cells, parts, given.resamples)
    found = joined(read(given.files))
    means = by_method(found)
    if given.table is not None:
        means.round(3).to_csv(given.table / "coverage_means.csv")
        by_population(found).to_csv(given.table / "coverage.csv", index=False)
    print(means.round(3).to_string())


if __name__ == "__main__":
    main()

"""Data sets with two classes, by name, for `thirty_sets.py`; none needs a network.

They come from scikit-learn, statsmodels, simulation, and the folder that
PEGASOS_STATS_DATA names. Predictors are a dense or a sparse array; labels are -1 and
+1.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from sklearn import datasets

Rows = Any  # array, or sparse array
Data = tuple[Rows, np.ndarray]

MOST_ROWS = 1500


def signs(positive: Any) -> np.ndarray:
    return np.where(np.asarray(positive, dtype=bool), 1.0, -1.0)


def pair(load: Callable[[], Any], negative: int, positive: int) -> Data:
    """Return two classes of a data set of scikit-learn."""
    found = load()
    rows = np.isin(found.target, (negative, positive))
    return found.data[rows], signs(found.target[rows] == positive)


def diabetes() -> Data:
    found = datasets.load_diabetes(scaled=False)
    return found.data, signs(found.target > np.median(found.target))


def statsmodels_set(name: str, outcome: str, above: float | None = 0.0) -> Data:
    """Return a data set of statsmodels; the label is whether a column exceeds `above`.

    If `above` is None, it is the median of the column.
    """
    from statsmodels import datasets as more

    frame = getattr(more, name).load_pandas().data.dropna()
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=1)
    values = frame.pop(outcome).to_numpy(float)
    return frame.to_numpy(float), signs(
        values > (np.median(values) if above is None else above)
    )


def star98() -> Data:
    from statsmodels import datasets as more

    frame = more.star98.load_pandas().data
    return frame.iloc[:, 2:].to_numpy(float), signs(frame["NABOVE"] > frame["NBELOW"])


def svmlight(name: str, dense: bool = False) -> Data:
    """Return the first rows of a file of the folder, or raise `FileNotFoundError`."""
    folder = os.environ.get("PEGASOS_STATS_DATA")
    if folder is None:
        raise FileNotFoundError("PEGASOS_STATS_DATA is not set")
    X, y = datasets.load_svmlight_file(str(Path(folder) / name))
    X, y = csr_array(X[:MOST_ROWS]), signs(y[:MOST_ROWS] > 0)
    return X.toarray() if dense else X, y


def normal(seed: int, n: int, p: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, p))


def noisy(
    rng: np.random.Generator, X: Rows, k: int = 2, noise: float = 1.0
) -> np.ndarray:
    """Return labels that depend on the sum of the first columns and noise."""
    return signs(X[:, :k].sum(axis=1) + noise * rng.standard_normal(X.shape[0]) > 0.3)


def shaped(
    seed: int, change: Callable[[np.ndarray], np.ndarray], n: int = 300, p: int = 5
) -> Data:
    """Return labels of normal predictors, and the predictors after a transformation."""
    rng, X = normal(seed, n, p)
    return change(X), noisy(rng, X)


def collinear() -> Data:
    """Return twenty columns of rank 6."""
    rng, Z = normal(2, 400, 6)
    return Z @ rng.standard_normal((6, 20)), noisy(rng, Z)


def nearly_collinear() -> Data:
    rng, X = normal(3, 300, 8)
    X[:, 4:] = X[:, :4] + 1e-6 * X[:, 4:]
    return X, noisy(rng, X)


def heavy_tails() -> Data:
    """Return predictors of Student's t with 1.5 degrees of freedom.

    The labels depend on the hyperbolic tangents of the predictors.
    """
    rng = np.random.default_rng(4)
    X = rng.standard_t(1.5, (500, 6))
    return X, noisy(rng, np.tanh(X), noise=0.5)


def rare(count: int = 6) -> Data:
    """Return a class of few rows, whose mean in one column differs by 2."""
    _, X = normal(5, 400, 5)
    y = signs(np.arange(400) < count)
    X[:, 0] += y
    return X, y


def separable() -> Data:
    _, X = normal(6, 300, 5)
    return X, signs(X[:, 0] + 0.1 > 0)


def wide(n: int = 120, p: int = 2000) -> Data:
    rng, X = normal(7, n, p)
    return X, noisy(rng, X, 9)


def duplicated() -> Data:
    """Return forty distinct rows with repetitions, some of them with both labels."""
    rng, X = normal(8, 40, 4)
    rows = rng.integers(0, 40, 400)
    return X[rows], noisy(rng, X[rows], noise=0.7)


def text(n: int = 500, p: int = 3000) -> Data:
    """Return sparse rows of length 1, each from thirty words with Zipf frequencies."""
    rng = np.random.default_rng(9)
    words = np.minimum(rng.zipf(1.3, (n, 30)) - 1, p - 1)
    counts = csr_array(
        (np.ones(words.size), (np.repeat(np.arange(n), 30), words.ravel())),
        shape=(n, p),
    )
    counts.sum_duplicates()
    counts.data = 1.0 + np.log(counts.data)
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(lengths, np.diff(counts.indptr))
    score = counts @ rng.standard_normal(p)
    return counts, signs(score > np.median(score) + 0.1 * rng.standard_normal(n))


def sparse_far() -> Data:
    """Return sparse columns whose scales are between 1e-3 and 1e5."""
    rng = np.random.default_rng(10)
    X = csr_array(random_sparse(600, 30, 0.3, "csr", None, rng, rng.standard_normal))
    y = signs(X @ rng.standard_normal(30) + rng.standard_normal(600) > 0)
    X.data *= (10.0 ** rng.uniform(-3, 5, 30))[X.indices]
    return X, y


def classified(n: int, p: int, **options: Any) -> Data:
    X, y = datasets.make_classification(n, p, random_state=1, **options)
    return X, signs(y)


def moons() -> Data:
    X, y = datasets.make_moons(500, noise=0.3, random_state=1)
    return X, signs(y)


def units(*scale_and_place: tuple[float, float]) -> Callable[[np.ndarray], np.ndarray]:
    scale, place = np.array(scale_and_place).T
    return lambda X: X * scale + place


UNIT = (1.0, 0.0)
SETS: dict[str, Callable[[], Data]] = {
    "iris 0/1": partial(pair, datasets.load_iris, 0, 1),
    "iris 1/2": partial(pair, datasets.load_iris, 1, 2),
    "wine 0/1": partial(pair, datasets.load_wine, 0, 1),
    "wine 1/2": partial(pair, datasets.load_wine, 1, 2),
    "digits 1/7": partial(pair, datasets.load_digits, 1, 7),
    "digits 3/8": partial(pair, datasets.load_digits, 3, 8),
    "breast cancer": partial(pair, datasets.load_breast_cancer, 0, 1),
    "diabetes": diabetes,
    "fair": partial(statsmodels_set, "fair", "affairs"),
    "spector": partial(statsmodels_set, "spector", "GRADE"),
    "anes96": partial(statsmodels_set, "anes96", "vote"),
    "heart": partial(statsmodels_set, "heart", "censors"),
    "ccard": partial(statsmodels_set, "ccard", "OWNRENT"),
    "cpunish": partial(statsmodels_set, "cpunish", "SOUTH"),
    "modechoice": partial(statsmodels_set, "modechoice", "choice"),
    "randhie": partial(statsmodels_set, "randhie", "mdvis"),
    "cancer counts": partial(statsmodels_set, "cancer", "cancer", None),
    "star98": star98,
    "600 x 40": partial(classified, 600, 40, n_informative=10),
    "redundant": partial(classified, 400, 60, n_redundant=40, flip_y=0.2),
    "moons": moons,
    "no signal": lambda: (normal(11, 200, 10)[1], signs(np.arange(200) % 2)),
    "wide": wide,
    "wide, positive": lambda: (np.exp(wide(80, 600)[0]), wide(80, 600)[1]),
    "collinear": collinear,
    "nearly collinear": nearly_collinear,
    "heavy tails": heavy_tails,
    "rare": rare,
    "separable": separable,
    "duplicated": duplicated,
    "counts": partial(shaped, 12, lambda X: np.floor(np.exp(2.0 * X))),
    "binary": partial(shaped, 13, lambda X: (X > 0.5).astype(float)),
    "scales": partial(
        shaped, 14, units((1e-6, 0), UNIT, (1e3, 0), (1e6, 0), (1e-2, 0))
    ),
    "nanoseconds": partial(
        shaped, 15, units(UNIT, UNIT, (10, 2010), (1e15, 1.7e18), (1, 1e4))
    ),
    "seconds": partial(
        shaped, 16, units(UNIT, UNIT, (10, 2010), (1e7, 1.7e9), (1, 1e4))
    ),
    "far": partial(shaped, 17, units(UNIT, (1, 1e6), (1e-3, 1e3), (1, -1e8), UNIT)),
    "constant": partial(
        shaped, 18, lambda X: np.c_[X, np.full(len(X), 1e4), np.zeros(len(X))]
    ),
    "text": text,
    "sparse, far": sparse_far,
    "a9a": partial(svmlight, "a9a.gz"),
    "w8a": partial(svmlight, "w8a.gz"),
    "ijcnn1": partial(svmlight, "ijcnn1.bz2"),
    "bio": partial(svmlight, "jhu_bio.train", dense=True),
    "speech": partial(svmlight, "jhu_speech.train.gz", dense=True),
    "reuters": partial(svmlight, "reuters_acq.train.gz"),
}

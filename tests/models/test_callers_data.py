"""A fit is what it was, whatever becomes of the data that it was made from."""

import tempfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pegasos_stats as ps

pytestmark = pytest.mark.filterwarnings(
    "ignore::pegasos_stats.errors.ConvergenceWarning"
)
N = 30
PEGASOS, OPTIMUM = (
    ps.Pegasos(epochs=3, seed=1),
    ps.Optimum(seed=1, tol=1e-9, epochs=500),
)


def numbers(order="C", dtype=np.float64):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 3)) + 2.0
    y = np.where(X[:, 0] + rng.normal(size=N) > 2.0, 1, 0)
    return np.array(X, dtype=dtype, order=order), y


def arrays(*given):
    X, y = numbers(*given)
    return X, y, [X, y]


def view():
    wide = np.repeat(numbers()[0], 2, axis=1)
    return wide[:, ::2], numbers()[1], [wide]


def read_only_view():
    X, y = numbers()
    of_x = X.view()
    of_x.flags.writeable = False
    return of_x, y, [X]


def memory_map():
    """Rows of a file that another program may open and write to."""
    X, y = numbers()
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        maps = [np.load(f"{folder}/X.npy", mmap_mode=mode) for mode in ("r", "r+")]
    return maps[0], y, maps[1:]


def frame_of_an_array():
    """A frame that shares its memory with an array that can be written to."""
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abc"), copy=False)
    return frame, pd.Series(y, copy=False), [X, y, frame]


def missing_values():
    X, y = numbers()
    X[3, 1] = np.nan
    return X, y, [X]


def sparse(kind, dtype=np.float64):
    X, y = numbers(dtype=dtype)
    made = kind(np.where(X > 2.0, X, 0.0))
    return made, y, [made.data, made.indices, made.indptr]


DATA = {
    "C order": arrays,
    "Fortran order": lambda: arrays("F"),
    "float32": lambda: arrays("C", np.float32),
    "view": view,
    "read-only view": read_only_view,
    "memory map": memory_map,
    "frame of an array": frame_of_an_array,
    "missing values": missing_values,
    "csr": lambda: sparse(sp.csr_array),
    "csr of float32": lambda: sparse(sp.csr_array, np.float32),
    "csc": lambda: sparse(sp.csc_array),
}


def scribble(buffers):
    """Change what the caller holds, in place."""
    for buffer in buffers:
        if isinstance(buffer, pd.DataFrame):
            for j in range(buffer.shape[1]):
                buffer.iloc[:, j] = buffer.iloc[::-1, j].to_numpy().copy() * 3
        elif buffer.dtype.kind == "f":
            buffer[...] = -7.5 * buffer[::-1]
        else:
            buffer[...] = buffer[::-1].copy()


def facts(model, result, new):
    """All that a fit says, also when it is made or described again."""
    again = model.fit(result.solver)
    return [
        *(result.params.to_list(), again.params.to_list(), again.certificate),
        *(result.certificate, str(result.summary()).split("seconds")[0]),
        *(str(result.confusion()), result.predict(new).tolist(), result.index.tolist()),
        *(result.predict().tolist(), result.decision_function().tolist()),
        result.augment().to_string() if result.coding.name == "y" else "",
    ]


@pytest.mark.parametrize("name", DATA)
def test_data_that_change_after_the_fit_change_nothing(name):
    hinge = list(DATA).index(name) % 2
    X, y, buffers = DATA[name]()
    model = (ps.SVM if hinge else ps.Logit)(y, X, lam=0.1)
    result, new = model.fit(PEGASOS if hinge else OPTIMUM), DATA[name]()[0]
    before = facts(model, result, new)
    scribble(buffers)
    assert facts(model, result, new) == before


def test_weights_index_order_and_formula_data_are_held_too():
    X, y = numbers()
    weights, order = np.linspace(1.0, 2.0, N), np.arange(N)[::-1].copy()
    index = np.arange(N) * 10
    frame = pd.DataFrame(X, columns=list("abc"), index=pd.Index(index, copy=False))
    frame["y"] = y
    model = ps.svm("y ~ a + np.exp(b)", frame, lam=0.1, weights=weights)
    result, new = model.fit(ps.Pegasos(order=order)), frame.copy()
    before = facts(model, result, new)
    weights[...], order[...], index[...] = 9.0, 0, -1
    frame.index.name = "changed"
    frame["a"] = 0.0
    scribble([X, y])
    assert facts(model, result, new) == before
    assert result.index.name is None


def test_what_a_fit_hands_out_does_not_lead_back_into_it():
    X, y = numbers()
    model = ps.Logit(y, X, lam=0.1, weights=np.linspace(1.0, 2.0, N))
    result = model.fit(OPTIMUM)
    problem, solution, covariance = result.problem, result.solution, result.covariance
    before, matrix = facts(model, result, X), result.cov_params().to_numpy()
    for array in (
        *(problem.X, problem.y, problem.weights, solution.beta, solution.dual),
        *(covariance.matrix, covariance.bread, result.training_table.counts),
        result.index.values,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    for column in (result.params, result.coef, result.bse, result.predict()):
        column.iloc[:] = 0
        column.index.name = "changed"
    for frame in (result.cov_params(), result.tidy(), result.training_table.table):
        frame.iloc[:, -1] = 0
    assert facts(model, result, X) == before
    assert (result.cov_params().to_numpy() == matrix).all()
    assert str(result.training_table) == str(model.fit(OPTIMUM).training_table)
    assert result.index.name is None


@pytest.mark.parametrize("kernel", ["precomputed", "gaussian"])
def test_rows_of_kernels_are_held_too(kernel):
    X, y = numbers()
    given = X @ X.T if kernel == "precomputed" else X
    new = given.copy()
    model = ps.KernelSVM(y, given, lam=0.1, kernel=kernel)
    result = model.fit(PEGASOS)
    given[...] = 0.0
    again = ps.KernelSVM(y, new, lam=0.1, kernel=kernel).fit(PEGASOS)
    for fit in (result, model.fit(PEGASOS)):
        assert fit.counts.equals(again.counts)
        assert fit.decision_function(new).equals(again.decision_function(new))


def test_a_series_is_matched_with_the_rows_of_an_array_by_position():
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(60, 2)), np.arange(60) % 3
    y = pd.Series(np.where(X[:, 0] + rng.normal(size=60) > 0, "b", "a"))
    model = ps.SVM(y[:30], X[:30], lam=1.0)
    fits = [ps.Logit(y[:30], X[:30]).fit(), ps.calibrate(model, folds=2)]
    for fit in fits:
        options = {"freq_weights": n[30:], "groups": n[30:] > 1}
        labelled = {k: pd.Series(v, y.index[30:]) for k, v in options.items()}
        expected = fit.confusion(X[30:], y[30:].to_numpy(), **options)
        found = fit.confusion(X[30:], y[30:], **labelled)
        assert (found.by_cluster == expected.by_cluster).all()
    effects = fits[0].margins(data=X[30:], weights=n[30:]).tidy()
    again = fits[0].margins(data=X[30:], weights=pd.Series(n[30:], y.index[30:]))
    pd.testing.assert_frame_equal(again.tidy(), effects)
    with pytest.raises(ps.errors.DataError, match="row labels"):
        fits[0].confusion(pd.DataFrame(X[30:]), y[30:])

"""A fit is what it was, whatever becomes of the data that it was made from."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pegasos_stats as ps

N = 30
SOLVERS = {
    "Pegasos": ps.Pegasos(epochs=3, seed=1),
    "SDCA": ps.SDCA(seed=1, tol=1e-9, epochs=500),
}


def numbers():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 3)) + 2.0
    return X, np.where(X[:, 0] + rng.normal(size=N) > 2.0, 1, 0)


def arrays(order="C", dtype=np.float64):
    X, y = numbers()
    X = np.array(X, dtype=dtype, order=order)
    return SimpleNamespace(X=X, y=y, buffers=[X, y])


def a_view():
    wide = np.repeat(numbers()[0], 2, axis=1)
    return SimpleNamespace(X=wide[:, ::2], y=numbers()[1], buffers=[wide])


def read_only_view():
    X, y = numbers()
    view = X.view()
    view.flags.writeable = False
    return SimpleNamespace(X=view, y=y, buffers=[X])


def frame_of_an_array():
    """A frame that shares its memory with an array that can be written to."""
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abc"), copy=False)
    return SimpleNamespace(X=frame, y=pd.Series(y, copy=False), buffers=[X, y, frame])


def missing_values():
    X, y = numbers()
    X[3, 1] = np.nan
    return SimpleNamespace(X=X, y=y, buffers=[X])


def sparse(kind):
    X, y = numbers()
    made = kind(np.where(X > 2.0, X, 0.0))
    parts = [getattr(made, name, None) for name in ("data", "indices", "indptr")]
    return SimpleNamespace(X=made, y=y, buffers=[p for p in parts if p is not None])


DATA = {
    "C order": arrays,
    "Fortran order": lambda: arrays("F"),
    "float32": lambda: arrays(dtype=np.float32),
    "view": a_view,
    "read-only view": read_only_view,
    "frame of an array": frame_of_an_array,
    "missing values": missing_values,
    "csr": lambda: sparse(sp.csr_array),
    "csr of float32": lambda: sparse(lambda X: sp.csr_array(X.astype(np.float32))),
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
    return [
        result.params.to_list(),
        result.gap,
        result.objective,
        str(result.summary()).split("seconds")[0],
        str(result.confusion()),
        result.predict().tolist(),
        result.predict(new).tolist(),
        result.decision_function().tolist(),
        result.index.tolist(),
        result.augment().to_string() if result.coding.name == "y" else "",
        model.fit(result.solver).params.to_list(),
        model.fit(result.solver, cov_type="none").objective,
    ]


@pytest.mark.parametrize("name", DATA)
@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.ConvergenceWarning")
def test_data_that_change_after_the_fit_change_nothing(name):
    given = DATA[name]
    hinge = list(DATA).index(name) % 2
    loss, solver = (ps.SVM, "Pegasos") if hinge else (ps.Logit, "SDCA")
    data, solver = given(), SOLVERS[solver]
    new = given().X
    model = loss(data.y, data.X, lam=0.1)
    result = model.fit(solver)
    before = facts(model, result, new)
    scribble(data.buffers)
    assert facts(model, result, new) == before


@pytest.mark.parametrize("given", DATA.values(), ids=DATA)
@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.ConvergenceWarning")
def test_data_that_change_before_the_fit_change_nothing(given):
    data, solver = given(), SOLVERS["SDCA"]
    expected = ps.SVM(data.y, data.X, lam=0.1).fit(solver)
    model = ps.SVM(data.y, data.X, lam=0.1)
    scribble(data.buffers)
    found = model.fit(solver)
    assert found.params.to_list() == expected.params.to_list()
    assert found.gap == expected.gap
    assert found.bse.to_list() == expected.bse.to_list()


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.ConvergenceWarning")
def test_weights_index_order_and_formula_data_are_held_too():
    X, y = numbers()
    weights, order = np.linspace(1.0, 2.0, N), np.arange(N)[::-1].copy()
    index = np.arange(N) * 10
    frame = pd.DataFrame(X, columns=list("abc"), index=pd.Index(index, copy=False))
    frame["y"] = y
    solver = ps.Pegasos(order=order)
    model = ps.svm("y ~ a + np.exp(b)", frame, lam=0.1, weights=weights)
    result = model.fit(solver)
    new = frame.copy()
    before = facts(model, result, new)
    weights[...], order[...], index[...] = 9.0, 0, -1
    frame.index.name = "changed"
    frame["a"] = 0.0
    scribble([X, y])
    assert facts(model, result, new) == before
    assert result.index.name is None


def handed_out(result):
    """All that a fit hands out and that a caller may try to write to."""
    covariance = result.covariance
    arrays = [
        result.problem.X,
        result.problem.y,
        result.problem.weights,
        result.solution.beta,
        result.solution.dual,
        covariance.matrix,
        covariance.bread,
        result.training_table.counts,
        result.index.values,
    ]
    series = [result.params, result.coef, result.bse, result.predict()]
    frames = [result.cov_params(), result.tidy(), result.training_table.table]
    return arrays, series, frames


def test_what_a_fit_hands_out_does_not_lead_back_into_it():
    X, y = numbers()
    model = ps.Logit(y, X, lam=0.1, weights=np.linspace(1.0, 2.0, N))
    result = model.fit(SOLVERS["SDCA"])
    before, covariance = facts(model, result, X), result.cov_params().to_numpy()
    table = str(result.training_table)
    arrays, series, frames = handed_out(result)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    for column in series:
        column.iloc[:] = 0
        column.index.name = "changed"
    for frame in frames:
        frame.iloc[:, -1] = 0
    assert facts(model, result, X) == before
    assert (result.cov_params().to_numpy() == covariance).all()
    assert str(result.training_table) == table
    assert result.index.name is None


@pytest.mark.parametrize("kernel", ["precomputed", "gaussian"])
def test_rows_of_kernels_are_held_too(kernel):
    X, y = numbers()
    given = X @ X.T if kernel == "precomputed" else X
    new = given.copy()
    model = ps.KernelSVM(y, given, lam=0.1, kernel=kernel)
    result = model.fit(SOLVERS["Pegasos"])
    given[...] = 0.0
    again = ps.KernelSVM(y, new, lam=0.1, kernel=kernel).fit(SOLVERS["Pegasos"])
    for fit in (result, model.fit(SOLVERS["Pegasos"])):
        assert fit.counts.equals(again.counts)
        assert fit.decision_function(new).equals(again.decision_function(new))

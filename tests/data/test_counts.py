"""A table of counts gives what its rows give, each written as often as it counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import PegasosStatsError

LEVELS = {
    "Class": ("1st", "2nd", "3rd", "Crew"),
    "Sex": ("Female", "Male"),
    "Age": ("Adult", "Child"),
    "Survived": ("No", "Yes"),
}
# R: as.data.frame(Titanic), in the order of these levels
FREQ = (4, 140, 0, 1, 118, 57, 0, 5, 13, 80, 0, 13, 154, 14, 0, 11)
FREQ += (89, 76, 17, 14, 387, 75, 35, 13, 3, 20, 0, 0, 670, 192, 0, 0)
FORMULA = "Survived ~ Class + Sex + Age"


@pytest.fixture(scope="module")
def table():
    cells = pd.MultiIndex.from_product(LEVELS.values(), names=list(LEVELS))
    return pd.Series(FREQ, cells, name="Freq").reset_index()


@pytest.fixture(scope="module")
def rows(table):
    return table.loc[table.index.repeat(table["Freq"])].drop(columns="Freq")


def both(table, rows, loss=ps.logit, **options):
    counted = loss(FORMULA, table, freq_weights="Freq", lam=1e-3, **options)
    return counted, loss(FORMULA, rows, lam=1e-3, **options)


@pytest.mark.parametrize("loss", [ps.svm, ps.logit])
@pytest.mark.parametrize(
    "solver", [ps.Optimum(seed=1, tol=1e-9), ps.Pegasos(epochs=2, seed=3)]
)
@pytest.mark.parametrize("options", [{}, {"standardize": True, "weights": "balanced"}])
def test_fits_are_equal_in_every_bit(table, rows, loss, solver, options):
    one, two = (
        model.fit(solver, cov_type="sandwich")
        for model in both(table, rows, loss, **options)
    )
    assert one.params.equals(two.params)
    assert one.certificate == two.certificate
    assert one.glance().equals(two.glance())
    if solver.to_optimum:
        assert one.tidy().equals(two.tidy())
    told = str(one.summary(details=True))
    assert "2,201" in told
    assert "32 lines by Freq" in told


def test_tables_and_intervals_are_those_of_the_rows(table, rows):
    one, two = (model.fit(ps.Optimum(seed=1)) for model in both(table, rows))
    assert one.confusion().overall.equals(two.confusion().overall)
    # New data that have the column are counted by it, others by what is given.
    for found in (
        one.confusion(table),
        one.confusion(table, freq_weights="Freq"),
        two.confusion(table, freq_weights=table["Freq"]),
        two.confusion(table, table["Survived"], freq_weights=list(FREQ)),
        ps.confusion(
            table["Survived"],
            one.predict(table),
            scores=one.decision_function(table),
            probabilities=one.predict_proba(table),
            levels=("No", "Yes"),
            freq_weights=table["Freq"],
        ),
    ):
        expected = replace(two.confusion(rows), source=found.source)
        assert str(found) == str(expected)
        assert found.overall.equals(expected.overall)
        assert len(found.errors) == found.n_errors == two.confusion(rows).n_errors
    alone = one.confusion(table.drop(columns="Freq"))
    assert alone.counts.sum() == 32


def test_resampling_draws_people_not_cells(table, rows):
    one, two = both(table, rows)
    folds = ps.Folds.stratified(rows["Survived"], 5, seed=1)
    a, b = (ps.cross_validate(m, ps.Optimum(seed=1), folds=folds) for m in (one, two))
    assert a.mean.equals(b.mean)
    assert a.confusion().table.equals(b.confusion().table)
    boot, solver = ps.Bootstrap(replicates=49, seed=2), ps.Optimum(seed=1, tol=1e-9)
    errors = [model.fit(solver, cov_type=boot).bse for model in (one, two)]
    assert errors[0].equals(errors[1])


def test_what_a_formula_learns_it_learns_from_all_rows():
    rng = np.random.default_rng(0)
    few = pd.DataFrame({"x": rng.normal(size=30), "k": rng.integers(0, 5, 30)})
    few["y"] = np.where(few["x"] + rng.normal(size=30) > 0, "b", "a")
    many = few.loc[few.index.repeat(few["k"])]
    for formula in ("y ~ scale(x)", "y ~ poly(x, 2)", "y ~ bs(x, 4)"):
        one = ps.svm(formula, few, freq_weights=few["k"], lam=1.0).fit(
            ps.Optimum(seed=1)
        )
        two = ps.svm(formula, many, lam=1.0).fit(ps.Optimum(seed=1))
        assert one.params.equals(two.params)
        assert one.predict(few).equals(two.predict(few))


@pytest.mark.parametrize("form", [pd.DataFrame, np.asarray, csr_array, list])
def test_counts_go_with_rows_of_every_form(form):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    X[4, 1] = np.nan
    y = np.where(np.arange(40) % 3, "n", "y").astype(object)
    y[7] = None
    w, k = rng.uniform(0.5, 2.0, 40), rng.integers(0, 4, 40)
    k[4] = k[7] = 3
    many = np.repeat(np.arange(40), k)
    one = ps.SVM(y, form(X), weights=w, freq_weights=k, lam=1.0)
    two = ps.SVM(y[many], X[many], weights=w[many], lam=1.0)
    assert one.dropped.total == two.dropped.total == 6
    assert (one.problem.y == two.problem.y).all()
    assert (csr_array(one.problem.X).toarray() == two.problem.X).all()
    assert (one.problem.weights == two.problem.weights).all()


def test_held_out_rows_are_counted_in_the_trace(table, rows):
    one, two = (
        m.fit(ps.Pegasos(epochs=2, seed=1), trace=True, test=test)
        for m, test in zip(both(table, rows), (table, rows), strict=True)
    )
    told = ["objective", "training_error", "test_error"]
    assert one.trace[told].equals(two.trace[told])


NO_COUNTS = ["Count", "Sex", [0.5] + [1] * 31, [-1] + [1] * 31, [0] * 32, [1, 2]]


@pytest.mark.parametrize("given", NO_COUNTS, ids=str)
def test_counts_that_are_none(table, given):
    with pytest.raises(PegasosStatsError):
        ps.svm(FORMULA, table, freq_weights=given, lam=1.0)

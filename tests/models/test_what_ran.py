"""A fit says which method ran, how long, and whether rows were drawn; and only that."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.models.summaries import solver_lines
from pegasos_stats.solvers.problem import MethodRun

RNG = np.random.default_rng(1)
DRAWN = "Seed:", "RNG:", "Order:"  # of a summary


def rows(n, p, density=1.0):
    X = RNG.normal(size=(n, p)) * (RNG.random((n, p)) < density)
    y = np.where(X[:, 0] + RNG.normal(size=n) > 0.0, "b", "a")
    return y, X if density == 1.0 else csr_array(X)


# Data, model, whether rows are drawn, and the methods.
CASES = {
    "hinge": (rows(60, 3), ps.SVM, {}, False, ["proximal Newton"]),
    "squared hinge": (
        rows(60, 3),
        ps.SVM,
        {"loss": "squared_hinge"},
        False,
        ["Newton"],
    ),
    "log": (rows(60, 3), ps.Logit, {}, False, ["Newton"]),
    "log, many rows": (rows(4000, 3), ps.Logit, {}, False, ["L-BFGS"]),
    "hinge, wide": (rows(30, 40), ps.SVM, {}, False, ["SMO"]),
    "log, wide": (rows(30, 40), ps.Logit, {}, True, ["coordinate ascent"]),
    "hinge, sparse": (rows(200, 20, 0.1), ps.SVM, {}, False, ["proximal Newton"]),
    "hinge, sparse, wide": (
        *(rows(30, 40, 0.1), ps.SVM, {}, True),
        ["coordinate ascent", "SMO"],
    ),
    "kernel": (rows(60, 3), ps.KernelSVM, {}, False, ["SMO"]),
    "kernel, many rows": (rows(600, 3), ps.KernelSVM, {}, True, ["SMO"]),
}


def bits(result):
    own = result.params if isinstance(result, ps.LinearResults) else result.dual_coef
    return [*own, result.objective, result.n_iter]


@pytest.mark.parametrize("penalty", ["ridge", "firth"])
def test_an_iteration_of_newton_is_one_step(penalty):
    y, X = rows(200, 2)
    result = ps.Logit(y, X, penalty=penalty).fit(cov_type="none")
    assert result.n_iter == result.n_epochs == result.solution.methods[0].iterations


@pytest.mark.parametrize("case", CASES)
def test_what_ran_is_what_is_printed(case, tmp_path):
    (y, X), kind, options, draws, names = CASES[case]
    model = kind(y, X, lam=0.01, **options)
    linear = {"cov_type": "none"} if kind is not ps.KernelSVM else {}
    fits = [model.fit(ps.Optimum(seed=seed), **linear) for seed in (5, 6)]
    result = fits[0]
    assert [run.name for run in result.solution.methods] == names
    assert sum(run.iterations for run in result.solution.methods) == result.n_epochs
    assert [fit.seed for fit in fits] == ([5, 6] if draws else [None, None])
    assert draws or bits(fits[0]) == bits(fits[1])
    text = str(result.summary(details=True))
    run = result.solution.methods[0]
    assert f"{names[0]}, {run.iterations} {run.unit}" in text
    assert [word in text for word in DRAWN] == [draws] * 3
    assert ("Random numbers" in text) != draws
    assert ", then ".join(names) in str(result.summary())
    assert ("seed" in repr(result)) == draws
    assert result.glance()["seed"].notna().all() == draws
    ps.save(result, tmp_path / "fit.model", about=None)
    again = ps.load(tmp_path / "fit.model", functions=None)
    assert solver_lines(again) == solver_lines(result)
    assert (again.solution.methods, again.seed) == (
        result.solution.methods,
        result.seed,
    )
    if linear and isinstance(X, np.ndarray):
        stored = json.loads(result.to_json())
        assert stored["seed"] == (5 if draws else None)
        assert [run["name"] for run in stored["methods"]] == names


def test_pegasos_and_sdca_draw_rows_unless_their_order_is_given():
    y, X = rows(50, 2)
    model = ps.SVM(y, X, lam=0.1)
    refined = model.fit(ps.Pegasos(epochs=3, seed=5), refine=1e-6, cov_type="none")
    assert refined.seed == 5
    assert refined.solution.methods[0] == MethodRun("Pegasos", 3, "epoch")
    assert "Pegasos, then proximal Newton, converged" in str(refined.summary())
    in_order = model.fit(ps.Pegasos(order="sequential", seed=5), cov_type="none")
    assert in_order.seed is None
    assert "sequential" in str(in_order.summary(details=True))
    assert "Seed" not in str(in_order.summary(details=True))
    model = ps.SVM(y, X, lam=0.1, intercept=False)
    ascent = model.fit(ps.SDCA(tol=1e-3, seed=5), cov_type="none")
    assert (ascent.seed, ascent.solution.methods[0].name) == (5, "SDCA-perm")
    assert ascent.n_iter == 50 * ascent.n_epochs


@pytest.mark.parametrize("loss", [ps.svm, ps.logit])
def test_passes_over_files(loss, tmp_path):
    y, X = rows(3000, 2)
    data = pd.DataFrame(X, columns=["u", "v"]).assign(y=y)
    data.to_parquet(tmp_path / "rows.parquet")
    model = loss("y ~ u + v", ps.scan(tmp_path / "rows.parquet"), lam=0.01)
    one, other = (model.fit(ps.Optimum(seed=seed), cov_type="none") for seed in (5, 6))
    assert one.seed is None
    assert bits(one) == bits(other)
    (run,) = one.solution.methods
    assert run.unit == "pass"
    assert f"{run.name}, {run.iterations} pass" in str(one.summary(details=True))


def test_seeds_of_studies_are_of_what_they_drew():
    y, X = rows(60, 2)
    model = ps.Logit(y, X, lam=0.1)
    found = ps.cross_validate(model, folds=np.arange(60) % 3 + 1, seed=5)
    assert found.by_fold["seed"].isna().all()
    assert "Seed" not in str(found.summary())
    solvers = {"steps": ps.Pegasos(epochs=1), "optimum": ps.Optimum()}
    runs = ps.compare_solvers(model, solvers, runs=2, seed=1, workers=1).runs
    assert runs.groupby("solver", observed=True)["seed"].count().to_dict() == {
        "steps": 2,
        "optimum": 0,
    }


def test_the_line_that_repeats_a_default_fit_names_no_solver():
    train, test = ps.datasets.load_digits56()
    result = ps.logit("digit ~ p34", train, lam=0.1).fit(ps.Optimum(seed=7))
    page = result.report(test).to_markdown()
    assert "model.fit()" in page
    assert "| Method | Newton, " in page
    assert "| Seed" not in page

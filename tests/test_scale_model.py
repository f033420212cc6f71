"""The tables of `docs/scale.rst` are those that the model makes of the runs."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def model():
    sys.path.insert(0, str(HERE / "benchmarks"))
    try:
        import scale_model
    finally:
        sys.path.remove(str(HERE / "benchmarks"))
    return scale_model


@pytest.fixture(scope="module")
def runs(model):
    return model.runs_of(HERE / "docs/scale_runs.csv")


def test_the_tables_of_the_site_are_made_of_the_runs(model, runs):
    made = {"scale": model.carried(runs), "scale_model": model.Model(runs).table()}
    for name, table in made.items():
        kept = pd.read_csv(HERE / f"docs/{name}.csv", dtype=str)
        assert kept.to_csv(index=False) == table.astype(str).to_csv(index=False)


def test_what_the_site_says_of_reads_and_of_the_model(model, runs):
    assert set(runs.reads) == {2, 3}
    assert (runs.gap <= 1e-4).all()  # the tolerance of the runs
    found = model.compared(runs)
    for name, ends in {"model": (0.58, 1.16), "unseen": (0.64, 1.42)}.items():
        ratio = (found[name] / found.measured).dropna()
        assert ratio.quantile([0.1, 0.9]).round(2).tolist() == list(ends)
    share = model.density(runs) * model.WIDTHS
    assert (round(share.min(), 1), round(share.max(), 1)) == (2.1, 3.2)
    assert round(share.median(), 1) == pytest.approx(2.7)  # 2.65


def test_seconds_of_the_parts_are_found_again(model):
    # Runs whose seconds are those of known coefficients, without error.
    rng = np.random.default_rng(2)
    n, p = rng.integers(1000, 10**6, 30), rng.integers(5, 300, 30)
    runs = pd.DataFrame({"n": n, "p": p, "counting": 2e-7 * n + 3e-8 * n * p})
    part = model.PARTS["hinge"][0]
    # Least squares of 30 lines in doubles.
    assert part.fitted(runs) == pytest.approx([2e-7, 3e-8], rel=1e-9)


def test_the_sample_and_the_width_are_those_of_the_package(model):
    from pegasos_stats.solvers.reads import hinge, sampled

    for n, p in ((1000, 5), (10**6, 50), (10**8, 50), (5000, 300)):
        assert model.size_of_sample(n, p) == sampled.size_of_sample(n, p)
    assert model.WIDTHS == hinge.WIDTHS

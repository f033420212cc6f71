"""Fits from a frame of Dask: what fits of the same rows in memory are, anywhere."""

import logging
import os
import signal
from contextlib import suppress

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.dask import rows
from pegasos_stats.data.scan import workers
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    FormulaError,
    LabelError,
    OptionError,
)
from pegasos_stats.solvers.reads import rows as blocks
from pegasos_stats.solvers.reads.partitions import InPartitions
from tests.scan.scan_files import frame_of

SOLVER = ps.SDCA(tol=1e-8, seed=1)
LAM = 0.01
BALANCED = {"weights": "balanced", "standardize": True}
CASES = [
    (ps.svm, "y ~ . - w", BALANCED),
    (ps.svm, "y == 'yes' ~ x0 + ifelse(x2 > 0, 'up', 'down')", {"weights": "balanced"}),
    (ps.logit, "y ~ log(abs(x0)) + C(k) * x1 + g - 1", {"weights": "w"}),
]


@pytest.fixture(scope="module")
def data():
    return frame_of().set_axis(np.arange(2400) * 2)


@pytest.fixture(scope="module")
def there(data):
    # Partitions of unequal size; one has no complete row, one ends in a new level.
    data = data.copy()
    data.loc[data.index[100:130], "x0"] = np.nan
    parts = [
        data.iloc[a:b] for a, b in [(0, 100), (100, 130), (130, 1500), (1500, 2400)]
    ]
    return dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case[1])
def both(request, there):
    model, formula, options = request.param
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(blocks, "NUMBERS", 2000)  # several blocks in a partition
        far = model(formula, there, lam=LAM, **options).fit(SOLVER, cov_type="sandwich")
        far.bse  # noqa: B018, computed while the scheduler is this one
        near = model(formula, there.compute(), lam=LAM, **options)
    return far, near.fit(SOLVER, cov_type="sandwich")


def assert_as_near_as_certified(far, near):
    """Fits of the same rows are as near each other as their gaps say."""
    # By strong convexity each is so far from the optimum, of penalised coefficients.
    apart = sum(np.sqrt(2.0 * each.gap / LAM) for each in (far, near))
    assert np.linalg.norm(far.coef - near.coef) <= apart
    # Both objectives lie between the minimum and their gap above it.
    assert abs(far.objective - near.objective) <= max(far.gap, near.gap)


def test_coefficients_are_those_of_rows_in_memory(both):
    far, near = both
    assert list(far.params.index) == list(near.params.index)
    assert_as_near_as_certified(far, near)
    assert far.converged
    assert far.relative_gap <= SOLVER.tol
    assert 4 <= far.n_reads <= 10


def test_rows_labels_weights_and_what_was_dropped_are_the_same(both):
    far, near = both
    assert (far.problem.y == near.problem.y).all()
    assert far.problem.row_weights == pytest.approx(near.problem.row_weights, rel=1e-14)
    assert (far.dropped.outcome, far.dropped.total) == (
        *(near.dropped.outcome, near.dropped.total),
    )
    assert dict(far.dropped.missing) == dict(near.dropped.missing)
    assert far.coding.levels == near.coding.levels
    assert far.training_table.table.equals(near.training_table.table)


def test_standard_errors_are_those_of_rows_in_memory(both):
    far, near = both
    # Both optima are known to a relative gap of 1e-8, coefficients to about 1e-4.
    assert far.bse.to_numpy() == pytest.approx(near.bse.to_numpy(), rel=5e-3)


@pytest.fixture(scope="module")
def fitted(there):
    with dask.config.set(scheduler="synchronous"):
        return ps.logit("y ~ x0 + g", there, lam=LAM, weights="balanced").fit(SOLVER)


def test_predictions_are_made_partition_by_partition(fitted, there, tmp_path):
    here = there.compute()
    ps.save(fitted, tmp_path / "fit")
    for fit in (fitted, ps.load(tmp_path / "fit")):
        for method, options in (
            ("decision_function", {}),
            ("predict", {"threshold": 0.7, "ties": "positive"}),
            ("predict_proba", {}),
        ):
            found = getattr(fit, method)(there, **options)
            assert type(found).__module__.startswith("dask")
            with dask.config.set(scheduler="synchronous"):
                rows_of_it = found.compute()
            expected = getattr(fit, method)(here, **options)
            assert rows_of_it.equals(expected.astype(rows_of_it.dtypes))
            assert rows_of_it.isna().to_numpy().any()


def test_each_partition_is_augmented_where_it_is(fitted, there):
    here = there.compute()
    for data in (there, there.drop(columns="y")):
        lazy = fitted.augment(data, prefix="our_", ties="negative")
        with dask.config.set(scheduler="synchronous"):
            far = lazy.compute()
        near = fitted.augment(here[list(data.columns)], prefix="our_", ties="negative")
        assert list(lazy.columns) == list(near.columns)
        pd.testing.assert_frame_equal(far, near, check_exact=True)
        assert (far.dtypes == lazy.dtypes).all()


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize(
    ("formula", "options"),
    [("y ~ x0", {"offset": "x1"}), ("y ~ x0 + offset(x1 / 2)", {"weights": "w"})],
)
def test_an_offset_is_read_in_each_partition(
    formula, options, loaded, data, there, tmp_path
):
    near = ps.logit(formula, data, lam=LAM, **options).fit(SOLVER, cov_type="none")
    if loaded:
        ps.save(near, tmp_path / "a.model")
        near = ps.load(tmp_path / "a.model")
    rows = there.compute()
    for method in ("decision_function", "predict", "predict_proba", "augment"):
        ask = getattr(near, method)
        assert ask(there).compute().equals(ask(rows)), method
    assert near.confusion(there).table.equals(near.confusion(rows).table)


def test_an_offset_as_numbers_is_of_no_partition(data, there):
    numbers = data["x1"].to_numpy()
    near = ps.logit("y ~ x0", data, lam=LAM, offset=numbers).fit(SOLVER)
    for ask in (near.decision_function, near.predict, near.predict_proba):
        with pytest.raises(
            OptionError, match=r"ps\.scan\(\) or Dask; give the name of"
        ):
            ask(there, offset=numbers)


def test_confusion_counts_all_partitions(fitted, there):
    here = there.compute()
    with dask.config.set(scheduler="synchronous"):
        far, new = fitted.confusion(there), there[there["x1"] > 0.0]
        of_new, of_fit = fitted.confusion(new), fitted.confusion()
    assert far.source == of_fit.source == "training"
    assert (far.table.iloc[:, :2].to_numpy() == of_fit.table.to_numpy()).all()
    near = fitted.confusion(here[here["x1"] > 0.0])
    assert of_new.table.equals(near.table)
    assert of_new.source != "training"
    assert of_new.overall.equals(near.overall)


def test_rows_that_count_as_several_are_those_of_a_table_in_memory(there):
    here = there.compute()
    with dask.config.set(scheduler="synchronous"):
        far = ps.logit("y ~ x0 + g", there, lam=LAM, freq_weights="k").fit(SOLVER)
        table = far.confusion(there)
    near = ps.logit("y ~ x0 + g", here, lam=LAM, freq_weights="k").fit(SOLVER)
    assert_as_near_as_certified(far, near)
    assert (far.nobs, far.counted, far.dropped.total) == (
        *(near.nobs, near.counted, near.dropped.total),
    )
    assert far.training_table.table.equals(near.training_table.table)
    assert table.table.equals(near.confusion(here).table)


def test_counts_that_are_none_are_refused_as_in_memory(there):
    wrong = there.assign(half=0.5, zero=0, none=np.nan)
    for column in ("half", "zero", "none"):
        told = []
        for where in (wrong.partitions[:1], wrong.partitions[:1].compute()):
            with (
                dask.config.set(scheduler="synchronous"),
                pytest.raises(DataError) as found,
            ):
                ps.svm("y ~ x0", where, freq_weights=column)
            told.append(str(found.value))
        assert told[0] == told[1]


def test_an_array_has_its_columns_named():
    rng = np.random.default_rng(2)
    values = rng.standard_normal((600, 3))
    values[:, 0] = values[:, 1] + rng.standard_normal(600) > 0.3
    array = dask.array.from_array(values, chunks=(250, 2))
    data = rows(array, columns=["y", "a", "b"], memory="64MiB")
    with dask.config.set(scheduler="synchronous"):
        far = ps.svm("y ~ .", data, lam=LAM).fit(SOLVER)
    near = ps.svm("y ~ .", pd.DataFrame(values, columns=["y", "a", "b"]), lam=LAM)
    near = near.fit(SOLVER)
    assert list(far.params.index) == list(near.params.index)
    assert_as_near_as_certified(far, near)


def test_what_does_not_go_is_said_in_one_sentence(there, fitted, monkeypatch):
    def said(error, call, *given, **named):
        with dask.config.set(scheduler="synchronous"), pytest.raises(error) as info:
            call(*given, **named)
        return str(info.value)

    assert said(ColumnError, ps.svm, "y ~ z", there).startswith("Column 'z' not found")
    assert said(ColumnError, ps.svm, "y ~ x0", there, weights="v") == (
        "weights='v' is not a column of the data; give the name of one, one number for "
        "each row, a weight for each level, or 'balanced'."
    ) or "v" in said(ColumnError, ps.svm, "y ~ x0", there, weights="v")
    assert said(FormulaError, ps.svm, "y ~ scale(x0)", there).endswith(
        "give standardize=True for scales, or compute the column in the files."
    )
    assert said(OptionError, fitted.with_covariance, "HC3") == (
        "cov_type='HC3' asks for the leverage of every row, which needs the rows in "
        "memory, and does not go with a frame of Dask; give 'sandwich', 'HC1' or "
        "'none'."
    )
    assert said(DataError, rows, [1.0]) == (
        "A list is no frame of Dask, nor an array of Dask of two dimensions; give one "
        "of these."
    )
    assert said(OptionError, rows, there, columns=["a"]) == (
        "columns=['a'] is for an array, and a frame has names already; leave it out."
    )
    assert said(OptionError, fitted.augment, there, ["yes"]) == (
        "actual= does not go with a frame of Dask; give the labels as its column 'y'."
    )
    ones = dask.array.ones((4, 2))
    assert said(OptionError, rows, ones, columns=["a"]) == (
        "columns=['a'] is not allowed; name each of the 2 columns of the array."
    )
    model = ps.svm("y ~ x0", there)
    assert said(OptionError, model.fit, ps.Pegasos(order="sequential")) == (
        "A fit from partitions is one of ps.SDCA(tol=...), and Pegasos was given; "
        "leave the solver out, or give SDCA."
    )
    incomplete = there.assign(x0=np.nan)
    assert said(DataError, ps.svm, "y ~ x0", incomplete) == (
        "None of 2,400 rows is complete; give data with values for the outcome and all "
        "predictors."
    )
    assert said(DataError, ps.kernel_svm, "y ~ x0", there) == (
        "The data are a DataFrame of dask, which has its rows elsewhere; give the "
        "rows, data.compute(), or data with a formula to svm or logit."
    )
    assert said(DataError, ps.svm, "y ~ .", dask.array.ones((4, 2))) == (
        "The data are an Array of dask, which has its rows elsewhere; give the rows, "
        "data.compute(), or pegasos_stats.dask.rows(data, columns=) with a formula to "
        "svm or logit."
    )
    with dask.config.set(scheduler="synchronous"):
        svm = ps.svm("y ~ x0", there, lam=LAM, weights="balanced")
    monkeypatch.setattr(svm.problem.X.home, "most_kept", 1)
    assert said(DataError, svm.fit) == (
        "The rows near the margin are more than the 1 row that the budget of memory "
        "lets be kept; give more of it: pegasos_stats.dask.rows(data, memory=)."
    )


class StopError(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("model", [ps.svm, ps.logit])
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(
    there, model, tmp_path, monkeypatch
):
    reads, read = [], InPartitions.read

    def counted(home, *given):
        reads.append(home)
        if len(reads) == 3:
            raise StopError
        return read(home, *given)

    given = {"lam": LAM, "weights": "balanced", "standardize": True}
    path = tmp_path / "fit.ckpt"
    with dask.config.set(scheduler="synchronous"):
        models = [model("y ~ x0 + g", there, **given) for _ in range(2)]
        whole = models[0].fit(SOLVER)
        monkeypatch.setattr(InPartitions, "read", counted)
        with pytest.raises(StopError):
            models[0].fit(SOLVER, checkpoint=path)
        other = model("y ~ x0 + g", there.partitions[2:], **given)
        with pytest.raises(DataError, match="is of a fit with other rows of partiti"):
            other.fit(SOLVER, checkpoint=path)
        again = models[1].fit(SOLVER, checkpoint=path)
    for name in ("beta", "dual", "alpha"):
        one, other = (getattr(fit.solution, name) for fit in (whole, again))
        assert np.array_equal(one, other)
    assert whole.certificate == again.certificate
    assert not path.exists()


@pytest.fixture
def within():
    """A cluster in this process, of one worker with one thread."""
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def test_a_cluster_gives_the_bits_of_any_other_scheduler(fitted, there, within):
    again = ps.logit("y ~ x0 + g", there, lam=LAM, weights="balanced").fit(SOLVER)
    assert again.certificate == fitted.certificate
    assert np.array_equal(again.solution.dual, fitted.solution.dual)
    assert again.confusion(there).table.iloc[:, :2].equals(fitted.confusion().table)
    with pytest.raises(LabelError):  # as it is raised where the rows are
        ps.svm("y ~ x0", there.assign(y=there["g"]), lam=LAM)


def test_a_task_of_a_cluster_may_fit_there(fitted, there, within):
    def fit():
        return ps.logit("y ~ x0 + g", there, lam=LAM, weights="balanced").fit(SOLVER)

    assert dask.delayed(fit)().compute().certificate == fitted.certificate


def test_a_cluster_without_workers_is_waited_for_and_no_longer(
    there, within, monkeypatch
):
    monkeypatch.setattr(workers, "LOOK", 0.1)
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    within.scale(0)
    within.sync(within._correct_state)
    with pytest.raises(DataError) as found:
        ps.svm("y ~ x0", there, lam=LAM)
    assert str(found.value) == (
        "0 workers of Dask did nothing for 0.5 seconds while rows were to be read; "
        "start workers, and fit again. A LocalCluster gives up a worker that is lost "
        "for longer than the setting distributed.deploy.lost-worker-timeout."
    )


@pytest.fixture(scope="module")
def cluster():
    """Two processes, one thread each, that may take their time to come back."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",  # any port that is free
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.skipif(
    "PEGASOS_STATS_CLUSTER" not in os.environ,
    reason="takes 20 s, on a busy machine minutes: make test-dask",
)
def test_a_worker_that_is_killed_in_mid_round_changes_no_bit(there, cluster, tmp_path):
    def deadly(part, calls=str(tmp_path / "calls"), at=15):
        """Count calls, and kill one worker, at one of them in the fourth read."""
        with open(calls, "ab") as file:
            file.write(b".")
        if os.path.getsize(calls) >= at:
            with suppress(FileExistsError):
                open(f"{calls}.killed", "x").close()
                os.kill(os.getpid(), signal.SIGKILL)
        return part

    given = "y ~ . - w", LAM
    with dask.config.set(scheduler="synchronous"):
        calm = ps.svm(given[0], there, lam=LAM, **BALANCED).fit(SOLVER)
    frame = there.map_partitions(deadly, meta=there)
    killed = ps.svm(given[0], frame, lam=LAM, **BALANCED).fit(SOLVER)
    assert os.path.getsize(tmp_path / "calls") > 4 * killed.n_reads  # some twice
    for name in ("beta", "dual", "alpha"):
        one, other = (getattr(fit.solution, name) for fit in (calm, killed))
        assert np.array_equal(one, other)
    assert calm.certificate == killed.certificate
    assert (calm.bse == killed.bse).all()

"""Fits from Dask that are stopped, and on clusters: the same bits."""

import logging
import os
import signal
from contextlib import suppress

import dask
import distributed
import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import LabelError
from tests.scan.scan_files import LAM, SOLVER

GIVEN = {"lam": LAM, "weights": "balanced", "standardize": True}


@pytest.fixture
def within():
    """A cluster in this process, of one worker with one thread."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


@pytest.mark.slow
def test_a_cluster_gives_the_bits_of_any_other_scheduler(fitted, there, within):
    def fit():
        return ps.logit("y ~ x0 + g", there, lam=LAM, weights="balanced").fit(SOLVER)

    again = fit()
    assert again.certificate == fitted.certificate
    within_a_task = dask.delayed(fit)().compute()
    assert within_a_task.certificate == fitted.certificate
    assert np.array_equal(again.solution.dual, fitted.solution.dual)
    assert again.confusion(there).table.iloc[:, :2].equals(fitted.confusion().table)
    with pytest.raises(LabelError):  # as it is raised where the rows are
        ps.svm("y ~ x0", there.assign(y=there["g"]), lam=LAM)


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

    with dask.config.set(scheduler="synchronous"):
        calm = ps.svm("y ~ . - w", there, **GIVEN).fit(SOLVER)
    frame = there.map_partitions(deadly, meta=there)
    killed = ps.svm("y ~ . - w", frame, **GIVEN).fit(SOLVER)
    assert os.path.getsize(tmp_path / "calls") > 4 * killed.n_reads  # some twice
    for name in ("beta", "dual", "alpha"):
        one, other = (getattr(fit.solution, name) for fit in (calm, killed))
        assert np.array_equal(one, other)
    assert calm.certificate == killed.certificate
    assert (calm.bse == killed.bse).all()

"""Fits from files that were stopped in the middle go on, and come to the same bits."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan.measuring import Measured
from pegasos_stats.errors import ConvergenceWarning, DataError, OptionError
from pegasos_stats.solvers.reads import few_reads, hinge, rows
from tests.scan.scan_files import frame_of, written

SOLVER = ps.SDCA(tol=1e-9, seed=1)
MODELS = {
    "hinge": (ps.svm, "y ~ x0 + x2 + g", {"weights": "w", "lam": 0.001}),
    "log": (ps.logit, "y ~ x0 + x1 * x2 + C(k)", {"standardize": True, "lam": 1e-4}),
}


class StopError(Exception):
    """Stands for whatever ends a process."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return written(frame_of(), tmp_path_factory.mktemp("scan"))


def narrow(patch):
    """Several blocks in each piece; a small sample, so that reads are many."""
    patch.setattr(rows, "NUMBERS", 500)
    patch.setattr(few_reads, "SHARE", 0.01)
    patch.setattr(few_reads, "FEWEST", 2)
    patch.setattr(hinge, "WIDTHS", 0.1)


def model_of(loss, files):
    model, formula, options = MODELS[loss]
    return model(formula, ps.scan(files), **options)


@pytest.fixture(scope="module")
def models(files):
    with pytest.MonkeyPatch.context() as patch:
        narrow(patch)
        yield {loss: model_of(loss, files) for loss in MODELS}


@pytest.fixture(scope="module")
def whole(models):
    return {loss: model.fit(SOLVER) for loss, model in models.items()}


def reads_counted(patch, stop=0):
    """The reads of rows from now on; that of this number ends in the middle."""
    tables, reads = Measured.tables, []

    def read(measured):
        reads.append(measured)
        for count, table in enumerate(tables(measured)):
            if len(reads) == stop and count == 2:
                raise StopError
            yield table

    patch.setattr(Measured, "tables", read)
    return reads


def stopped(model, path, read=3, solver=SOLVER):
    """Begin a fit that is stopped in the middle of a read."""
    with pytest.MonkeyPatch.context() as patch:
        reads_counted(patch, read)
        with pytest.raises(StopError):
            model.fit(solver, checkpoint=path)


def check_same(found, expected):
    for name in ("beta", "alpha", "dual", "n_iter", "n_violations", "seed", "n_epochs"):
        one, other = (getattr(fit.solution, name) for fit in (found, expected))
        assert np.array_equal(one, other), name
    assert found.certificate == expected.certificate
    assert found.n_reads == expected.n_reads
    assert np.array_equal(found.training_table.counts, expected.training_table.counts)


@pytest.mark.parametrize("loss", MODELS)
def test_wherever_it_is_stopped_it_comes_to_the_same_bits(
    loss, models, whole, tmp_path
):
    path = tmp_path / "fit.ckpt"
    reads = whole[loss].solution.n_epochs
    assert reads >= 4
    for number in (1, 2, reads):
        stopped(models[loss], path, number)
        assert path.exists() == (number > 1)
        with pytest.MonkeyPatch.context() as patch:
            counts = reads_counted(patch)
            check_same(models[loss].fit(SOLVER, checkpoint=path), whole[loss])
        assert len(counts) == reads - number + 1  # no read but those that are left
        assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
import pytest
from pegasos_stats.models import checkpoints
from tests.scan import test_checkpoints as here

loss, path, files = sys.argv[1], sys.argv[2], sys.argv[3:]
keep, kept = checkpoints.Checkpoint.keep, []

def dying(checkpoint, state):
    kept.append(state)
    if len(kept) == 2 and loss == "log":
        checkpoints.sealed = lambda arrays: os.kill(os.getpid(), signal.SIGKILL)
    keep(checkpoint, state)
    if len(kept) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoints.Checkpoint.keep = dying
here.narrow(pytest.MonkeyPatch())
here.model_of(loss, files).fit(here.SOLVER, checkpoint=path)
"""


def test_a_process_that_is_killed_is_gone_on_with_by_another(files, whole, tmp_path):
    for loss in MODELS:
        command = [sys.executable, "-c", KILLED, loss, tmp_path / f"{loss}.ckpt"]
        run = subprocess.run([*map(str, [*command, *files])])
        assert run.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".pegasos_stats-*.part"))) == 1  # killed in writing
    for loss in MODELS:
        path = tmp_path / f"{loss}.ckpt"
        assert path.exists()
        check_same(model_of(loss, files).fit(SOLVER, checkpoint=path), whole[loss])
        assert not path.exists()


def test_a_seed_that_was_drawn_is_gone_on_with(models, tmp_path):
    drawn = ps.SDCA(tol=1e-9)
    stopped(models["hinge"], tmp_path / "fit.ckpt", solver=drawn)
    found = models["hinge"].fit(drawn, checkpoint=tmp_path / "fit.ckpt")
    again = ps.SDCA(tol=1e-9, seed=found.solution.seed)
    check_same(found, models["hinge"].fit(again))


def test_a_fit_that_came_to_its_limit_goes_on_with_more_epochs(models, whole, tmp_path):
    path = tmp_path / "fit.ckpt"
    with pytest.warns(ConvergenceWarning):
        models["log"].fit(ps.SDCA(epochs=3, tol=1e-9, seed=1), checkpoint=path)
    check_same(models["log"].fit(SOLVER, checkpoint=path), whole["log"])
    assert not path.exists()


def test_a_checkpoint_of_another_fit_is_refused(models, tmp_path):
    files, path = written(frame_of(400), tmp_path), tmp_path / "fit.ckpt"
    scan, options = ps.scan(files), {"lam": 0.001, "weights": "balanced"}
    stopped(ps.svm("y ~ x0", scan, **options), path)
    content = path.read_bytes()
    plain = options | {"weights": None}
    others = {
        "lam 0.001, and this one has 0.002": ("y ~ x0", options | {"lam": 0.002}),
        "formula 'y ~ x0', and this one has 'y ~ x2'": ("y ~ x2", options),
        "standardize False, and this one has True": (
            *("y ~ x0", options | {"standardize": True}),
        ),
        "other rows": ("y ~ x0", plain),
    }
    for told, (formula, given) in others.items():
        with pytest.raises(DataError) as found:
            ps.svm(formula, scan, **given).fit(SOLVER, checkpoint=path)
        assert str(found.value) == (
            f"The checkpoint {path} is of a fit with {told}; give another path, or "
            "remove it, and this fit begins anew."
        )
    for change, told in [
        (lambda: os.utime(files[1], (1, 1)), "other sizes and times of files"),
        (lambda: os.rename(files[3], tmp_path / "part4.parquet"), "other files"),
    ]:
        change()
        scan = ps.scan(str(tmp_path / "*.parquet"))
        with pytest.raises(DataError, match=f"is of a fit with {told}; give another"):
            ps.svm("y ~ x0", scan, **options).fit(SOLVER, checkpoint=path)
    assert path.read_bytes() == content


def test_a_file_that_is_damaged_or_none_of_ours_is_refused(models, tmp_path):
    path = tmp_path / "fit.ckpt"
    stopped(models["log"], path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError) as found:
        models["log"].fit(SOLVER, checkpoint=path)
    assert str(found.value) == (
        f"The checkpoint {path} is damaged (its content does not agree with its "
        "digest); remove it, and the fit begins anew."
    )
    path.write_text("mine")
    with pytest.raises(DataError) as found:
        models["log"].fit(SOLVER, checkpoint=path)
    assert str(found.value) == (
        f"The file {path} is there and is no checkpoint of pegasos_stats; give another "
        "path, or remove it."
    )
    assert path.read_text() == "mine"
    with pytest.raises(OptionError) as refused:
        ps.svm("y ~ x0", frame_of(100)).fit(SOLVER, checkpoint=path)
    assert str(refused.value) == (
        "checkpoint= is for fits from files, which ps.scan() names, and of frames of "
        "Dask, and the rows are in memory; leave it out."
    )

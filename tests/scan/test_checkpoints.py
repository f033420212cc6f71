"""Fits from files that were stopped in the middle go on, and come to the same bits."""

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan.measuring import Measured
from pegasos_stats.errors import ConvergenceWarning, DataError, OptionError
from pegasos_stats.models.persist.container import Container, sealed
from pegasos_stats.solvers.reads import hinge, rows, sampled
from tests.scan.scan_files import frame_of, written

SOLVER = ps.SDCA(tol=1e-9, seed=1)
PEGASOS = ps.Pegasos(order="sequential", epochs=6, seed=1)
MODELS = {
    "hinge": (
        ps.svm,
        "y ~ x0 + x2 + g",
        {"weights": {"no": 1.0, "yes": 2.0}, "lam": 0.001},
    ),
    "budget": (ps.svm, "y ~ x0 + x2", {"weights": "balanced", "lam": 0.001}),
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
    patch.setattr(sampled, "SHARE", 0.01)
    patch.setattr(sampled, "FEWEST", 2)
    patch.setattr(hinge, "WIDTHS", 0.1)


def model_of(loss, files):
    model, formula, options = MODELS[loss]
    made = model(formula, ps.scan(files), **options)
    if loss == "budget":  # room for few rows: the first reads keep none
        made.problem.X.home.most_kept = 100
    return made


@pytest.fixture(scope="module")
def models(files):
    with pytest.MonkeyPatch.context() as patch:
        narrow(patch)
        yield {loss: model_of(loss, files) for loss in MODELS}


@pytest.fixture(scope="module")
def whole(models):
    fits = {loss: model.fit(SOLVER) for loss, model in models.items()}
    assert all(fit.coef.abs().max() > 0.1 for fit in fits.values())
    return fits


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
    for number in (1, 2, reads - 1, reads):
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


def kept_of(path):
    """The arrays of a checkpoint."""
    with open(path, "rb") as handle:
        container = Container(handle)
        return {name: container.array(name) for name in container.members}


def forged(arrays):
    """Each array missing, longer, of another shape, type, or of numbers beyond it."""
    yield "x is no part of it", arrays | {"x": np.zeros(1)}
    for name, array in arrays.items():
        if name == "header":
            continue
        yield f"it has no {name}", {k: v for k, v in arrays.items() if k != name}
        longer = np.concatenate([array, array[:1]])
        if name not in ("hinge.numbers", "hinge.a"):
            yield f"{name} has shape", arrays | {name: longer}
        for other in (array[None], array.astype(np.float32), array[:-1].copy()):
            if name in ("hinge.numbers", "hinge.a") and other.dtype == array.dtype:
                continue
            yield f"{name} has shape", arrays | {name: other}


def changed(arrays, name, value, at=0):
    array = arrays[name].copy()
    array[at] = value
    return arrays | {name: array}


def forged_numbers(arrays):
    """Numbers that no fit keeps; compiled loops would look beyond their arrays."""
    beyond = {
        "counts": (-(2**60), 2**60),
        "share": (-0.1, 0.3, np.nan),
        "point": (np.nan, np.inf),
        "best.point": (np.nan, -np.inf),
        "best.counts": (-1, 10**6),
        "best.table": (-1, 10**6),
        "hinge.foreseen": (-1, 3),
        "hinge.numbers": (-1, 10**6),
        "hinge.a": (-1e-9, np.nan),
        "log.point": (np.nan,),
        "log.objective": (-1.0, np.nan),
        "rounded.point": (np.nan,),
        "rounded.objective": (-1.0, np.nan),
        "rounded.widths": (-1.0, np.nan, np.inf),
        "budget.width": (-1.0, np.nan),
        "budget.failed": (-1, 10**6),
    }
    for name, values in beyond.items():
        for value in values if name in arrays else ():
            yield f"{name} has numbers", changed(arrays, name, value)
    yield from contradictions(arrays)


def contradictions(arrays):
    """Numbers within their ranges that do not go with the others."""
    yield "its seed is 2", changed(arrays, "counts", 2)
    if "best.risk" in arrays:
        for value, at in ((-1.0, 0), (np.inf, 0), (-1.0, 2), (-1.0, 3)):
            yield "best.risk is no risk", changed(arrays, "best.risk", value, at)
        more = arrays["best.counts"] + 1
        yield "best.counts is not of best.table", arrays | {"best.counts": more}
        more = arrays["best.table"] + [[1, 0, 0], [0, 0, 0]]
        yield "best.table has other rows", arrays | {"best.table": more}
    if "hinge.numbers" in arrays:
        numbers, a = arrays["hinge.numbers"], arrays["hinge.a"]
        yield (
            "hinge.numbers has a row twice",
            changed(arrays, "hinge.numbers", numbers[1]),
        )
        yield "hinge.a is not of hinge.numbers", arrays | {"hinge.a": a[1:]}
        heavy = changed(arrays, "hinge.a", 1e6)
        yield "hinge.a is above the weights of the rows", heavy
        high = changed(arrays, "hinge.bound", 1e6)
        yield "its bound is above its risk", high
    if "rng" in arrays:
        for value, at in ((403, 0), (0, 1), (625, 1), (0, slice(2, None))):
            yield "rng is no state of these", changed(arrays, "rng", value, at)
        for at in (0, 6, 8, 10):  # steps, violations, number in the average, before
            for value in (-1.0, 0.5, 1e9, np.nan):
                told = "steps.scalars are not of this epoch"
                yield told, changed(arrays, "steps.scalars", value, at)
        for value in (0, -1):
            yield "counts are none of epochs", changed(arrays, "counts", value, 1)


def stopped_arrays(model, path, solver):
    """What a fit keeps before its third read, or after its second epoch."""
    stopped(model, path, solver=solver)
    return kept_of(path)


@pytest.mark.parametrize("loss", MODELS)
@pytest.mark.parametrize("solver", [SOLVER, PEGASOS], ids=["SDCA", "Pegasos"])
def test_a_forged_checkpoint_with_a_right_digest_is_refused(
    loss, solver, models, tmp_path
):
    path = tmp_path / "fit.ckpt"
    arrays = stopped_arrays(models[loss], path, solver)
    assert sealed(arrays) == path.read_bytes()
    cases = [*forged(arrays), *forged_numbers(arrays)]
    assert len(cases) > 40
    for told, content in cases:
        path.write_bytes(sealed(content))
        with pytest.raises(DataError) as found:
            models[loss].fit(solver, checkpoint=path)
        message = str(found.value)
        assert message.startswith(f"The checkpoint {path} is damaged ({told}"), told
        assert message.endswith("); remove it, and the fit begins anew.")


def test_the_arrays_of_another_fit_under_the_header_of_this_one_are_refused(
    models, tmp_path
):
    path, kept = tmp_path / "fit.ckpt", {}
    for loss in MODELS:
        for solver in (SOLVER, PEGASOS):
            kept[loss, solver] = stopped_arrays(models[loss], path, solver)
            path.unlink()
    for (loss, solver), arrays in kept.items():
        for other in kept.values():
            if other is not arrays:
                path.write_bytes(sealed(other | {"header": arrays["header"]}))
                with pytest.raises(DataError, match="is damaged"):
                    models[loss].fit(solver, checkpoint=path)


@pytest.mark.parametrize("solver", [SOLVER, PEGASOS], ids=["SDCA", "Pegasos"])
def test_a_fit_that_has_come_farther_than_it_is_to_go_is_refused(
    solver, models, tmp_path
):
    path = tmp_path / "fit.ckpt"
    stopped(models["log"], path, 4, solver)  # three reads are done
    needed = 3 + (solver is SOLVER)  # what SDCA keeps is followed by a read
    with pytest.raises(OptionError) as found:
        models["log"].fit(replace(solver, epochs=2), checkpoint=path)
    assert str(found.value) == (
        f"The fit in the checkpoint needs at least {needed} epochs, and epochs=2 was "
        "given; give as many, or another checkpoint."
    )
    with pytest.warns(ConvergenceWarning) if solver is SOLVER else nullcontext():
        found = models["log"].fit(replace(solver, epochs=needed), checkpoint=path)
    assert found.solution.n_epochs == needed


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
        ps.svm("y ~ x0", frame_of(100), lam=1.0).fit(SOLVER, checkpoint=path)
    assert str(refused.value) == (
        "checkpoint= is for fits from files, which ps.scan() names, and of frames of "
        "Dask, and the rows are in memory; leave it out."
    )

"""Pegasos over files: the steps of the same rows in memory, in the same order."""

import gzip
import weakref

import numpy as np
import pyarrow as pa
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan import files as scans
from pegasos_stats.errors import ConvergenceWarning, DataError, OptionError
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.reads import rows, visits
from pegasos_stats.solvers.reads.steps import FileVisitor
from tests.scan.scan_files import written

FORMULA = "y ~ x0 + x2 * C(k) + g"
PLAIN = "y ~ x0 + x2"
OPTIONS = {
    "plain": {},
    "batches": {"batch_size": 7},  # which go on from block to block
    "projected": {"project": True, "average": "all"},
    "last epochs": {"average": 2, "refit_intercept": True},
    "steps of one size": {"step": 0.01},
    "a random start": {"start": "random", "seed": 3},
    "a late start": {"start": [0.1, -0.2, 0.3], "first_step": 50},
    "small changes": {"change_tol": 0.9},
    "a gap": {"tol": 0.9},
}


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Blocks of 150 rows, where a row group has 200; four or five to a file of 600."""
    monkeypatch.setattr(scans, "MOST_ROWS", 150)
    monkeypatch.setattr(rows, "NUMBERS", 500)


def drawn(sizes, epochs, seed, kind="rejection"):
    """Rows of each epoch, as the documentation has it."""
    rng, before = RRandom(seed, sample_kind=kind), np.cumsum([0, *sizes])
    return [
        np.concatenate(
            [before[b] + rng.permutation(sizes[b]) for b in rng.permutation(len(sizes))]
        )
        for _ in range(epochs)
    ]


def check_same(there, here):
    for name in ("beta", "alpha", "dual", "n_iter", "n_violations", "n_epochs"):
        one, other = (getattr(fit.solution, name) for fit in (there, here))
        assert np.array_equal(one, other), name
    # Sums over the rows are in blocks here and not there: 2,400 summands, rounded.
    assert there.objective == pytest.approx(here.objective, rel=1e-12)
    assert there.gap == pytest.approx(here.gap, rel=1e-10)
    counts = there.training_table.counts, here.training_table.counts
    assert np.array_equal(*counts)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("model", [ps.svm, ps.logit])
def test_in_sequence_the_bits_are_those_in_memory(model, options, data, files):
    given = {"lam": 0.01, "weights": "w"} if model is ps.logit else {"lam": 0.1}
    solver = ps.Pegasos(epochs=3, order="sequential", **options)
    there = model(PLAIN, ps.scan(files), **given).fit(solver)
    here = model(PLAIN, data, **given).fit(solver)
    check_same(there, here)
    assert there.converged == here.converged


def test_factors_and_products_are_those_in_memory(data, files):
    solver = ps.Pegasos(epochs=1, order="sequential", batch_size=2)
    there = ps.svm(FORMULA, ps.scan(files), lam=0.1).fit(solver)
    check_same(there, ps.svm(FORMULA, data, lam=0.1).fit(solver))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_in_blocks_the_bits_are_those_of_the_rows_drawn(options, data, files):
    given = {"lam": 0.1, "offset": "x1"} if "project" not in options else {"lam": 0.1}
    solver = ps.Pegasos(**{"epochs": 3, "order": "blocks", "seed": 3} | options)
    there = ps.svm(PLAIN, ps.scan(files), **given).fit(solver)
    sizes = there.block_sizes
    assert len(sizes) == 16
    assert sum(sizes) == there.nobs
    assert there.seed == 3
    if options.get("start") is not None and isinstance(options["start"], str):
        return  # its random numbers come before those of the rows
    order = np.array(drawn(sizes, 3, 3))
    given_rows = ps.Pegasos(**{"epochs": 1, "order": order} | options)
    if solver.may_end_early:
        order = order[: there.n_epochs]
        given_rows = ps.Pegasos(epochs=1, order=order)
    here = ps.svm(PLAIN, data, **given).fit(given_rows)
    check_same(there, here)


def test_a_random_start_is_drawn_before_the_blocks(data, files):
    solver = ps.Pegasos(epochs=1, order="blocks", seed=3, start="random", first_step=9)
    there = ps.svm("y ~ x0 + x2", ps.scan(files), lam=0.1).fit(solver)
    rng = RRandom(3)
    z = rng.rnorm(2)
    start = [0.0, *(z / (np.sqrt(0.1) * np.sqrt(z[0] * z[0] + z[1] * z[1])))]
    sizes, before = there.block_sizes, np.cumsum([0, *there.block_sizes])
    order = [before[b] + rng.permutation(sizes[b]) for b in rng.permutation(len(sizes))]
    begun = ps.Pegasos(order=np.concatenate(order), start=start, first_step=9)
    here = ps.svm("y ~ x0 + x2", data, lam=0.1).fit(begun)
    assert np.array_equal(there.params, here.params)


def test_the_order_is_that_of_r():
    # set.seed(443); rows_of_blocks(c(3, 1, 2, 4)) twice, in R 4.2.2
    first = [5, 6, 1, 3, 2, 8, 10, 9, 7, 4]
    second = [9, 7, 8, 10, 3, 2, 1, 6, 5, 4]
    found = drawn([3, 1, 2, 4], 2, 443)
    assert [(each + 1).tolist() for each in found] == [first, second]
    # the same after RNGkind(sample.kind = "Rounding")
    first = [5, 6, 7, 9, 8, 10, 4, 2, 1, 3]
    (found,) = drawn([3, 1, 2, 4], 1, 443, "rounding")
    assert (found + 1).tolist() == first


def as_arrow(data, path, codec=None):
    table = pa.Table.from_pandas(data, preserve_index=False)
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_file(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=170)


def test_blocks_of_every_format_are_the_same(data, tmp_path):
    numbers = data[["x0", "x2", "w"]].assign(y=(data["y"] == "yes").astype(float))
    numbers = numbers.set_axis(["x0", "x1", "x2", "x3"], axis=1)[:400]
    X = numbers.to_numpy()
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "columns.npy", np.asfortranarray(X))
    numbers.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    as_arrow(numbers, tmp_path / "rows.arrow")
    as_arrow(numbers, tmp_path / "packed.feather", "zstd")
    for part in range(3):
        some = numbers[150 * part : 150 * (part + 1)]
        some.to_csv(tmp_path / f"part{part}.csv", index=False)
    solver = ps.Pegasos(epochs=2, order="blocks", seed=1)
    paths = ["rows.npy", "columns.npy", "rows.parquet", "rows.arrow", "packed.feather"]
    fits = [
        ps.svm("x3 ~ x0 + x1 + x2", ps.scan(tmp_path / path), lam=0.1).fit(solver)
        for path in paths
    ]
    parts = ps.scan(str(tmp_path / "part*.csv"))  # of one block each
    fits.append(ps.svm("x3 ~ x0 + x1 + x2", parts, lam=0.1).fit(solver))
    np.save(tmp_path / "X.npy", X[:, :3])
    np.save(tmp_path / "labels.npy", X[:, 3])
    apart = ps.scan(tmp_path / "X.npy", outcome=tmp_path / "labels.npy")
    fits.append(ps.svm("label ~ x0 + x1 + x2", apart, lam=0.1).fit(solver))
    assert [fit.block_sizes for fit in fits] == [(150, 150, 100)] * len(fits)
    assert all(np.array_equal(fit.params, fits[0].params) for fit in fits)


def test_files_that_can_only_be_read_from_the_beginning(data, tmp_path):
    data[:160].to_csv(tmp_path / "rows.csv", index=False)
    with gzip.open(tmp_path / "rows.csv.gz", "wt") as packed:
        data[:160].to_csv(packed, index=False)
    table = pa.Table.from_pandas(data[:160], preserve_index=False)
    with pa.ipc.new_stream(str(tmp_path / "rows.arrows"), table.schema) as writer:
        writer.write_table(table)
    lines = (f"{i % 2} 1:{x} 3:{z}\n" for i, (x, z) in data[["x0", "x2"]].iterrows())
    (tmp_path / "rows.svm").write_text("".join(list(lines)[:160]))
    for name in ("rows.csv", "rows.csv.gz", "rows.arrows", "rows.svm"):
        formula = "label ~ x1 + x3" if name == "rows.svm" else "y ~ x0 + x2"
        model = ps.svm(formula, ps.scan(tmp_path / name), lam=1.0)
        with pytest.raises(OptionError) as found:
            model.fit(ps.Pegasos(order="blocks"))
        assert str(found.value) == (
            "order='blocks' reads blocks of 150 rows in any order, and "
            f"{tmp_path / name}, which has more rows, can only be read from first to "
            "last; write it as Parquet, or give order='sequential'."
        )
        assert model.fit(ps.Pegasos(order="sequential", epochs=1)).n_iter > 150


def test_blocks_without_a_row_of_the_fit_are_not_drawn(data, tmp_path):
    lacking = data.copy()
    lacking.loc[150:299, "x0"] = np.nan
    lacking.loc[1200:1349, "y"] = None
    model = ps.svm("y ~ x0 + x2", ps.scan(written(lacking, tmp_path)), lam=0.1)
    there = model.fit(ps.Pegasos(epochs=2, order="blocks", seed=2))
    assert len(there.block_sizes) == 14
    order = np.array(drawn(there.block_sizes, 2, 2))
    here = ps.svm("y ~ x0 + x2", lacking, lam=0.1).fit(ps.Pegasos(order=order))
    assert np.array_equal(there.params, here.params)


def test_standardized_columns_differ_by_their_scale_alone(data, files):
    solver = ps.Pegasos(epochs=2, order="sequential")
    given = {"lam": 0.1, "standardize": True}
    there = ps.logit(PLAIN, ps.scan(files), **given).fit(solver)
    here = ps.logit(PLAIN, data, **given).fit(solver)
    # Means and deviations are summed in pieces: equal to some units in the last place.
    np.testing.assert_allclose(there.params, here.params, rtol=1e-10)


def test_counts_go_with_the_order_of_the_files(data, files):
    given = {"lam": 0.1, "freq_weights": "k"}
    solver = ps.Pegasos(epochs=2, order="sequential")
    there = ps.svm("y ~ x0 + x2", ps.scan(files), **given).fit(solver)
    here = ps.svm("y ~ x0 + x2", data, **given).fit(solver)
    check_same(there, here)
    with pytest.raises(OptionError) as found:
        ps.svm("y ~ x0", ps.scan(files), **given).fit(ps.Pegasos(order="blocks"))
    assert str(found.value) == (
        "order='blocks' does not go with freq_weights=; give order='sequential', or "
        "files that hold each row as often as it counts."
    )


@pytest.mark.parametrize(
    ("solver", "shown"),
    [
        (ps.Pegasos(seed=1), "order='shuffle'"),
        (ps.Pegasos.paper(steps=10), "order='replace'"),
        (ps.Pegasos(order=[0, 1]), "A list of rows"),
    ],
)
def test_other_orders_are_refused_in_one_sentence(files, solver, shown):
    with pytest.raises(OptionError) as found:
        ps.svm("y ~ x0", ps.scan(files), lam=1.0).fit(solver)
    assert str(found.value) == (
        f"{shown} takes rows from anywhere, and files are read block by block; "
        "give order='sequential' or order='blocks'."
    )


def test_rows_in_memory_have_no_blocks(data):
    train, _ = ps.datasets.load_digits56()
    solver = ps.Pegasos(order="blocks", seed=1)
    models = [
        ps.svm("y ~ x0", data, lam=1.0),
        ps.kernel_svm("digit ~ p34", train, lam=1.0),
    ]
    for model in models:
        with pytest.raises(OptionError) as found:
            model.fit(solver)
        assert str(found.value) == (
            "order='blocks' is for fits from files, which ps.scan() names, and the "
            "rows are in memory; give order='shuffle'."
        )


def test_a_batch_has_no_more_rows_than_a_block(files):
    with pytest.raises(OptionError) as found:
        ps.svm("y ~ x0", ps.scan(files), lam=1.0).fit(
            ps.Pegasos(order="sequential", batch_size=151)
        )
    assert str(found.value) == (
        "batch_size=151 is more than a block of the files, which has 150 rows; give at "
        "most as many, or more memory: scan(paths, memory=)."
    )


def test_reads_are_counted_and_a_fit_is_like_any_other(data, files, tmp_path):
    # One read for the levels of g, one to measure, three epochs, and the certificate.
    model = ps.logit("y ~ x0 + g", ps.scan(files), lam=0.1)
    result = model.fit(ps.Pegasos(epochs=3, order="blocks", seed=1))
    assert result.n_reads == 6
    assert result.n_epochs == 3
    other = result.with_covariance(None)
    assert (other.n_reads, other.block_sizes) == (6, result.block_sizes)
    table = result.confusion(ps.scan(files)).counts
    assert np.array_equal(table[:, :2], result.training_table.counts[:, :2])
    assert "blocks, 3 epochs" in str(result.summary(details=True))
    assert len(result.augment(data)) == len(data)
    ps.save(result, tmp_path / "fit.model")
    loaded = ps.load(tmp_path / "fit.model")
    assert loaded.params.equals(result.params)
    assert loaded.solver.order == "blocks"
    assert loaded.certificate == result.certificate


def test_epochs_are_shown(files, capsys):
    model = ps.svm("y ~ x0", ps.scan(files), lam=1.0)
    model.fit(ps.Pegasos(epochs=2, order="sequential"), progress=True)
    assert "2/2" in capsys.readouterr().err


def test_it_warns_of_a_tolerance_that_is_not_reached(files):
    model = ps.svm("y ~ x0 + x2", ps.scan(files), lam=0.001)
    solver = ps.Pegasos(epochs=2, order="blocks", seed=1, tol=1e-9)
    with pytest.warns(
        ConvergenceWarning,
        match=r"^Pegasos has not reached tol 1e-09 after 2 epochs: the relative gap is "
        r"[\d.]+\. Try SDCA\(\)\.$",
    ):
        result = model.fit(solver)
    assert result.converged is False
    # Types are known and there is no factor: one read measures; each epoch is judged.
    assert result.n_reads == 1 + 2 + 2


class StopError(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("order", ["sequential", "blocks"])
@pytest.mark.parametrize("model", [ps.svm, ps.logit])
def test_a_run_that_is_stopped_goes_on_to_the_same_bits(
    model, order, files, tmp_path, monkeypatch
):
    made = model("y ~ x0 + x2", ps.scan(files), lam=0.01)
    solver = ps.Pegasos(
        epochs=4, order=order, seed=1, average="all", project=True, batch_size=4
    )
    whole, path = made.fit(solver), tmp_path / "fit.ckpt"
    visited: list = []
    visit = FileVisitor.visit_part

    def stopping(visitor, part):
        visited.append(part)
        if len(visited) == 37:  # in the third epoch
            raise StopError
        visit(visitor, part)

    monkeypatch.setattr(FileVisitor, "visit_part", stopping)
    with pytest.raises(StopError):
        made.fit(solver, checkpoint=path)
    assert path.exists()
    found = made.fit(solver, checkpoint=path)
    check_same(found, whole)
    assert found.n_reads == whole.n_reads
    assert not path.exists()
    # Two epochs were kept; each has 17 parts, the last of what is left of a batch.
    assert len(visited) == 37 + 2 * 17


def test_a_run_short_of_its_tolerance_goes_on_with_more_epochs(files, tmp_path):
    model = ps.svm("y ~ x0 + x2", ps.scan(files), lam=0.01)
    given = {"order": "blocks", "seed": 1, "tol": 1e-9, "change_tol": 1e-12}
    for epochs in (2, 2, 3):  # the second call has nothing left to do
        with pytest.warns(ConvergenceWarning, match=r"changed a coefficient by 0\.\d"):
            found = model.fit(
                ps.Pegasos(epochs=epochs, **given), checkpoint=tmp_path / "fit.ckpt"
            )
    with pytest.warns(ConvergenceWarning):
        whole = model.fit(ps.Pegasos(epochs=3, **given))
    check_same(found, whole)
    with pytest.raises(DataError, match="is of a fit with order 'blocks'"):
        model.fit(
            ps.Pegasos(epochs=3, **given | {"order": "sequential"}),
            checkpoint=tmp_path / "fit.ckpt",
        )


def test_files_that_change_between_epochs_are_an_error(data, tmp_path, monkeypatch):
    files = written(data, tmp_path)
    model = ps.svm("y ~ x0 + x2", ps.scan(files), lam=0.1)
    data[:500].to_parquet(files[0])
    for order in ("sequential", "blocks"):
        with pytest.raises(DataError, match="The files have changed since they were"):
            model.fit(ps.Pegasos(epochs=2, order=order))
    files[0].write_bytes(b"no Parquet at all")
    with pytest.raises(DataError, match="The files have changed since they were"):
        model.fit(ps.Pegasos(epochs=2, order="blocks"))


def test_two_blocks_are_in_memory_at_a_time(files, monkeypatch):
    made, alive = [], []

    class Counted(visits.Part):
        pass

    def counted(*given):
        part = Counted(*given)
        made.append(weakref.ref(part.X))
        alive.append(sum(each() is not None for each in made))
        return part

    monkeypatch.setattr(visits, "Part", counted)
    model = ps.svm("y ~ x0 + x2", ps.scan(files), lam=0.1)
    model.fit(ps.Pegasos(epochs=2, order="blocks", seed=1))
    assert len(made) == 32
    # The one that is visited, the one that waits, and one that is being let go.
    assert max(alive) <= 3

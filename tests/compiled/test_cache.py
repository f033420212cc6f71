"""numba keeps compiled kernels; no fit fails for want of a place, or by damage."""

import shutil

import pytest

from pegasos_stats.compiled import compiling
from pegasos_stats.compiled.compiling import kernel


def three_times(x):
    return 3.0 * x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "kernels"
    monkeypatch.setattr("numba.config.CACHE_DIR", str(place))
    monkeypatch.setattr(compiling, "sources", lambda: b"these sources")
    return place


def hits(value=2.0):
    """Run the kernel as a new process would; return how often a file was used."""
    compiled = kernel(three_times)
    assert compiled(value) == 3.0 * value
    return sum(compiled.stats.cache_hits.values())


def test_kernels_are_kept_and_compiled_anew_for_other_sources(folder, monkeypatch):
    assert (hits(), hits()) == (0, 1)
    monkeypatch.setattr(compiling, "sources", lambda: b"others")
    assert (hits(), hits()) == (0, 1)


@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("length", [0, 20])
def test_a_damaged_file_is_mended(kind, length, folder):
    hits()
    (file,) = folder.rglob(kind)
    file.write_bytes(file.read_bytes()[:length])
    assert (hits(), hits()) == (0, 1)


def test_code_of_another_signature_is_not_run(folder):
    hits()
    (file,) = folder.rglob("*.nbc")
    other = file.read_bytes()
    shutil.rmtree(folder)
    hits(2)
    (file,) = folder.rglob("*.nbc")
    file.write_bytes(other)
    assert (hits(2), hits(2)) == (0, 1)


def test_without_a_folder_each_process_compiles(monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert (hits(), hits()) == (0, 0)


def test_a_full_disk_is_no_error(folder, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert (hits(), hits()) == (0, 0)
    assert not [path for path in folder.rglob("*") if path.is_file()]

"""Compiled kernels are kept where that is safe; no fit fails for want of a place."""

import errno
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import pegasos_stats
from pegasos_stats.compiled import cache
from pegasos_stats.compiled.compiling import kernel
from pegasos_stats.errors import PegasosStatsWarning

NOBODY = 65534
PACKAGE = Path(pegasos_stats.__file__).parent
DRAW = "from pegasos_stats import RRandom; print(RRandom(1).runif(2).round(7))"
DRAWN = "[0.2655087 0.3721239]\n"  # R: set.seed(1); runif(2)


def three_times(x):
    return 3.0 * x


def forget():
    """What a new process would not know."""
    for known in (cache.folder, cache.sources, cache._drop_old):
        known.cache_clear()
    cache.SAID.clear()


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders that stand for those of the package, of the user and of the system."""
    for name in ("tree", "home", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(cache, "IN_TREE", tmp_path / "tree" / "__pycache__")
    monkeypatch.setattr(cache.numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    forget()
    yield tmp_path
    forget()


def blocked(folder):
    """Make a folder one that nobody, root included, can write a file in."""
    shutil.rmtree(folder)
    folder.write_text("a file")


def hits():
    """Run the kernel as a new process would; return how often a file was used."""
    compiled = kernel(three_times)
    assert compiled(2.0) == 6.0
    return sum(compiled.stats.cache_hits.values())


def kept(folder):
    return list(folder.rglob("*.nbc"))


def test_the_folder_of_the_package_is_first(places):
    assert (hits(), hits()) == (0, 1)
    assert len(kept(places)) == len(kept(places / "tree")) == 1


def test_then_that_of_the_user(places):
    blocked(places / "tree")
    assert (hits(), hits()) == (0, 1)
    (file,) = kept(places / "home")
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_then_a_temporary_one_said_once(places):
    blocked(places / "tree")
    blocked(places / "home")
    with pytest.warns(PegasosStatsWarning) as said:
        assert (hits(), hits()) == (0, 1)
    (file,) = kept(places / "tmp")
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert len(said) == 1
    assert str(file.parent) in str(said[0].message)
    assert said[0].filename == __file__


def test_without_a_home_nothing_is_written_to_the_working_folder(places, monkeypatch):
    monkeypatch.chdir(places)
    monkeypatch.setenv("XDG_CACHE_HOME", "~/.cache")  # what a missing home becomes
    blocked(places / "tree")
    with pytest.warns(PegasosStatsWarning, match="are kept in"):
        hits()
    assert not (places / "~").exists()


@pytest.mark.parametrize("wish", ["file", "file/below", "x" * 300, "nul\0", "unsafe"])
def test_a_wish_that_cannot_be_met_is_said(wish, places, monkeypatch):
    (places / "file").write_text("")
    monkeypatch.setattr(cache.numba.config, "CACHE_DIR", str(places / wish))
    monkeypatch.setattr(
        cache, "_is_private", lambda place: place.parent.name != "unsafe"
    )
    with pytest.warns(PegasosStatsWarning, match="^NUMBA_CACHE_DIR=") as said:
        assert (hits(), hits()) == (0, 1)
    assert len(said) == 1
    assert len(kept(places / "home")) == 1


@pytest.mark.parametrize("trap", ["link", "group", "others", "owner"])
def test_a_folder_that_others_can_write_is_not_used(trap, places, monkeypatch):
    for name in ("tree", "home"):
        blocked(places / name)
    place = places / "tmp" / cache._own_name()
    if trap == "link":
        (places / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(places / "elsewhere")
    else:
        place.mkdir()
        place.chmod({"group": 0o770, "others": 0o702}.get(trap, 0o700))
    if trap == "owner":
        monkeypatch.setattr(cache, "_own_name", lambda: place.name)
        monkeypatch.setattr(cache, "_user", lambda: os.geteuid() + 1)
    with pytest.warns(PegasosStatsWarning, match="each process compiles"):
        hits()
    assert not kept(places)


DAMAGE = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "one bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "another digest": lambda content: bytes(32) + content[32:],
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_said_and_mended(how, places):
    hits()
    (file,) = kept(places)
    file.write_bytes(DAMAGE[how](file.read_bytes()))
    with pytest.warns(PegasosStatsWarning, match="is damaged, and compiled anew"):
        assert hits() == 0
    assert hits() == 1


def test_code_of_another_signature_is_not_run(places):
    hits()
    (file,) = kept(places)
    file.unlink()
    assert kernel(three_times)(2) == 6
    (other,) = kept(places)
    other.rename(file)
    assert (hits(), hits()) == (0, 1)  # the key within is not the one asked for


def test_files_of_another_user_are_not_read(places, monkeypatch):
    hits()
    monkeypatch.setattr(cache, "_user", lambda: NOBODY)
    owner = os.stat(cache.__file__).st_uid
    monkeypatch.setattr(
        cache.os, "stat", lambda path: os.stat_result([0, 0, 0, 0, owner + 1] + [0] * 5)
    )
    with pytest.warns(PegasosStatsWarning, match="belongs to another user"):
        assert hits() == 0


def test_a_full_disk_is_said_and_leaves_no_part(places, monkeypatch):
    number = errno.ENOSPC

    def full(path, content):
        with open(path, "wb") as handle:
            handle.write(content[:100])
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.warns(PegasosStatsWarning, match=os.strerror(number)) as said:
        assert (hits(), hits()) == (0, 0)
    assert len(said) == 1
    assert not [path for path in places.rglob("*") if path.is_file()]


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("hook", ["_object_cache_notify", "_object_cache_getbuffer"])
@pytest.mark.parametrize("known", [True, False])
def test_an_interrupt_where_llvm_calls_back_is_heard(hook, known, places, monkeypatch):
    """Python drops what is raised there; a kernel without its code is never run."""
    if known:
        hits()
    compiled = kernel(three_times)
    engine = compiled.targetctx.codegen()._engine._ee
    with monkeypatch.context() as patched, warnings.catch_warnings():
        patched.setattr(engine, hook, interrupt)
        warnings.simplefilter("error")
        if known and hook == "_object_cache_notify":  # nothing is compiled
            assert compiled(2.0) == 6.0
        else:
            with pytest.raises(KeyboardInterrupt):
                compiled(2.0)
    assert compiled(2.0) == 6.0


def test_kernels_of_other_sources_are_compiled_anew_and_dropped(places, monkeypatch):
    hits()
    (old,) = kept(places)
    (old.parent / "numbas.own-7.py311.nbi").write_text("")
    (old.parent / "numbas.own-7.py311.1.nbc").write_text("")
    (old.parent / "module.cpython-311.pyc").write_text("")
    source = places / "kernel.py"
    source.write_text("changed")
    monkeypatch.setattr(cache, "HERE", places)
    forget()
    assert hits() == 0
    (new,) = kept(places)
    assert new.name != old.name
    assert len(list(old.parent.iterdir())) == 2  # and the module


def copied(folder):
    """The package in a tree of its own, without compiled files."""
    dropped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "pegasos_stats", ignore=dropped)
    return folder


# Root may write anywhere, unless a process gives up that power (CAP_DAC_OVERRIDE and
# CAP_DAC_READ_SEARCH) for those that it starts: PR_CAPBSET_DROP of Linux.
AS_ANYBODY = """
import ctypes, os, sys
if os.geteuid() == 0:
    for power in (1, 2):
        assert ctypes.CDLL(None).prctl(24, power, 0, 0, 0) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def start(tree, code=DRAW, **environment):
    """Start a process that can write neither the package nor its home."""
    known = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    known |= {"PYTHONPATH": str(tree), "HOME": str(tree), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", AS_ANYBODY, "-c", code],
        env=known,
        cwd=tree,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def readonly(tmp_path):
    """A copy of the package that the processes of `start` can only read."""
    tree = copied(tmp_path / "tree")
    for path in [tree, *tree.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield tree
    for path in [tree, *tree.rglob("*")]:
        path.chmod(0o755)


def test_an_installation_of_another_user(readonly, tmp_path):
    room = tmp_path / "room"
    room.mkdir()
    one, two = (start(readonly, TMPDIR=str(room)) for _ in range(2))  # side by side
    for out, err in (one.communicate(), two.communicate()):
        assert out == DRAWN
        assert err.count("PegasosStatsWarning: Compiled kernels are kept in") == 1
        assert "Traceback" not in err
    (place,) = room.iterdir()
    assert place.stat().st_mode & 0o777 == 0o700
    assert not list(place.glob("*.nbc.*"))


def test_a_wish_is_met(places, monkeypatch):
    monkeypatch.setattr(cache.numba.config, "CACHE_DIR", str(places / "wish"))
    assert (hits(), hits()) == (0, 1)
    assert len(kept(places)) == len(kept(places / "wish")) == 1

"""Files that are written while calls fail, and by several threads at once."""

import errno
import os
import threading

import pytest

from pegasos_stats.errors import DataError
from tests.writing.written_files import EARLIER, contents, write

CALLS = [
    (os, "open"),
    (os, "fsync"),
    (os, "replace"),
    (os, "chmod"),
    (os, "stat"),
    (os, "close"),
    (os, "unlink"),
]
FAILURES = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EIO, "Input/output error"),
    PermissionError(errno.EACCES, "Permission denied"),
    KeyboardInterrupt(),
    SystemExit(3),
    MemoryError(),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(("module", "name"), CALLS, ids=lambda part: str(part))
@pytest.mark.parametrize("there", [True, False])
def test_whichever_call_fails_the_file_is_the_earlier_or_the_new_one(
    module, name, failure, there, tmp_path, monkeypatch
):
    """The first, the second ... call fails, until the writing needs no more calls."""
    path = tmp_path / "a.txt"
    before = EARLIER if there else None
    real = getattr(module, name)
    for last in range(1, 30):
        path.unlink(missing_ok=True)
        if there:
            path.write_bytes(EARLIER)
            path.chmod(0o640)
        calls = 0

        def failing(*args, last=last, **options):
            nonlocal calls
            calls += 1
            if calls == last:
                raise failure
            return real(*args, **options)

        raised = None
        with monkeypatch.context() as patched:
            patched.setattr(module, name, failing)
            try:
                write(path)
            except BaseException as error:
                raised = error
        found = path.read_bytes() if path.exists() else None
        assert isinstance(raised, DataError | type(failure) | None)
        assert not isinstance(raised, OSError)
        allowed = {b"note: new" if raised is None else before}
        if raised is not None and not isinstance(raised, DataError):
            allowed.add(b"note: new")  # interrupted, maybe after the renaming
        assert found in allowed
        if name != "unlink":  # a part that cannot be removed stays
            assert {*contents(tmp_path)} <= {"a.txt"}
        if calls < last:
            return
    raise AssertionError("the calls never end")


def test_threads_that_write_one_file_all_go_right(tmp_path):
    path, failures = tmp_path / "a.txt", []
    texts = [f"note {n} " * 5000 for n in range(8)]

    def writing(text):
        try:
            for _ in range(20):
                write(path, text)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=writing, args=[text]) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [*contents(tmp_path)] == ["a.txt"]
    assert path.read_text() in texts

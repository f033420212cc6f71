"""Saved objects taken apart, changed, and put together again as hostile hands would."""

from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.persist import _content_of, codec, load_saved
from pegasos_stats.persist.archive import DIGEST_END, pack, unpack
from pegasos_stats.persist.codec import ArrayReader, ArrayWriter
from tests.persist.hostile_files import resealed


def taken_apart(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of a file."""
    return unpack(path.read_bytes())


def put_together(header: Any, arrays: dict[str, Any]) -> bytes:
    """A file with a digest that is right; a header may be given as its text."""
    if not isinstance(header, bytes):
        return pack(header, arrays)
    parts = [len(header).to_bytes(8, "little"), header, *arrays.values()]
    return resealed(b"".join([bytes(DIGEST_END), *parts]))


def written(value: Any, kind: Any) -> tuple[Any, dict[str, Any]]:
    """A value of a type as JSON and arrays."""
    writer = ArrayWriter()
    return codec.write(kind, value, writer), writer.arrays()


def read(stored: Any, arrays: dict[str, Any], kind: Any) -> Any:
    """Undo `written`."""
    return codec.restore(kind, stored, ArrayReader(arrays, {}))


def forged(path: Any, place: str, value: Any, functions: Any = None) -> bytes:
    """The file of an object with another value at a place, such as ``problem.lam``.

    A function makes it of the value that is there. The digest is right.
    """
    found = load_saved(path, functions).result
    *steps, last = place.split(".")
    parent = found
    for step in steps:
        parent = getattr(parent, step)
    value = value(getattr(parent, last)) if callable(value) else value
    object.__setattr__(parent, last, value)
    return _content_of(found, {"dict": []})


def check_same(one: Any, other: Any, where: str = "it", of_ours: Any = None) -> None:
    """The same types and bits, in whatever holds them.

    Objects of the package are compared by `of_ours`, or by all that they hold.
    """
    assert type(one) is type(other), where
    if isinstance(one, pd.DataFrame | pd.Series):
        check = "frame" if isinstance(one, pd.DataFrame) else "series"
        getattr(pd.testing, f"assert_{check}_equal")(one, other, check_exact=True)
    elif isinstance(one, pd.Index):
        pd.testing.assert_index_equal(one, other, exact=True)
    elif isinstance(one, np.ndarray) and one.dtype.kind != "O":
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        assert one.tobytes() == other.tobytes(), where
    elif isinstance(one, np.ndarray):
        check_same(one.tolist(), other.tolist(), where, of_ours)
    elif isinstance(one, dict):
        check_same(list(one.items()), list(other.items()), where, of_ours)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for place, pair in enumerate(zip(one, other, strict=True)):
            check_same(*pair, f"{where}[{place}]", of_ours)
    elif isinstance(one, float | np.floating):
        assert np.float64(one).tobytes() == np.float64(other).tobytes(), where
    elif type(one).__module__.startswith("pegasos_stats") and of_ours:
        of_ours(one, other, where)
    elif type(one).__module__.startswith("pegasos_stats") and hasattr(one, "__dict__"):
        check_same(vars(one), vars(other), where)
    elif not callable(one):
        assert one == other, where

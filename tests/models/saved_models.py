"""Saved models taken apart, changed, and put together again as hostile hands would."""

import json
from typing import Any

import numpy as np

from pegasos_stats.models.persist.archive import write_npz


def taken_apart(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of a file."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def put_together(header: Any, arrays: dict[str, Any]) -> bytes:
    """A file with a digest that is right; a header may be given as its text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return write_npz({"header": np.frombuffer(text, dtype=np.uint8)} | arrays)

"""Saved models taken apart, changed, and put together again as hostile hands would."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from pegasos_stats.models.persist.container import sealed

V1 = Path(__file__).parent / "persist_v1"


def taken_apart(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of a file."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def put_together(header: Any, arrays: dict[str, Any]) -> bytes:
    """A file with a digest that is right; a header may be given as its text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return sealed({"header": np.frombuffer(text, dtype=np.uint8)} | arrays)


def as_format_1(header: Any, arrays: dict[str, Any], compress: bool = True) -> bytes:
    """A file as format 1 was written: compressed, without a digest."""
    if isinstance(header, dict):
        header = {k: v for k, v in header.items() if k != "digest"} | {"version": 1}
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    out, save = io.BytesIO(), np.savez_compressed if compress else np.savez
    save(out, **arrays, header=np.frombuffer(text, dtype=np.uint8))
    return out.getvalue()

"""What a saved model looks like from outside, before it may be replaced."""

from typing import IO

from pegasos_stats.models.persist.container import archive_in
from pegasos_stats.writing import Kind

MARK = b'"format": "pegasos_stats model"'
BEGIN = 1000  # bytes of the header that hold the mark


def is_model(handle: IO[bytes]) -> bool:
    """Whether a file has the mark of a saved model; nothing else of it is read."""
    try:
        with archive_in(handle) as archive, archive.open("header.npy") as header:
            return MARK in header.read(BEGIN)
    except Exception:  # whatever zipfile makes of damage, or of something else
        return False


MODEL = Kind("model", "model", is_model)

"""Checkpoints: what a fit of rows elsewhere has reached, for a process that goes on."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from importlib.metadata import version
from typing import IO, TypeVar

import numpy as np

from pegasos_stats.data.sample import Sample
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.errors import DataError, PegasosStatsError, shown
from pegasos_stats.models.persist.container import (
    Container,
    NotOursError,
    archive_in,
    opened,
    sealed,
)
from pegasos_stats.models.persist.header import Json, record, same, text_of, tree_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.reads.seeing import State
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.writing import Kind, checked_place, outputs

Fit = TypeVar("Fit")

FORMAT = "pegasos_stats checkpoint 2"
BEGIN = 1000  # bytes of the header that hold the mark
FREE = ("epochs", "ties")  # options that change no step


def is_checkpoint(handle: IO[bytes]) -> bool:
    """Whether a file has the mark of a checkpoint; nothing else of it is read."""
    try:
        with archive_in(handle) as archive, archive.open("header.npy") as header:
            return FORMAT.encode() in header.read(BEGIN)
    except Exception:  # whatever zipfile makes of damage, or of something else
        return False


CHECKPOINT = Kind(
    "checkpoint", "checkpoint", is_checkpoint, cure="give another path, or remove it"
)


class Checkpoint:
    """The file in which a fit is kept between two reads.

    Each time it is written beside and renamed: whenever the process is killed, the file
    is whole, or there is none.

    Parameters
    ----------
    path : str or path
    facts : dict
        What a fit has to have in common with the one that is kept.

    Raises
    ------
    OptionError
        If the path is none.
    DataError
        If the file cannot be written, or another one is there that is no checkpoint.
    """

    def __init__(self, path: object, facts: dict[str, Json]) -> None:
        self._place, self._facts = checked_place(path, CHECKPOINT), facts

    def earlier(self, going_on: Callable[[State], Fit]) -> Fit | None:
        """What comes of what is kept in the file; None if there is no file.

        Raises
        ------
        DataError
            If it is damaged, or of another fit.
        """
        if self._place.earlier() is None:
            return None
        try:
            with opened(self._place.path) as handle:
                container = Container(handle)
                if not container.sealed:
                    raise ValueError("it has no digest")
                header = container.array("header").tobytes()
                _, facts = tree_of(header, len(header))
                self._check(facts)
                names = [name for name in container.members if name != "header"]
                return going_on({name: container.array(name) for name in names})
        except PegasosStatsError:
            raise
        except (Exception, NotOursError) as error:  # what damage raises
            reason = " ".join(str(error).split()).rstrip(".")[:120]
            raise DataError(
                f"The checkpoint {self._place.shown} is damaged ({reason}); remove it, "
                "and the fit begins anew."
            ) from None

    def keep(self, state: State) -> None:
        """Replace what is in the file."""
        each = [len(fact) for fact in self._facts.values() if isinstance(fact, list)]
        text = text_of([FORMAT, self._facts], max(each))
        header = {"header": np.frombuffer(text, dtype=np.uint8)}
        with outputs() as files:
            files.open(self._place).write(sealed(header | state))

    def remove(self) -> None:
        """Remove the file: the fit is done."""
        with suppress(FileNotFoundError):
            os.unlink(self._place.path)

    def _check(self, earlier: dict[str, Json]) -> None:
        for name, value in self._facts.items():
            then = earlier.get(name)
            if same(value, then):
                continue
            where = f"The checkpoint {self._place.shown} is of a fit"
            told = f"{where} with {name} {shown(then)}, and this one has {shown(value)}"
            if isinstance(value, list | dict):
                told = f"{where} with other {name}"
            raise DataError(
                f"{told}; give another path, or remove it, and this fit begins anew."
            )
        record(earlier, "its header", self._facts)


def facts_of(
    problem: Problem, sample: Sample, solver: Pegasos | SDCA
) -> dict[str, Json]:
    """What fits of equal bits have in common: version, options, source, rows."""
    assert isinstance(problem.X, Elsewhere)
    measured = problem.X.measured
    values = ((each.name, getattr(solver, each.name)) for each in fields(solver))
    options = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in values
    }
    last_only = isinstance(options.get("average"), int)
    rows = hashlib.sha256(measured.y.data)
    moments = measured.means, measured.spread
    for array in (measured.weights, measured.offset, *moments):
        if array is not None:
            rows.update(np.ascontiguousarray(array).data)
    return {
        "version": version("pegasos_stats"),
        "formula": str(sample.design.formula),
        "loss": problem.loss,
        "lam": problem.lam,
        "intercept": problem.intercept,
        "standardize": isinstance(sample.design, ScaledDesign),
        "levels": [str(level) for level in sample.coding.levels],
        **{name: value for name, value in options.items() if name not in FREE},
        **({"epochs": options["epochs"]} if last_only else {}),
        "memory": measured.scan.memory,
        **_source_of(problem.X),
        "columns": list(sample.design.names),
        "rows": [measured.y.size, rows.hexdigest()],
    }


def _source_of(rows: Elsewhere) -> dict[str, Json]:
    if not isinstance(rows.measured.scan, Scan):
        return {"rows of partitions": list(rows.home.sizes)}
    files = [*rows.measured.scan.files, *rows.measured.scan.outcomes]
    stats = [os.stat(file) for file in files]
    return {
        "files": [os.path.abspath(file) for file in files],
        "sizes and times of files": [
            [each.st_size, each.st_mtime_ns] for each in stats
        ],
    }

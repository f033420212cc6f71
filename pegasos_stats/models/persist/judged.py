"""The distance of a saved fit from its optimum, and its notes."""

from typing import Any, get_args

import numpy as np

from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import Note, Topic
from pegasos_stats.models.persist import header, values
from pegasos_stats.models.persist.header import Json, items, whole
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.shortfall import Shortfall

TOPICS: tuple[Topic, ...] = get_args(Topic)
MOST_COLUMNS = 10_000  # of which the header has numbers
NUMBERS = ("at_least", "at_most", "lower", "upper")


def packed_judgement(result: Results) -> Json:
    """Write how far a fit is from the minimum.

    The third place has what tables need of the columns of a linear fit; the last has
    notes on the predictors, which need the training rows.
    """
    known = result.shortfall
    numbers = [values.packed(float(getattr(known, name))) for name in NUMBERS]
    counts = [int(known.changed), int(known.errors), bool(known.reached)]
    reach, notes = result._on_predictors
    said = [packed_note(note) for note in notes]
    columns = {}
    if isinstance(result, LinearResults) and len(result._spread) <= MOST_COLUMNS:
        columns = {
            "spread": [values.packed(float(size)) for size in result._spread],
            "constants": np.flatnonzero(result.constants).tolist(),
        }
    return [numbers, counts, columns, [values.packed(reach), said]]


def unpacked_judgement(stored: Json, at: Certificate, n: int, p: int) -> dict[str, Any]:
    """Undo `packed_judgement`: by name, for a result.

    Raises
    ------
    ValueError and others
        If it is not as that writes it.
    """
    numbers, counts, columns, said = items(stored, "the judgement", 4)
    least, most, lower, upper = (
        float(values.restored(number)) for number in items(numbers, "bounds", 4)
    )
    changed, errors, reached = items(counts, "counts", 3)
    if not 0.0 <= least <= most or not lower >= 0.0 or not upper <= at.objective:
        raise ValueError(f"the objective is from {least} to {most} above its minimum")
    known = Shortfall(
        least,
        most,
        lower,
        upper,
        whole(changed, "a count of rows", 0, n),
        whole(errors, "a count of rows", 0, n),
        header.flag(reached, "whether it is reached"),
    )
    on_predictors = {"_on_predictors": _on_predictors(said)}
    return {"shortfall": known} | _of_columns(columns, p) | on_predictors


def _of_columns(stored: Json, p: int) -> dict[str, Any]:
    """Deviations of the columns, and which are constant, unless there are too many."""
    if not stored:
        return {}
    header.record(stored, "the columns", ("spread", "constants"))
    sizes = items(stored["spread"], "deviations", p)
    spread = np.array([float(values.restored(size)) for size in sizes])
    if not (spread >= 0.0).all():
        raise ValueError("a deviation is below zero")
    constants = np.zeros(p, dtype=bool)
    for place in items(stored["constants"], "constant columns"):
        constants[whole(place, "a column", 0, p - 1)] = True
    return {"_spread": spread, "constants": constants}


def _on_predictors(stored: Json) -> tuple[float, tuple[Note, ...]]:
    """How far the predictors move scores, and notes on the penalty."""
    reach, notes = items(stored, "what is said of predictors", 2)
    far = values.restored(reach)
    if type(far) is not float or far < 0.0:
        raise ValueError(f"predictors move scores by {far!r}")
    return far, unpacked_notes(notes)


def packed_note(note: Note) -> Json:
    """Write the text of a note and its topic."""
    return [note.text, note.topic]


def unpacked_notes(stored: Json) -> tuple[Note, ...]:
    """Undo `packed_note` for a list."""
    found = []
    for each in items(stored, "notes"):
        text, name = items(each, "a note", 2)
        topic = next((topic for topic in TOPICS if topic == name), None)
        if topic is None:
            raise ValueError(f"a note is about {name!r}")
        found.append(Note(topic, "note", header.text(text, "a note")))
    return tuple(found)

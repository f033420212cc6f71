"""What was found out about a fit by going on from it, and by trying cures."""

from typing import Any

from pegasos_stats.advice import Cure, Setting, Together
from pegasos_stats.models.notes.fits import STANDING
from pegasos_stats.models.notes.note import Note, Topic
from pegasos_stats.models.persist import header, values
from pegasos_stats.models.persist.header import Json, items, whole
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.shortfall import Shortfall

NUMBERS = ("at_least", "at_most", "lower", "upper")


def packed_judgement(result: Results) -> Json:
    """Write how far a fit is from the minimum, and what helps it.

    The fourth place is for how near coefficients are, which a linear fit may tell; the
    last has what is said of the predictors, which only the training rows tell.
    """
    known = result.shortfall
    numbers = [values.packed(float(getattr(known, name))) for name in NUMBERS]
    counts = [int(known.changed), int(known.errors), bool(known.reached)]
    cures = {topic: packed_cure(cure) for topic, cure in result.cures.items()}
    reach, notes = result._on_predictors
    said = [packed_note(note) for note in notes]
    return [numbers, counts, cures, None, [values.packed(reach), said]]


def unpacked_judgement(stored: Json, at: Certificate, n: int) -> dict[str, Any]:
    """Undo `packed_judgement`: by name, for a result.

    Raises
    ------
    ValueError and others
        If it is not as that writes it.
    """
    if stored is None:  # an earlier file
        return {}
    numbers, counts, cures, _, *rest = items(stored, "the judgement")
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
    if type(cures) is not dict or not set(cures) <= set(STANDING):
        raise ValueError(f"the cures are {cures!r}")
    found = {topic: unpacked_cure(cure) for topic, cure in cures.items()}
    judged: dict[str, Any] = {"shortfall": known, "cures": found}
    if rest:
        (said,) = rest
        judged["_on_predictors"] = _on_predictors(said)
    return judged


def _on_predictors(stored: Json) -> tuple[float, tuple[Note, ...]]:
    """How far the predictors move scores, and notes on the penalty."""
    reach, notes = items(stored, "what is said of predictors", 2)
    far = values.restored(reach)
    if type(far) is not float or far < 0.0:
        raise ValueError(f"predictors move scores by {far!r}")
    return far, unpacked_notes(notes, "penalty")


def packed_note(note: Note) -> Json:
    """Write the text of a note and its cure."""
    return [note.text, packed_cure(note.cure)]


def unpacked_notes(stored: Json, topic: Topic) -> tuple[Note, ...]:
    """Undo `packed_note` for a list; in earlier files a note may be its text alone."""
    found = []
    for each in items(stored, "notes"):
        pair = [each, None] if isinstance(each, str) else each
        said, cure = items(pair, "a note", 2)
        text = header.text(said, "a note")
        found.append(Note(topic, "note", text, unpacked_cure(cure)))
    return tuple(found)


def packed_cure(cure: Cure | None) -> Json:
    """Write a cure as lists."""
    if cure is None:
        return None
    return [
        cure.sentence,
        [
            [[each.name, each.value, each.change] for each in together]
            for together in cure.alternatives
        ],
    ]


def unpacked_cure(stored: Json) -> Cure | None:
    """Undo `packed_cure`."""
    if stored is None:
        return None
    sentence, alternatives = items(stored, "a cure", 2)
    if header.text(sentence, "a sentence").count("{}") != 1:
        raise ValueError(f"a cure says {sentence!r}")
    found = [_together(each) for each in items(alternatives, "the cures")]
    if not found:
        raise ValueError("a cure is empty")
    return Cure(tuple(found), sentence)


def _together(stored: Json) -> Together:
    found = []
    for each in items(stored, "the settings"):
        name, value, change = items(each, "a setting", 3)
        if not isinstance(value, str | bool | int | float | None):
            raise ValueError(f"a setting is {value!r}")
        found.append(
            Setting(header.text(name, "a name"), value, header.text(change, "a change"))
        )
    if not found:
        raise ValueError("a cure is empty")
    return tuple(found)

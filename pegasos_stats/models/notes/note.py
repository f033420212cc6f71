"""A note: a fact about a fit, how bad it is, and what may help."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Topic = Literal[
    "predictions",  # one level for all rows
    "separation",
    "run",  # not converged
    "resamples",  # that coincide
    "few events",
    "level order",
    "columns",  # of no use, or probably misread
    "penalty",  # that is strong
    "standard errors",  # which estimate the table has, or why it has none
    "certificate",
    "inference",  # what standard errors, intervals and tests assume
    "labels",
    "model",
    "probabilities",
    "rows",
    "seed",
]
Severity = Literal["note", "warning"]

# Topics that a summary shows, the most important first; others are among its details.
RANKED: tuple[Topic, ...] = get_args(Topic)[:9]
MOST = 3  # notes of a summary


@dataclass(frozen=True)
class Note:
    """A fact about a fit that its numbers alone do not say.

    Attributes
    ----------
    topic : str
        What it is about; who shows notes chooses them by it.
    severity : "note" or "warning"
        A warning is a reason not to trust the numbers.
    text : str
        Sentences. That of a warning begins with a small letter, as it goes on after a
        word such as ``WARNING:``.
    """

    topic: Topic
    severity: Severity
    text: str

    @property
    def sentence(self) -> str:
        """The text, beginning with a capital."""
        return self.text[:1].upper() + self.text[1:]


def most_important(notes: Iterable[Note], most: int = MOST) -> list[Note]:
    """The notes of a summary: one for each topic, in the order of `RANKED`.

    The estimate of the standard errors is always among them, as the table cannot be
    read without it.

    Examples
    --------
    >>> found = [Note("seed", "note", "1"), Note("penalty", "note", "2")]
    >>> found += [Note("separation", "warning", "3"), Note("penalty", "note", "4")]
    >>> [note.text for note in most_important(found)]
    ['3', '2']
    """
    first: dict[Topic, Note] = {}
    for note in notes:
        first.setdefault(note.topic, note)
    found = [first[topic] for topic in RANKED if topic in first]
    *others, last = RANKED
    if last not in first:
        return found[:most]
    return [*[note for note in found if note.topic in others][: most - 1], first[last]]


def ranked(notes: Iterable[Note]) -> list[Note]:
    """All notes, those of the topics in `RANKED` first."""
    return sorted(
        notes, key=lambda n: RANKED.index(n.topic) if n.topic in RANKED else len(RANKED)
    )


def listed(notes: Iterable[Note]) -> list[str]:
    """Notes as a summary lists them, warnings first."""
    ordered = sorted(notes, key=lambda note: note.severity != "warning")
    return [
        f"{'WARNING: ' * (note.severity == 'warning')}{note.text}" for note in ordered
    ]

"""A note: a fact about a fit, how bad it is, and the options that may help."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pegasos_stats.advice import Cure, Said, Spelling

Topic = Literal[
    "certificate",
    "labels",
    "penalty",
    "run",
    "predictions",
    "probabilities",
    "columns",
    "rows",
    "seed",
    "standard errors",
    "terms",
]
Severity = Literal["note", "warning"]


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
    cure : Cure, optional
    said : Said, optional
        The text, where it names options.
    """

    topic: Topic
    severity: Severity
    text: str
    cure: Cure | None = None
    said: Said | None = None

    def written(self, spell: Spelling | None = None) -> str:
        """Text and cure, with settings as Python spells them, or as `spell` does.

        Examples
        --------
        >>> from pegasos_stats.advice import Setting, one_of
        >>> more = Setting("epochs", change="more"), Setting("lam", change="a larger")
        >>> Note("run", "warning", "the fit ran away.", one_of(more)).written()
        'the fit ran away. Try more epochs or a larger lambda.'
        """
        text = self.text if self.said is None else self.said.written(spell)
        return text if self.cure is None else f"{text} {self.cure.written(spell)}"

    @property
    def capital(self) -> str:
        """The text without the cure, beginning with a capital."""
        return self.text[:1].upper() + self.text[1:]

    @property
    def sentence(self) -> str:
        """Text and cure, beginning with a capital."""
        return self.spelled()

    def spelled(self, spell: Spelling | None = None) -> str:
        """The `sentence`, with settings as `spell` spells them."""
        written = self.written(spell)
        return written[:1].upper() + written[1:]


def listed(notes: Iterable[Note], spell: Spelling | None = None) -> list[str]:
    """Notes as a summary lists them, warnings first."""
    ordered = sorted(notes, key=lambda note: note.severity != "warning")
    return [
        f"{'WARNING: ' * (note.severity == 'warning')}{note.written(spell)}"
        for note in ordered
    ]

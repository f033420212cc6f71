"""A note: a fact about a fit, how bad it is, and the options that may help."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Topic = Literal[
    "certificate",
    "labels",
    "penalty",
    "run",
    "predictions",
    "seed",
    "standard errors",
    "terms",
]
Severity = Literal["note", "warning"]


@dataclass(frozen=True)
class Setting:
    """An option that may help: the value to give it, or how to change it.

    Attributes
    ----------
    name : str
        As Python names it.
    value : str, bool or float, optional
    change : str
        Such as ``"a larger"``, where there is no value.
    """

    name: str
    value: str | bool | float | None = None
    change: str = ""


@dataclass(frozen=True)
class Cure:
    """What may help: settings, of which one may do.

    Attributes
    ----------
    settings : tuple of Setting
    sentence : str
        With ``{}`` for the settings.
    """

    settings: tuple[Setting, ...]
    sentence: str = "Try {}."


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
    """

    topic: Topic
    severity: Severity
    text: str
    cure: Cure | None = None

    def written(self, spell: Callable[[Setting], str] | None = None) -> str:
        """Text and cure, with settings as Python spells them, or as `spell` does.

        Examples
        --------
        >>> more = Setting("epochs", change="more"), Setting("lam", change="a larger")
        >>> Note("run", "warning", "the fit ran away.", Cure(more)).written()
        'the fit ran away. Try more epochs or a larger lambda.'
        """
        if self.cure is None:
            return self.text
        *first, last = map(spell or in_python, self.cure.settings)
        listed = f"{', '.join(first)} or {last}" if first else last
        return f"{self.text} {self.cure.sentence.format(listed)}"

    @property
    def sentence(self) -> str:
        """Text and cure, beginning with a capital."""
        written = self.written()
        return written[:1].upper() + written[1:]


# Who takes an option, where it is not the model.
TAKEN_BY = {
    "refine": "fit(solver, {})",
    "refit_intercept": "Pegasos({})",
    "tol": "SDCA({})",
}


def in_python(setting: Setting) -> str:
    """Spell a setting as Python does.

    Examples
    --------
    >>> in_python(Setting("tol", 1e-8)), in_python(Setting("weights", "balanced"))
    ('SDCA(tol=1e-8)', "weights='balanced'")
    """
    if setting.change:
        return f"{setting.change} {'lambda' if setting.name == 'lam' else setting.name}"
    if setting.name == "solver":
        return f"{setting.value}()"
    value = repr(setting.value)
    if isinstance(setting.value, float):
        value = f"{setting.value:.0e}".replace("e-0", "e-")
    return TAKEN_BY.get(setting.name, "{}").format(f"{setting.name}={value}")


def listed(notes: Iterable[Note]) -> list[str]:
    """Notes as a summary lists them, warnings first."""
    ordered = sorted(notes, key=lambda note: note.severity != "warning")
    return [
        f"WARNING: {note.written()}" if note.severity == "warning" else note.written()
        for note in ordered
    ]

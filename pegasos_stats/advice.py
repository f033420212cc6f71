"""Remedies as data: options by name, written for Python or for the command line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote

FLAGS = {"lam": "--lambda", "folds": "--cv"}  # that are not called as in Python

LONGEST = 120  # characters of a value in a message

# Who takes an option, where it is not the model.
TAKEN_BY = {
    "algorithm": "SDCA",
    "arithmetic": "SDCA",
    "epochs": "SDCA",
    "gap_tol": "SDCA",
    "refine": "fit",
    "refit_intercept": "Pegasos",
    "start": "SDCA",
    "tol": "SDCA",
}


def shortened(text: str) -> str:
    """Text for a message, its end left out where it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


@dataclass(frozen=True)
class Setting:
    """An option that may help: the value to give it, or how to change it.

    Attributes
    ----------
    name : str
        As Python names it; ``"solver"`` for the solver itself.
    value : str, bool, int or float, optional
    change : str
        Such as ``"a larger"``, where there is no value.
    call : str
        With ``{}`` for the value: the call that takes it in Python, where that is not
        one of the model.
    """

    name: str
    value: str | bool | int | float | None = None
    change: str = ""
    call: str = ""

    @property
    def shown(self) -> str:
        """The value as text; numbers short.

        Examples
        --------
        >>> Setting("tol", 1e-8).shown, Setting("lam", 0.01).shown
        ('1e-8', '0.01')
        """
        if isinstance(self.value, float):
            return f"{self.value:g}".replace("e-0", "e-")
        return str(self.value)

    @property
    def named(self) -> str:
        """The option as an argument of Python, in a sentence.

        Examples
        --------
        >>> Setting("steps").named, Setting("order", "replace").named
        ('steps=', "order='replace'")
        >>> Setting("threshold", 0.3, call="predict(data, threshold={})").named
        'predict(data, threshold=0.3)'
        """
        value = "" if self.value is None else shortened(repr(self.value))
        return self.call.format(value) if self.call else f"{self.name}={value}"


Together = tuple[Setting, ...]  # settings to be given at the same time
Spelling = Callable[[Together], str]


@dataclass(frozen=True)
class Cure:
    """What may help: alternatives, of which one will do.

    Attributes
    ----------
    alternatives : tuple of tuples of Setting
        The settings of one alternative go together.
    sentence : str
        With ``{}`` for the alternatives.
    """

    alternatives: tuple[Together, ...]
    sentence: str = "Try {}."

    def written(self, spell: Spelling | None = None) -> str:
        """The sentence, with settings as Python spells them, or as `spell` does.

        Examples
        --------
        >>> exact, scaled = Setting("solver", "SDCA"), Setting("standardize", True)
        >>> Cure(((exact,), (scaled, exact), (scaled,))).written()
        'Try SDCA(), standardize=True with SDCA() or standardize=True.'
        """
        *first, last = map(spell or in_python, self.alternatives)
        listed = f"{', '.join(first)} or {last}" if first else last
        return self.sentence.format(listed)


@dataclass(frozen=True)
class InPython:
    """Words for who calls from Python, and those for the command line.

    Attributes
    ----------
    text, elsewhere : str
    """

    text: str
    elsewhere: str = ""


@dataclass(frozen=True)
class Said:
    """Text that names options, written for Python or for the command line.

    Attributes
    ----------
    parts : tuple of str, Setting and InPython
    """

    parts: "tuple[Part, ...]"

    def written(self, spell: Spelling | None = None) -> str:
        """The text, with options as Python spells them, or as `spell` does.

        Examples
        --------
        >>> text = said("give ", Setting("steps"), " with ", Setting("lam", 0.1), ".")
        >>> text.written(), text.written(as_options)
        ('give steps= with lam=0.1.', 'give --steps with --lambda 0.1.')
        """
        words = []
        for part in self.parts:
            if isinstance(part, InPython):
                words.append(part.elsewhere if spell else part.text)
            elif isinstance(part, Setting):
                words.append(spell((part,)) if spell else part.named)
            else:
                words.append(part)
        return "".join(words)


Part = str | Setting | InPython


def bare(name: str) -> Setting:
    """An option by its name alone, as a word of a sentence.

    Examples
    --------
    >>> text = said(bare("freq_weights"), " hold text.")
    >>> text.written(), text.written(as_options)
    ('freq_weights hold text.', '--freq-weights hold text.')
    """
    return Setting(name, call=name)


def said(*parts: Part) -> Said:
    """Text that names options."""
    return Said(parts)


def in_python(settings: Together) -> str:
    """Spell settings as Python does: arguments of the model, and calls that take them.

    Examples
    --------
    >>> in_python((Setting("tol", 1e-8), Setting("epochs", 1000)))
    'SDCA(tol=1e-8, epochs=1000)'
    >>> in_python((Setting("weights", "balanced"), Setting("refine", 1e-6)))
    "weights='balanced' with fit(solver, refine=1e-6)"
    >>> in_python((Setting("lam", change="a larger"),))
    'a larger lambda'
    """
    words, calls = list[str](), dict[str, list[str]]()
    for setting in settings:
        name = "lambda" if setting.name == "lam" else setting.name
        text = isinstance(setting.value, str)
        given = f"{setting.name}={setting.value!r}" if text else f"{setting.name}="
        given += "" if text else setting.shown
        if setting.change:
            words.append(f"{setting.change} {name}")
        elif setting.name == "solver":
            calls.setdefault(setting.shown, [])
        elif setting.name in TAKEN_BY:
            calls.setdefault(TAKEN_BY[setting.name], []).append(given)
        else:
            words.append(given)
    for taker, arguments in calls.items():
        first = ["solver"] if taker == "fit" else []
        words.append(f"{taker}({', '.join([*first, *arguments])})")
    return " with ".join(words)


def flag(name: str) -> str:
    """An option of Python as the command line spells it.

    Examples
    --------
    >>> flag("batch_size"), flag("lam")
    ('--batch-size', '--lambda')
    """
    return FLAGS.get(name) or f"--{name.replace('_', '-')}"


def as_options(settings: Together) -> str:
    """Spell settings as the command line takes them.

    Examples
    --------
    >>> as_options((Setting("standardize", True), Setting("solver", "SDCA")))
    '--standardize --solver sdca'
    >>> as_options((Setting("lam", change="a larger"),))
    'a larger --lambda'
    >>> as_options((Setting("cov_type", "HC3"), Setting("offset", "log years")))
    "--cov-type HC3 --offset 'log years'"
    """
    words = []
    for setting in settings:
        name = flag(setting.name)
        plain = setting.value is None or setting.value is True  # 1.0 is no flag
        if setting.value is False:
            name = name.replace("--", "--no-", 1)
        value = "" if plain or setting.value is False else f" {quote(setting.shown)}"
        value = value.lower() if setting.name == "solver" else value
        words.append(f"{setting.change} {name}" if setting.change else name + value)
    return " ".join(words)


def one_of(settings: Sequence[Setting], sentence: str = "Try {}.") -> Cure:
    """A cure of settings that each will do alone."""
    return Cure(tuple((setting,) for setting in settings), sentence)

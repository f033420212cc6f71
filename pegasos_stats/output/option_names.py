"""Options of Python in a message, written as the command line has them."""

import re

from pegasos_stats.output.cli.options import every_flag, flags_of

NAMED = re.compile(r"(?<![\w.])(?<!\w\()([a-z]\w*)=('[^']*'|[\w.+-]*\w|)(?![\w(])")


def flag(name: str) -> str:
    """An option of Python as the command line spells it.

    Examples
    --------
    >>> flag("batch_size"), flag("lam")
    ('--batch-size', '--lambda')
    """
    return "--cv" if name == "folds" else flags_of(name)[0]


def as_options(text: str) -> str:
    """A message whose arguments of Python are options of the command line.

    Examples
    --------
    >>> as_options("Try standardize=True or lam=1e-9; cov_type='HC3', not df=4.")
    'Try --standardize or --lambda 1e-9; --cov-type HC3, not df=4.'
    >>> as_options("Try intercept=False, intercept=True or data=rows.")
    'Try --no-intercept, intercept=True or data=rows.'
    """

    def option(found: re.Match[str]) -> str:
        name, value = flag(found[1]), found[2]
        turned_off = name.startswith("--no-")
        if name not in every_flag() or turned_off != (value == "False"):
            return found[0]
        if value in ("True", "False", ""):
            return name
        word = re.fullmatch(r"'([\w.+-]+)'", value)
        return f"{name} {word[1] if word else value}"

    text = text.replace("leave it out, as in", "leave it out by --id, as in")
    return NAMED.sub(option, text)

"""Options of Python in a message, written as the command line has them."""

import re

from pegasos_stats.output.cli.options import every_flag

FLAGS = {"lam": "--lambda", "folds": "--cv"}  # other names
NAMED = re.compile(r"(?<![\w.])(?<!\w\()([a-z]\w*)=('[^']*'|[\w.+-]*\w|)(?![\w(])")


def flag(name: str) -> str:
    """An option of Python as the command line spells it.

    Examples
    --------
    >>> flag("batch_size"), flag("lam")
    ('--batch-size', '--lambda')
    """
    return FLAGS.get(name) or f"--{name.replace('_', '-')}"


def as_options(text: str) -> str:
    """A message whose arguments of Python are options of the command line.

    Examples
    --------
    >>> as_options("Try standardize=True or lam=1e-9; cov_type='HC3', not df=4.")
    'Try --standardize or --lambda 1e-9; --cov-type HC3, not df=4.'
    """

    def option(found: re.Match[str]) -> str:
        name, value = flag(found[1]), found[2]
        if value == "False":
            name = name.replace("--", "--no-", 1)
        if name not in every_flag():
            return found[0]
        word = re.fullmatch(r"'([\w.+-]+)'", value)
        given = (
            "" if value in ("True", "False", "") else f" {word[1] if word else value}"
        )
        return name + given

    text = text.replace("leave it out, as in", "leave it out by --id, as in")
    return NAMED.sub(option, text)

"""Words of other command lines, answered by what to write here.

The words are in ``foreign_names.toml``; so argparse sees only those of this program.
"""

import codecs
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from pegasos_stats.errors import OptionError, listing, nearest
from pegasos_stats.foreign_names import (
    BARE,
    foreign_value,
    own_value,
    suggestion,
    suggestions,
)
from pegasos_stats.output.cli.streams import PROGRAM

if TYPE_CHECKING:
    from pegasos_stats.output.cli.options import Options

NUMBER = re.compile(r"-[0-9.].*")
MANY = re.compile(r"[0-9.e-]+([,:][0-9.e-]+)+")  # numbers
CODES = "--na-values", "--na"  # whose values may begin as options do
KINDS = {  # what the value of an option is, where that decides what the option means
    "model": r"\.(npz|pkl|model|rds|joblib)$",
    "vw": r"\.vw$",
    "file": r"\.(csv|tsv|txt|svm|parquet|gz|dat)$",
    "number": r"^[-+]?[0-9.]+(e-?[0-9]+)?$",
    "sign": r"^[^a-zA-Z0-9]$",
    "cov": r"^(hc[0-3]|(non)?robust|cluster|bootstrap|sandwich)$",
    "lasso": r"^(l1|lasso|elastic-?net)$",
}
Commands = Mapping[str, Sequence[str]]  # their options by name


def own_words(words: Sequence[str], commands: Commands) -> list[str]:
    """The words, options spelled as the parser has them.

    ``--cov_type``, as in Python, is ``--cov-type``.

    Parameters
    ----------
    words : sequence of str
    commands : mapping of str to sequence of str
        The names of options of each command.

    Raises
    ------
    OptionError
        For a command or an option of another program; it says what to write.
    """
    if not words or words[0] in ("-h", "--help", "--version"):
        return list(words)
    if words[0] not in commands:
        raise OptionError(f"{words[0]} is no command; {_of_command(words, commands)}.")
    known, words = commands[words[0]], list(words)
    for place in range(len(words) - 2, 0, -1):  # -k.A. is no option after --na-values
        name, value = words[place].replace("_", "-"), words[place + 1]
        if name in CODES and value.startswith("-") and value not in known:
            words[place : place + 2] = [f"{name}={value}"]
    found = words[:1]
    for place in range(1, len(words)):
        word = words[place]
        if word == "--":
            return [*found, *words[place:]]
        name, equals, value = word.partition("=")
        if len(name) < 2 or not name.startswith("-") or NUMBER.fullmatch(name):
            found.append(word)
            continue
        follows = value if equals else " ".join(words[place + 1 : place + 2])
        dashed = name.replace("_", "-")
        if dashed not in known:
            instead = _of_option(name, follows, words, commands)
            raise OptionError(f"{words[0]} has no option {name}; {instead}.")
        python = dashed.lstrip("-").replace("-", "_")
        asked = "grid" if MANY.fullmatch(follows) else follows
        if instead := foreign_value(python, asked):
            instead = instead.replace(f"{python}=", f"{dashed} ")
            raise OptionError(f"{dashed} {follows} {instead}")
        own = str(own_value(python, follows))
        if not equals and own != follows:
            words[place + 1] = own
        found.append(f"{dashed}={own}" if equals else dashed)
    return found


def more_words(extra: Sequence[str], options: "Options") -> OptionError:
    """The error for words that the parser does not know."""
    command = options.command
    word, data = extra[0], f"{PROGRAM} {command} {extra[0]}"
    train, outcome, kind = options.train, options.outcome, _kind(word)
    kind = kind or "file" * os.path.exists(word)
    if command == "predict":
        instead = f"{PROGRAM} predict MODEL DATA -o OUT.csv"
    elif word == "~":
        instead = f"the formula in quotes: --formula '{train} ~ ...'"
    elif _kind(train) == "model":
        instead = f"{data} --outcome COL, which fits by itself"
    elif "~" in train:
        instead = f"{data} --formula '{train}'"
    elif "~" in word:
        instead = f"--formula '{word}'"
    elif options.na_values and kind != "file":
        instead = f"--na-values {word}, the option again for each code"
    elif options.coefficients:
        instead = "--coefficients alone, which prints them, or --json > FILE"
    elif kind in ("model", "file"):
        instead = f"--{'save' if kind == 'model' else 'test'} {word}"
    elif outcome:
        name = re.split(r"\W", " ".join(extra).lstrip(", "))[0]  # robust of ", robust"
        known = suggestion(name, ("flags",)).removeprefix("write ")
        instead = known or f"--formula '{outcome} ~ {' + '.join(extra)}'"
    elif len(extra) > 1:
        instead = f"--formula '{word} ~ {' + '.join(extra[1:])}'"
    else:
        instead = f"--outcome {word}"
    instead = instead if instead.startswith(BARE) else f"write {instead}"
    return OptionError(f"{command} takes no further word {word!r}; {instead}.")


def check_test(path: str | None) -> None:
    """Raise `OptionError` for ``--test 0.2``, a share of the rows."""
    share = path is not None and re.fullmatch(r"[0-9.]+%?", path)
    if share and not os.path.exists(path or ""):
        raise OptionError(
            f"--test {path} is no file; write --cv 10 for the error on new rows, or "
            "--test FILE for rows of their own."
        )


def _kind(value: str, words: Sequence[str] = ()) -> str:
    """One of `KINDS`, or loss, column (of the first file), encoding; or empty."""
    for kind, pattern in KINDS.items():
        if re.search(pattern, value.lower()):
            return kind
    if own_value("loss", value) in ("hinge", "log"):
        return "loss"
    data = next((each for each in words[1:] if os.path.isfile(each)), os.devnull)
    with suppress(OSError), open(data, encoding="latin-1") as handle:
        header = re.split(r"[,;\t|]", handle.readline(100_000))
        names = {each.strip().strip('"') for each in header}
        if names.issuperset(value.split(",")) and value:
            return "column"
    with suppress(LookupError, ValueError):
        codecs.lookup(value)
        return "encoding"
    return ""


def _of_command(words: Sequence[str], commands: Commands) -> str:
    """What to write for a first word that is no command."""
    word, kind = words[0], _kind("".join(words[1:2]), words)
    if word == "help" and words[1:2] and words[1] in commands:
        return f"write {PROGRAM} {words[1]} --help"
    if any(_kind(each) == "model" for each in words[1:]):
        kind = "model"
    if word.startswith("-"):
        known = suggestion(word.lstrip("-"), ("commands",))
        as_option = known.startswith("write --")
        return f"write {PROGRAM} {known[6:] if as_option else 'fit DATA --outcome COL'}"
    name = word.strip(",:").replace("_", "-")
    alike = nearest(name, suggestions("commands"), 0.8)
    for each in (name, alike, *reversed(re.split("[-.]", name))):
        if instead := suggestion(each, ("commands", kind), ("commands",)):
            return re.sub("^write ", f"write {PROGRAM} ", instead)
    if near := nearest(word, commands, 0.66):
        return f"write {PROGRAM} {near}"
    if _kind(word) == "file":
        return f"write {PROGRAM} fit {word} --outcome COL"
    return (
        f"give one of {listing(commands, len(commands))}, as in {PROGRAM} fit DATA "
        "--outcome COL"
    )


def _of_option(name: str, value: str, words: Sequence[str], commands: Commands) -> str:
    """What to write for an option that the parser does not have."""
    if "~" in value and not value.startswith("~"):
        return f"write --formula '{value}'"
    command, bare = words[0], name.strip("-")
    known, kind = commands[command], _kind(value, words)
    instead = suggestion(bare, ("flags", command), ("flags", kind), ("flags",))
    other = (each for each, options in commands.items() if name in options)
    if not instead and (owner := next(other, "")):
        instead = f"it is an option of {owner}"
    instead = instead or _like_option(name, bare, command, known)
    return _with_columns(instead, name, words)


def _like_option(name: str, bare: str, command: str, known: Sequence[str]) -> str:
    """What to write for a name like an option, or with a word that is one."""
    if near := nearest(name.replace("_", "-"), known, 0.8):
        return f"write {near}"
    parts = re.split("[-_]", bare) if name.startswith("--") else []
    alike = nearest(bare, suggestions("flags"), 0.85) if parts else ""
    for word in (alike, *reversed(parts), *(part.removesuffix("s") for part in parts)):
        if f"--{word}" in known:
            return f"write --{word}"
        if instead := suggestion(word, ("flags", command), ("flags",)):
            return instead
    return f"see {PROGRAM} {command} --help"


def _with_columns(instead: str, option: str, words: Sequence[str]) -> str:
    """The formula to write with the columns of an option, and the outcome."""
    line = " ".join([*words, ""])
    values = re.findall(rf"(?<= ){re.escape(option)}[ =]((?:[^-\s]\S* +)+)", line)
    columns = re.split(r"[,\s]+", " ".join(values).strip())
    names = [name if name.isidentifier() else f"`{name}`" for name in columns]
    names = [n for n in names if re.search("[^`0-9.]", n) and not set(n) & set("*:+^")]
    if not names:
        return instead
    flags = ("--outcome", "--target", "-y")
    outcome = next((value for name, value in pairwise(words) if name in flags), "y")
    instead = instead.replace("'y ~ a + b'", f"'{outcome} ~ {' + '.join(names)}'")
    return instead.replace("'y ~ . - id'", f"'{outcome} ~ . - {' - '.join(names)}'")

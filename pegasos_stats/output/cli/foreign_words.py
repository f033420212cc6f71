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
MODEL, TABLE = r"\.(npz|pkl|model|rds|joblib)$", r"\.(csv|tsv|txt|svm|parquet|gz|dat)$"
CODES = "--na-values", "--na"  # whose values may begin as options do
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
        if words[0] == "help" and words[1:2] and words[1] in commands:
            instead = f"{PROGRAM} {words[1]} --help"
            raise OptionError(f"help is no command; write {instead}.")
        raise OptionError(_no_command(words, commands))
    known = commands[words[0]]
    found = [words[0]]
    words = list(words)
    for place in range(len(words) - 2, 0, -1):  # -k.A. is no option after --na-values
        name, value = words[place].replace("_", "-"), words[place + 1]
        if name in CODES and value.startswith("-") and value not in known:
            words[place : place + 2] = [f"{name}={value}"]
    for place in range(1, len(words)):
        word = words[place]
        if word == "--":
            return [*found, *words[place:]]
        name, equals, value = word.partition("=")
        if len(name) < 2 or not name.startswith("-") or NUMBER.fullmatch(name):
            found.append(word)
            continue
        dashed = name.replace("_", "-")
        name = dashed if dashed in known else name
        follows = value if equals else next(iter(words[place + 1 :]), "")
        python = name.lstrip("-").replace("-", "_")
        if name in known and (own := own_value(python, follows)) != follows:
            follows = str(own)
            value = follows if equals else value
            if not equals:
                words[place + 1] = follows
        many = re.fullmatch(r"[0-9.e-]+([,:][0-9.e-]+)+", follows)
        asked = "grid" if many else follows
        if name in known and (instead := foreign_value(python, asked)):
            instead = instead.replace(f"{python}=", f"{name} ")
            raise OptionError(f"{name} {follows} {instead}")
        if instead := _instead(words[0], name, known, commands, _kind(follows, words)):
            if "~" in follows and not follows.startswith("~"):
                instead = f"write --formula '{follows}'"
            instead = _with_columns(instead, _all_of(name, words), words)
            raise OptionError(f"{words[0]} has no option {name}; {instead}.")
        found.append(name + equals + value)
    return found


def more_words(extra: Sequence[str], options: "Options") -> OptionError:
    """The error for words that the parser does not know."""
    word, command = extra[0], options.command
    if word.startswith("-"):
        return OptionError(
            f"{command} has no option {word}; see {PROGRAM} {command} --help."
        )
    if command == "predict":
        return OptionError(
            f"predict takes a model and a file of rows, and not {word!r}; write "
            f"{PROGRAM} predict MODEL DATA -o OUT.csv."
        )
    train = options.train or ""
    if word == "~":
        instead = f"the formula in quotes: --formula '{train} ~ ...'"
    elif train.endswith((".npz", ".pkl", ".model")):
        instead = f"{PROGRAM} {command} {word} --outcome COL, which fits by itself"
    elif "~" in train:
        instead = f"{PROGRAM} {command} {word} --formula '{train}'"
    elif "~" in word:
        instead = f"--formula '{word}'"
    elif options.na_values and not os.path.exists(word):
        instead = f"--na-values {word}, the option again for each code"
    elif re.search(MODEL, word):
        instead = f"--save {word}"
    elif options.coefficients and not os.path.exists(word):
        instead = (
            "--coefficients alone, which prints them, with --json > FILE for a file"
        )
    elif os.path.exists(word) or re.search(r"\.(csv|tsv|txt|svm|parquet|gz)$", word):
        instead = f"--test {word}"
    elif outcome := options.outcome:
        name = re.split(r"\W", " ".join(extra).lstrip(", "))[0]  # robust of ", robust"
        known = suggestion(name, ("flags",)).removeprefix("write ")
        instead = known or f"--formula '{outcome} ~ {' + '.join(extra)}'"
    elif len(extra) > 1:
        instead = f"--formula '{word} ~ {' + '.join(extra[1:])}'"
    else:
        instead = f"--outcome {word}"
    instead = instead if instead.startswith(BARE) else f"write {instead}"
    return OptionError(f"{command} takes one file, and not {word!r}; {instead}.")


def check_test(path: str | None) -> None:
    """Raise `OptionError` for ``--test 0.2``, a share of the rows."""
    share = path is not None and re.fullmatch(r"[0-9.]+%?", path)
    if share and not os.path.exists(path or ""):
        raise OptionError(
            f"--test {path} is no file; write --cv 10 for the error on new rows, or "
            "--test FILE for rows of their own."
        )


def _kind(value: str, words: Sequence[str]) -> str:
    """What the value of an option is, where that decides what the option means.

    One of model, vw, file, number, sign, loss, cov, lasso, column (of the first file),
    encoding; or empty.
    """
    if re.search(MODEL, value):
        return "model"
    if value.endswith(".vw"):
        return "vw"
    if os.path.isfile(value) or re.search(TABLE, value):
        return "file"
    if re.fullmatch(r"[-+]?[0-9.]+(e-?[0-9]+)?", value):
        return "number"
    if len(value) == 1 and not value.isalnum():
        return "sign"
    if own_value("loss", value) in ("hinge", "log"):
        return "loss"
    if re.fullmatch("hc[0-3]|(non)?robust|cluster|bootstrap|sandwich", value.lower()):
        return "cov"
    if re.fullmatch("l1|lasso|elastic-?net", value.lower()):
        return "lasso"
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


def _no_command(words: Sequence[str], commands: Commands) -> str:
    """What to write for a first word that is no command."""
    word, kind = words[0], _kind("".join(words[1:2]), words)
    if any(re.search(MODEL, each) for each in words[1:]):
        kind = "model"
    known = suggestion(word.lstrip("-"), ("commands",))
    if word.startswith("-") and known.startswith("write --"):
        instead = known.replace("write ", f"write {PROGRAM} ")
    elif word.startswith("-"):
        instead = f"write {PROGRAM} fit DATA --outcome COL, a command first"
    elif instead := _command_like(word, kind):
        code = instead.removeprefix("write ")
        instead = f"write {PROGRAM} {code}" if code != instead else instead
    elif near := nearest(word, commands, 0.66):
        instead = f"write {PROGRAM} {near}"
    elif os.path.exists(word) or re.search(TABLE, word):
        instead = f"write {PROGRAM} fit {word} --outcome COL"
    else:
        instead = f"give one of {listing(commands, len(commands))}"
        instead += f", as in {PROGRAM} fit DATA --outcome COL"
    return f"{word} is no command; {instead}."


def _command_like(word: str, kind: str) -> str:
    """What to write for a command of the table, for one like it or a part of it."""
    word = word.strip(",:").replace("_", "-")
    near = nearest(word, suggestions("commands"), 0.8)
    for each in (word, near, *reversed(re.split("[-.]", word))):
        if instead := suggestion(each, ("commands", kind), ("commands",)):
            return instead
    return ""


def _instead(
    command: str, name: str, known: Sequence[str], commands: Commands, kind: str
) -> str:
    """What to write for an option, if the parser does not have it."""
    if name in known:
        return ""
    instead = suggestion(
        name.lstrip("-"), ("flags", command), ("flags", kind), ("flags",)
    )
    long = [each for each in known if name.startswith("--") and each.startswith(name)]
    if instead or long:
        return instead or f"write {' or '.join(long)}"
    for other, options in commands.items():
        if name in options:
            return f"it is an option of {other}"
    near = nearest(name, known, 0.8)
    return f"write {near}" if near else _of_a_word(command, name, known)


def _of_a_word(command: str, name: str, known: Sequence[str]) -> str:
    """What to write for a name like one of the table, or with a word that it has."""
    if not name.startswith("--"):
        return ""
    words = re.split("[-_]", name.strip("-"))
    alike = nearest(name.strip("-"), suggestions("flags"), 0.85)
    for word in (alike, *reversed(words), *(word.removesuffix("s") for word in words)):
        if f"--{word}" in known:
            return f"write --{word}"
        if instead := suggestion(word, ("flags", command), ("flags",)):
            return instead
    return ""


def _all_of(option: str, words: Sequence[str]) -> list[str]:
    """All values of an option, which may be given several, and several times."""
    found, is_value = [], False
    for word in words[1:]:
        name, _, value = word.partition("=")
        if word.startswith("-"):
            is_value = name.replace("_", "-") == option
            word = value
        if is_value and word:
            found += word.split(",")
    return found


def _with_columns(instead: str, columns: Sequence[str], words: Sequence[str]) -> str:
    """The formula to write with the columns that were given, and the outcome."""
    names = [name if name.isidentifier() else f"`{name}`" for name in columns]
    names = [n for n in names if re.search("[^`0-9.]", n) and not set(n) & set("*:+^")]
    if not names:
        return instead
    flags = ("--outcome", "--target", "-y")
    outcome = next((value for name, value in pairwise(words) if name in flags), "y")
    instead = instead.replace("'y ~ a + b'", f"'{outcome} ~ {' + '.join(names)}'")
    return instead.replace("'y ~ . - id'", f"'{outcome} ~ . - {' - '.join(names)}'")

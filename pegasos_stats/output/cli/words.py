"""The words of the command line, checked before a library is loaded.

``words.json`` has the help and the options of every command as `parser.parser` builds
them: ``python scripts/cli_words.py`` writes it, and a test compares both.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from pegasos_stats import __version__
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli.foreign_words import more_words, own_words
from pegasos_stats.output.cli.process import PROGRAM, say, write_output

FILE = Path(__file__).with_suffix(".json")
HELP = ("-h", "--help")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        """End the process with one line."""
        needed = message.partition("required: ")[2]
        if needed == "TRAIN":
            message = f"{message}; give a file of data, or - for standard input"
        elif needed.endswith("DATA"):
            message = f"predict needs a model and rows: {PROGRAM} predict MODEL DATA"
        sys.exit(failed(f"{message}; see {self.prog} --help."))

    def _print_message(self, message: str, file: object = None) -> None:
        write_output(message)


class _Once(argparse.Action):
    """Store the value of an option, which may be given once."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: Any = None
    ) -> None:
        given = vars(namespace).setdefault("given", set())
        if option_string is not None and self.dest in given:
            raise argparse.ArgumentError(self, "is given twice; give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def failed(message: str) -> int:
    """Write one line to standard error; return the exit code 2."""
    say(message)
    return 2


def described(main: argparse.ArgumentParser) -> dict[str, Any]:
    """Help and options of every command; ``""`` is the program itself."""
    (commands,) = (each for each in main._actions if each.dest == "command")
    found = {"": main, **dict[str, argparse.ArgumentParser](commands.choices or {})}
    return {
        name: {
            "help": parser.format_help(),
            "options": [_option(each) for each in parser._actions if name],
        }
        for name, parser in found.items()
    }


def _option(action: argparse.Action) -> dict[str, Any]:
    settings = {
        "names": action.option_strings or [action.dest],
        "action": "store_true" if action.nargs == 0 else _repeated(action),
        "choices": action.choices and list(action.choices),
        "metavar": action.metavar,
    }
    return {name: value for name, value in settings.items() if value is not None}


def _repeated(action: argparse.Action) -> str | None:
    """The name of the action of an option that may be repeated."""
    return "append" if isinstance(action, argparse._AppendAction) else None


@cache
def _known() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def checked_words(words: Sequence[str]) -> list[str]:
    """The words as the parser has them.

    Raises
    ------
    OptionError
        For a word that no command has.
    SystemExit
        After ``--help`` and ``--version``, and for words that do not go together.
    """
    commands = {name: each for name, each in _known().items() if name}
    names = {
        command: [name for option in each["options"] for name in option["names"]]
        for command, each in commands.items()
    }
    found = own_words(words, names)
    if found[:1] == ["--version"]:
        write_output(f"{__version__}\n")
        sys.exit(0)
    if not found:
        raise OptionError(f"COMMAND is missing; give one of {', '.join(commands)}.")
    own = found[: found.index("--")] if "--" in found else found
    if any(word in HELP for word in own):
        command = "" if found[0] in HELP else found[0]
        write_output(_known()[command]["help"])
        sys.exit(0)
    quick = Parser(prog=f"{PROGRAM} {found[0]}", add_help=False)
    for option in commands[found[0]]["options"]:
        settings = {name: value for name, value in option.items() if name != "names"}
        quick.add_argument(*option["names"], **settings)
    options, more = quick.parse_known_args(found[1:])
    if more:
        options.command = found[0]
        raise more_words(more, options)
    return found

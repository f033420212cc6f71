"""Calls of the command line, for its tests."""

import json

from pegasos_stats.output.cli import main


def run(capsys, *arguments):
    """Standard output and standard error of a run without errors."""
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr()


def params_of(printed):
    return json.loads(printed.out)["params"]


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)

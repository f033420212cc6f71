"""Cures as options that go with a command as it was given."""

import argparse
from collections.abc import Mapping, Sequence

from pegasos_stats.advice import Setting, Spelling, Together, as_options, flag
from pegasos_stats.output.cli.options import PENALTIES, solver_of
from pegasos_stats.solvers.options import offered
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA

BESIDE = ("rows", "profile", "refine")  # of Pegasos too
ANYWHERE = {"seed", "sample_kind", "ties"}  # options that mean the same to any solver


def spelled_for(options: argparse.Namespace) -> Spelling:
    """How settings are written for who has given these options.

    With another solver, or other steps, options of the first have to go; what followed
    from them has to be said.
    """

    def spelled(settings: Together) -> str:
        given = {setting.name: setting.value for setting in settings}
        gone: list[str] = []
        if "solver" in given:
            names = [*{**offered(Pegasos), **offered(SDCA)}, *BESIDE]
            gone = [n for n in names if n not in ANYWHERE and n not in given]
        elif given.get("algorithm") == "newton":
            gone = ["arithmetic"] * (options.arithmetic == "reference")
        gone = [name for name in gone if getattr(options, name, None) is not None]
        words = [as_options(settings), *_implied(options, given, gone)]
        without = f" (without {', '.join(map(flag, gone))})" if gone else ""
        return f"{' '.join(words)}{without}"

    return spelled


def _implied(
    options: argparse.Namespace, given: Mapping[str, object], gone: Sequence[str]
) -> list[str]:
    """What the options that go have said of the model."""
    found: list[Setting] = []
    if "profile" in gone and options.profile in PENALTIES and options.lam is None:
        found.append(Setting("lam", PENALTIES[options.profile]))
    other = "profile" in gone or given.get("algorithm") == "newton"
    if other and options.intercept and solver_of(options).intercept is False:
        found.append(Setting("intercept", False))
    return [as_options(tuple(found))] if found else []

"""The solver and the model that the options of the command line describe."""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from pegasos_stats.data.files import UNREADABLE, opened, unreadable
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.models.kernel import KernelSVM
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.solvers.kernel_problem import KernelFunction
from pegasos_stats.solvers.options import Option, offered
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA

SOLVERS: dict[str, type[Pegasos | SDCA]] = {"pegasos": Pegasos, "sdca": SDCA}


def solver_options() -> dict[str, list[Option]]:
    """Options of the solvers by name, each as all that have it declare it.

    They stand in the order that Pegasos has them in. Those of SDCA alone stand before
    the one that they precede there.
    """
    others = list(offered(SDCA))
    names: list[str] = []
    for name in offered(Pegasos):
        before = others[: others.index(name)] if name in others else []
        names += [*before, name]
    found = [offered(kind) for kind in SOLVERS.values()]
    return {
        name: [options[name] for options in found if name in options]
        for name in dict.fromkeys([*names, *others])
    }


def solver_of(options: argparse.Namespace) -> Pegasos | SDCA:
    """Build the solver that the options describe.

    Raises
    ------
    OptionError
        If options do not go together.
    """
    return _sdca(options) if options.solver == "sdca" else _pegasos(options)


def _sdca(options: argparse.Namespace) -> SDCA:
    others = {*offered(Pegasos), "rows", "profile", "refine"} - {*offered(SDCA)}
    _refuse(options, sorted(others), "pegasos")
    return SDCA(**_given(options, SDCA))


def _given(options: argparse.Namespace, owner: type) -> dict[str, Any]:
    """Options of a dataclass that were given."""
    found = {name: getattr(options, name) for name in offered(owner)}
    return {name: value for name, value in found.items() if value is not None}


def _refuse(options: argparse.Namespace, names: Iterable[str], solver: str) -> None:
    """Raise `OptionError` for options that the other solver has."""
    for name in names:
        if getattr(options, name) is not None:
            flag = name.replace("_", "-")
            raise OptionError(
                f"--{flag} goes with --solver {solver}; leave one of them out."
            )


def _pegasos(options: argparse.Namespace) -> Pegasos:
    """Build a profile, if one is named, with the options given on top."""
    own = offered(Pegasos)
    _refuse(options, (name for name in offered(SDCA) if name not in own), "sdca")
    given = _given(options, Pegasos)
    if options.rows is not None:
        if options.order is not None:
            raise OptionError("--rows and --order exclude each other; give one.")
        given["order"] = read_rows(options.rows)
    drawn = options.order == "replace" or options.profile == "paper"
    if drawn and options.steps is None:
        raise OptionError(
            "Draws with replacement need --steps, the number of steps to take."
        )
    if options.profile is None:
        return Pegasos(**given)
    return replace(_profile(options), **given)


def _profile(options: argparse.Namespace) -> Pegasos:
    if options.profile == "paper":
        return Pegasos.paper(options.steps)
    found: Pegasos = getattr(Pegasos, options.profile)()
    return found


def model_of(
    options: argparse.Namespace, solver: Pegasos | SDCA
) -> tuple[Any, dict[str, Any]]:
    """Choose the class of the model, and its arguments beside the data.

    Raises
    ------
    OptionError
        If options do not go together.
    """
    arguments = {
        "lam": options.lam,
        "intercept": options.intercept and solver.intercept is not False,
        "coding": options.coding,
        "weights": options.weights,
        "standardize": options.standardize,
    }
    kernel = _given(options, KernelFunction)
    if options.kernel is None:
        if kernel:
            raise OptionError(f"--{next(iter(kernel))} needs --kernel; give both.")
        return (Logit if options.loss == "log" else SVM), arguments
    if options.loss == "log":
        raise OptionError("--kernel goes with --loss hinge only; leave one out.")
    if options.refine is not None:
        raise OptionError("--refine does not go with --kernel; leave it out.")
    return KernelSVM, arguments | kernel | {"kernel": options.kernel}


def read_rows(path: str) -> Any:
    """Read row numbers, counted from zero, one a line.

    Raises
    ------
    DataError
        If the file is not there, is empty, or holds something else.
    """
    with opened(path) as handle:
        try:
            words = handle.read().split()
        except UNREADABLE as error:
            raise DataError(unreadable(path, error)) from None
    try:
        if not all(word.isdigit() for word in words):
            raise ValueError
        rows = np.array([int(word) for word in words], dtype=np.int64)
    except (ValueError, OverflowError):
        wrong = next((word for word in words if not word.isdigit()), words[0])
        raise DataError(
            f"The file {path} holds {wrong[:30].decode('latin-1')!r}; give one row "
            "number a line, counted from zero."
        ) from None
    if not len(rows):
        raise DataError(f"The file {path} has no row numbers; give one a line.")
    return rows

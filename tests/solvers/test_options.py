"""Options declared once: the checks, the command line and the repeated lines have them.

Each test goes through the fields of the dataclasses: an option that is added there, and
that something does not know of, fails.
"""

import inspect
import re
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Literal

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.models.persist.fit_fields import packed_solver
from pegasos_stats.output.cli import options
from pegasos_stats.output.cli.options import solver_of, solver_options
from pegasos_stats.output.cli.parser import SEED, parser
from pegasos_stats.output.report.repeat import solver_call
from pegasos_stats.solvers.kernel_problem import KernelFunction
from pegasos_stats.solvers.options import (
    check_option,
    declared,
    given,
    option,
    values_of,
)
from pegasos_stats.solvers.solver import Solver

SOLVERS = [ps.Pegasos, ps.SDCA]
# What the command line does not offer, by decision; all else that is a field it has.
NOT_OFFERED = {"gap_tol", "sample_kind", "intercept", "name"}
# A value of each option that is neither its default nor forbidden by the others.
OTHERS = {
    "epochs": 3,
    "seed": 7,
    "order": "sequential",
    "batch_size": 5,
    "project": True,
    "average": "all",
    "refit_intercept": True,
    "arithmetic": "fast",
    "sample_kind": "rounding",
    "ties": "positive",
    "intercept": False,
    "tol": 0.25,
    "gap_tol": 0.125,
    "algorithm": "perm",
    "first_step": 4,
    "step": "1/sqrt(t)",
    "change_tol": 0.125,
}
STARTS = {ps.Pegasos: "random", ps.SDCA: "sgd"}
WRONG = object()


def others_of(kind):
    """A value of each option of a solver, other than its default."""
    given = {name: OTHERS[name] for name in declared(kind) if name in OTHERS}
    return given | {"start": STARTS[kind]}


def arguments(command):
    """Arguments of a command by their names, and the whole help as one line."""
    (commands,) = (a.choices for a in parser()._actions if a.dest == "command")
    found = commands[command]
    return {a.dest: a for a in found._actions}, found.format_help()


@pytest.mark.parametrize("command", ["fit", "report", "demo"])
@pytest.mark.parametrize("owner", [*SOLVERS, KernelFunction])
def test_the_command_line_has_every_option_as_it_is_declared(owner, command):
    known, text = arguments(command)
    text = " ".join(text.split())
    for each in declared(owner).values():
        assert (each.name in NOT_OFFERED) == (not each.help), each.name
        if not each.help:
            continue
        argument = known[each.name]
        if each.name == "offset":  # one flag with the column, whose help is both
            assert "polynomial kernel" in argument.help
            continue
        assert f"--{each.name.replace('_', '-')}" in argument.option_strings
        seed = SEED if command == "demo" else None
        assert argument.default == (seed if each.name == "seed" else None)
        assert argument.help.startswith(each.help)
        assert argument.help in text
        if each.kind is bool:
            assert argument.nargs == 0
        elif each.choices and each.name not in ("average", "step"):
            assert set(each.choices) <= set(argument.choices)
            assert each.name == "start" or len(argument.choices) == len(each.choices)
        else:
            assert argument.choices is None
        if not each.default_words and each.default not in (None, False):
            value = seed if seed and each.name == "seed" else each.default
            assert f"(default: {value}" in argument.help


@pytest.mark.parametrize("kind", SOLVERS)
def test_what_is_not_given_is_left_to_the_dataclass(kind):
    words = ["fit", "train.csv", "--solver", kind.name.lower()]
    made = solver_of(parser().parse_args(words))
    assert values_of(made) == values_of(kind())


@pytest.mark.parametrize("kind", SOLVERS)
def test_a_word_of_each_option_reaches_the_solver(kind):
    every = others_of(kind)
    for name in every.keys() - NOT_OFFERED:
        word = f"--{name.replace('_', '-')}"
        value = [] if every[name] is True else [str(every[name])]
        line = ["fit", "train.csv", "--solver", kind.name.lower(), word, *value]
        assert getattr(solver_of(parser().parse_args(line)), name) == every[name]


@pytest.mark.parametrize(
    ("owner", "names"), [(ps.SVM, ["coding", "standardize", "intercept"])]
)
def test_defaults_of_models_are_those_of_the_command_line(owner, names):
    known, _ = arguments("fit")
    usual = inspect.signature(owner).parameters
    assert {n: known[n].default for n in names} == {n: usual[n].default for n in names}
    assert known["lam"].default is None  # that of the model, or of the profile
    assert usual["lam"].default is None
    assert "(default: 1/n" in known["lam"].help


@pytest.mark.parametrize("kind", SOLVERS)
def test_every_option_is_checked(kind):
    for name in declared(kind):
        with pytest.raises(OptionError, match=rf"^(The )?{name}\b"):
            kind(**{name: WRONG})


@pytest.fixture(scope="module")
def model():
    return ps.svm("digit ~ .", ps.datasets.load_digits56()[0], lam=1.0)


@pytest.mark.parametrize("kind", SOLVERS)
def test_repeated_lines_name_every_option_that_is_not_at_its_default(kind):
    every = others_of(kind)
    assert set(every) == set(declared(kind)) - {"steps"}, "give OTHERS a value"
    solver = kind(**every)
    call = solver_call(SimpleNamespace(solver=solver, seed=solver.seed))
    for name, value in every.items():
        written = f'"{value}"' if isinstance(value, str) else repr(value)
        assert re.search(rf"[(, ]{name}={re.escape(written)}[,)]", call), name
    again = eval(call, {"ps": ps})
    assert values_of(again) == values_of(solver)
    assert set(given(again)) == set(every)


@pytest.mark.parametrize("kind", SOLVERS)
def test_every_option_is_saved(kind):
    (name, stored) = packed_solver(kind(seed=1))
    assert name == kind.name
    assert [key for key, _ in stored["value"]] == list(declared(kind))


@dataclass(frozen=True, eq=False)
class Sprung(ps.Pegasos):
    """Pegasos with one more option: this is the one place that it is written in."""

    spring: Literal["soft", "hard"] = option("soft", "of the step", form="{} spring")
    stiff: bool = option(False, "whether the step is stiff")


def test_a_new_option_is_written_in_one_place(model, monkeypatch):
    monkeypatch.setitem(options.SOLVERS, "pegasos", Sprung)
    monkeypatch.setattr("pegasos_stats.output.cli.options.Pegasos", Sprung)
    known, text = arguments("fit")
    assert known["spring"].choices == ["soft", "hard"]
    assert "of the step (default: soft)" in text
    assert solver_options()["stiff"] == [declared(Sprung)["stiff"]]
    words = ["fit", "train.csv", "--spring", "hard", "--stiff"]
    made = solver_of(parser().parse_args(words))
    assert (made.spring, made.stiff) == ("hard", True)
    assert made.options == "hard spring"
    result = model.fit(replace(made, epochs=1))
    assert 'spring="hard", stiff=True' in solver_call(result)
    assert ["spring", "hard"] in packed_solver(made)[1]["value"]
    kernel = ps.kernel_svm("digit ~ .", ps.datasets.load_digits56()[0], lam=1.0)
    with pytest.raises(
        OptionError, match=r"^spring='hard' makes no sense for a kernel"
    ):
        kernel.fit(made)
    with pytest.raises(OptionError, match="give one of 'soft', 'hard'"):
        Sprung(spring="firm")
    with pytest.raises(OptionError, match="give True or False"):
        Sprung(stiff="no")


def test_what_a_type_says_of_an_option():
    average = declared(ps.Pegasos)["average"]
    assert (average.choices, average.optional) == (("none", "all"), False)
    steps = declared(ps.Pegasos)["steps"]
    assert (steps.kind, steps.optional, steps.choices) == (int, True, ())
    assert values_of(ps.SDCA(seed=1))["seed"] == 1
    solver = ps.Pegasos(order=[1, 0])
    assert np.array_equal(given(solver)["order"], [1, 0])
    with pytest.raises(KeyError):
        check_option(solver, "colour")


def test_both_solvers_are_solvers_and_keep_the_rest_with_another_seed():
    for made in (ps.Pegasos(epochs=3, average=2, seed=1), ps.SDCA(tol=0.5)):
        again = made.with_seed(9)
        assert isinstance(again, Solver)
        assert type(again) is type(made)
        assert again.seed == 9
        assert given(again) == given(made) | {"seed": 9}

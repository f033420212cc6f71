"""Options declared once: checks and repeated lines have them, and the command line too.

Each test goes through the fields of the dataclasses: an option that is added there, and
that something does not know of, fails.
"""

import re
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Literal, get_args

import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli.commands import solver_of
from pegasos_stats.output.cli.options import app, read_words
from pegasos_stats.output.report.rendering import solver_call
from pegasos_stats.solvers.kernel_problem import KernelFunction
from pegasos_stats.solvers.options import changed_values, declared, option, values_of
from tests.persist.parts import written

SOLVERS = [ps.Optimum, ps.Pegasos, ps.SDCA]
# What the command line does not offer, by decision; all else that is a field it has.
NOT_OFFERED = {"gap_tol", "sample_kind", "intercept", "name"}
# A value of each option that is neither its default nor forbidden by the others.
OTHERS = {"epochs": 3, "seed": 7, "order": "sequential", "batch_size": 5}
OTHERS |= {"project": True, "average": "all", "refit_intercept": True}
OTHERS |= {"arithmetic": "fast", "sample_kind": "rounding", "ties": "positive"}
OTHERS |= {"intercept": False, "tol": 0.25, "gap_tol": 0.125}
OTHERS |= {"first_step": 4, "step": "1/sqrt(t)", "change_tol": 0.125}
STARTS = {ps.Pegasos: "random", ps.SDCA: "sgd"}
WRONG = object()


def others_of(kind):
    """A value of each option of a solver, other than its default."""
    given = {name: OTHERS[name] for name in declared(kind) if name in OTHERS}
    return given | ({"start": STARTS[kind]} if kind in STARTS else {})


@pytest.mark.parametrize("command", ["fit", "report", "demo", "parity"])
@pytest.mark.parametrize("owner", [*SOLVERS, KernelFunction])
def test_the_command_line_has_every_option(owner, command):
    arguments = app[command].assemble_argument_collection()
    known = {each.field_info.name: each for each in arguments}
    for each in declared(owner).values():
        if each.name in NOT_OFFERED or each.name == "offset":  # a column or a number
            continue
        argument = known[each.name]
        assert f"--{each.name.replace('_', '-')}" in argument.names
        assert argument.field_info.default is None  # and the solver has its own
        assert (bool in get_args(argument.hint)) == (each.kind is bool)
        if each.choices:
            found = argument.get_choices()
            assert set(each.choices) <= set(found)
            assert each.name == "start" or len(found) == len(each.choices)


@pytest.mark.parametrize("kind", SOLVERS)
def test_what_is_not_given_is_left_to_the_dataclass(kind):
    words = ["fit", "train.csv", "--solver", kind.name.lower()]
    assert values_of(solver_of(read_words(words).solver)) == values_of(kind())


@pytest.mark.parametrize("kind", SOLVERS)
def test_a_word_of_each_option_reaches_the_solver(kind):
    every = others_of(kind)
    for name in every.keys() - NOT_OFFERED:
        word = f"--{name.replace('_', '-')}"
        value = [] if every[name] is True else [str(every[name])]
        line = ["fit", "train.csv", "--solver", kind.name.lower(), word, *value]
        assert getattr(solver_of(read_words(line).solver), name) == every[name]


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
    rest = {"steps", "random_stop"}  # which exclude other options
    assert set(every) == set(declared(kind)) - rest, "give OTHERS a value"
    solver = kind(**every)
    call = solver_call(SimpleNamespace(solver=solver, seed=solver.seed))
    for name, value in every.items():
        assert re.search(rf"[(, ]{name}={re.escape(repr(value))}[,)]", call), name
    again = eval(call, {"ps": ps})
    assert values_of(again) == values_of(solver)
    assert set(changed_values(again)) == set(every)


@dataclass(frozen=True, eq=False)
class Sprung(ps.Pegasos):
    """Pegasos with one more option: for Python this is the one place it is written."""

    spring: Literal["soft", "hard"] = option("soft", form="{} spring")
    stiff: bool = option(False)


def test_a_new_option_is_written_in_one_place(model):
    made = Sprung(spring="hard", stiff=True)
    assert made.options == "hard spring"
    result = model.fit(replace(made, epochs=1))
    assert "spring='hard', stiff=True" in solver_call(result)
    assert written(made, Sprung)[0]["spring"] == "hard"
    kernel = ps.kernel_svm("digit ~ .", ps.datasets.load_digits56()[0], lam=1.0)
    with pytest.raises(
        OptionError, match=r"^spring='hard' makes no sense for a kernel"
    ):
        kernel.fit(made)
    with pytest.raises(OptionError, match="use one of 'soft', 'hard'"):
        Sprung(spring="firm")
    with pytest.raises(OptionError, match="use True or False"):
        Sprung(stiff="no")

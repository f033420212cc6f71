"""A small part of `benchmarks/thirty_sets.py`: optimum, certificate, warnings."""

import argparse
import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SMALL = ["iris 1/2", "scales", "duplicated", "separable"]


@pytest.fixture(scope="module")
def trial():
    """The module, found beside the one that has its data."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location(
            "thirty_sets", FOLDER / "thirty_sets.py"
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules["thirty_sets"] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(FOLDER))
        sys.modules.pop("thirty_sets", None)
        sys.modules.pop("data_sets", None)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.filterwarnings("ignore")  # scikit-learn's, of its own limits
def test_every_case_is_as_it_should_be(trial, name, capsys):
    options = argparse.Namespace(loss=["hinge", "log"], lam=[1e-4], repeats=0, bad=True)
    found = trial.try_set(name, trial.SETS[name](), options)
    assert len(found) == 16
    assert {each.marks for each in found} == {""}, capsys.readouterr().out


def test_a_case_that_is_not_so_is_marked(trial):
    case = trial.Case(trial.SETS["iris 1/2"](), "hinge", 0.1, True, False, False)
    reached, _ = trial.against(case, 0)
    fine = trial.judged(case, reached, reached, trial.Ratios(0.5, 2.0))
    assert fine.marks == ""
    # A peer whose objective is half of ours, and twice as fast.
    given = 0.5 * reached, 0.5 * reached, trial.Ratios(0.5, 0.5)
    bad = trial.judged(case, *given)
    assert bad.marks == "xds"

"""What the package needs: lowest versions that are tested, licences that are listed."""

import re
from configparser import ConfigParser
from importlib.metadata import version
from pathlib import Path

import licences
from dependencies import constraints
from packaging.requirements import Requirement

SETUP = ConfigParser()
SETUP.read(Path(__file__).parents[1] / "setup.cfg")


def test_every_library_is_listed_with_its_licence():
    """After a change of setup.cfg: python scripts/licences.py."""
    needed, listed = licences.needed(), licences.listed()
    assert {"numpy", "matplotlib", "scikit-learn", "rpy2"} <= set(needed)
    assert needed["pyarrow"] == ["files", "dask", "frames"]
    expected = {name: ", ".join(filter(None, each)) for name, each in needed.items()}
    assert {name: extras for name, (extras, _) in listed.items()} == expected
    assert [name for name, (_, licence) in listed.items() if not licence] == []
    assert "not known" not in {licence for _, licence in listed.values()}
    assert listed["pandas"][1] == "BSD-3-Clause"


def test_what_is_imported_is_under_no_copyleft_licence():
    for name, (extras, licence) in licences.listed().items():
        if "GPL" in licence:
            assert (name, extras) == ("rpy2", "r")


def test_lowest_versions_are_those_that_are_asked_for():
    lines = constraints("lowest")
    assert {"numpy==2.0.*", "formulaic==1.2.2.*", "scikit-learn==1.6.*"} <= {*lines}
    names = {line.split("==")[0] for line in lines}
    assert names >= {"numpy", "pandas", "scipy", "numba", "statsmodels", "narwhals"}
    assert not names & {"pytest", "ruff", "rpy2"}
    assert constraints("newest") == []


def test_libraries_whose_internals_are_used_have_an_upper_bound():
    asked = {
        Requirement(line).name: Requirement(line).specifier
        for line in SETUP["options"]["install_requires"].split()
    }
    for name in ("numba", "formulaic"):
        assert any(each.operator == "<" for each in asked[name])
        assert version(name) in asked[name]


def test_the_extra_all_has_what_the_package_imports():
    needed = licences.needed()
    every = re.search(r"\[(.*)\]", SETUP["options.extras_require"]["all"])[1].split(",")
    found = {name for name, extras in needed.items() if {*extras} & {*every, "plot"}}
    files = {"pyarrow", "narwhals", "dask", "distributed"}
    assert found >= {"matplotlib", "jinja2", "scikit-learn"} | files
    assert "rpy2" not in found

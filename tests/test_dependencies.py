"""What the package needs: lowest versions that are tested, licences that are listed."""

import importlib.util
import re
from configparser import ConfigParser
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement

SCRIPTS = Path(__file__).parents[1] / "scripts"


def script(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_library_is_listed_with_its_licence():
    """After a change of setup.cfg: python scripts/licences.py."""
    licences = script("licences")
    needed, listed = licences.needed(), licences.listed()
    assert {"numpy", "matplotlib", "scikit-learn", "rpy2"} <= set(needed)
    assert needed["pyarrow"] == ["files", "dask", "frames"]
    expected = {name: ", ".join(filter(None, each)) for name, each in needed.items()}
    assert {name: extras for name, (extras, _) in listed.items()} == expected
    assert [name for name, (_, licence) in listed.items() if not licence] == []
    assert "not known" not in {licence for _, licence in listed.values()}
    assert listed["pandas"][1] == "BSD-3-Clause"


def test_what_is_imported_is_under_no_copyleft_licence():
    licences = script("licences")
    for name, (extras, licence) in licences.listed().items():
        if "GPL" in licence:
            assert (name, extras) == ("rpy2", "r")


def test_lowest_versions_are_those_that_are_asked_for():
    lines = script("dependencies").constraints("lowest")
    assert "numpy==2.0.*" in lines
    assert "formulaic==1.2.2.*" in lines
    assert "scikit-learn==1.6.*" in lines
    names = {line.split("==")[0] for line in lines}
    assert names >= {"numpy", "pandas", "scipy", "numba", "statsmodels", "narwhals"}
    assert not names & {"pytest", "ruff", "rpy2"}
    assert script("dependencies").constraints("newest") == []


def test_libraries_whose_internals_are_used_have_an_upper_bound():
    setup = ConfigParser()
    setup.read(SCRIPTS.parent / "setup.cfg")
    asked = {
        Requirement(line).name: Requirement(line).specifier
        for line in setup["options"]["install_requires"].split()
    }
    for name in ("numba", "formulaic"):
        assert any(each.operator == "<" for each in asked[name])
        assert version(name) in asked[name]


def test_the_extra_all_has_what_the_package_imports():
    needed = script("licences").needed()
    setup = ConfigParser()
    setup.read(SCRIPTS.parent / "setup.cfg")
    every = re.search(r"\[(.*)\]", setup["options.extras_require"]["all"])[1].split(",")
    found = {name for name, extras in needed.items() if {*extras} & {*every, "plot"}}
    assert found >= {"matplotlib", "jinja2", "scikit-learn", "pyarrow", "narwhals"}
    assert found >= {"dask", "distributed"}
    assert "rpy2" not in found

"""What the package needs: lowest versions that are tested, licences that are listed."""

import os
import re
import subprocess
from configparser import ConfigParser
from importlib.metadata import version
from pathlib import Path

import licences
import pytest
import yaml
from dependencies import constraints
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
SETUP = ConfigParser()
SETUP.read(ROOT / "setup.cfg")


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
            # rpy2 embeds R, for tests; codespell is run as a program.
            assert (name, extras) in {("rpy2", "r"), ("codespell", "dev")}


def test_lowest_versions_are_those_that_are_asked_for():
    lines = constraints("lowest")
    assert {"numpy==2.0.*", "formulaic==1.1.*", "scikit-learn==1.6.*"} <= {*lines}
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


# ---- Continuous integration, of which all is in the repository.


def supported():
    """Versions of Python that setup.cfg names."""
    return re.findall(r":: (3\.\d+)$", SETUP["metadata"]["classifiers"], re.MULTILINE)


def test_every_python_is_tested_with_and_without_r():
    text = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    matrix = job["strategy"]["matrix"]
    assert matrix["python"] == supported()
    assert SETUP["options"]["python_requires"] == f">={supported()[0]}"
    assert sorted(matrix["r"]) == ["with R", "without R"]
    last = job["steps"][-1]
    assert os.access(ROOT / last["run"], os.X_OK)
    assert "matrix.r == 'without R' && '1'" in last["env"]["PEGASOS_STATS_NO_R"]


@pytest.mark.parametrize(("value", "installed"), [("1", False), ("", True)])
def test_without_r_none_is_installed(value, installed):
    named = {**os.environ, "PEGASOS_STATS_NO_R": value}
    dry = ["make", "--dry-run", "--always-make", "test"]
    done = subprocess.run(dry, cwd=ROOT, env=named, capture_output=True, text=True)
    assert done.returncode == 0
    asks_for_r = re.search(r"prerequisites\.sh \S+ \S+ R$", done.stdout, re.MULTILINE)
    assert bool(asks_for_r) == installed
    assert "-m pytest" in done.stdout


def test_the_site_is_built_as_make_docs_does():
    page = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text("utf-8"))
    assert (ROOT / page["sphinx"]["configuration"]).is_file()
    assert page["sphinx"]["fail_on_warning"]
    assert page["build"]["tools"]["python"] in supported()
    (install,) = page["python"]["install"]
    assert {*install["extra_requirements"]} <= {*SETUP["options.extras_require"]}


def test_issue_forms_say_what_they_are_for():
    forms = list((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
    assert len(forms) == 3
    for form in forms:
        _, head, body = form.read_text("utf-8").split("---\n", 2)
        assert {"name", "about"} <= {*yaml.safe_load(head)}
        assert body.strip()

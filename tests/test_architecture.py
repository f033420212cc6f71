"""The house: what an import may load, and what is said of every public name."""

import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

import pegasos_stats

PACKAGE = Path(pegasos_stats.__file__).parent

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_are_at_most_400_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_compiled_code_knows_neither_pandas_nor_random_numbers():
    for path in (PACKAGE / "compiled").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import pandas" not in text
        assert "np.random" not in text


def test_import_loads_no_heavy_library():
    used = ["numba", "formulaic", "statsmodels", "matplotlib", "jinja2"]
    heavy = [*used, "sklearn", "rpy2"]
    code = (
        "import sys, pegasos_stats; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_files_beside_the_modules_are_package_data():
    setup = ConfigParser()
    setup.read(PACKAGE.parent / "setup.cfg")
    known = [
        PACKAGE.parent / folder.replace(".", "/") / pattern.strip()
        for folder, patterns in setup["options.package_data"].items()
        for pattern in patterns.split(",")
    ]
    others = [
        path
        for path in PACKAGE.rglob("*.*")
        if path.suffix != ".py" and "__pycache__" not in path.parts and path.is_file()
    ]
    assert {path.suffix for path in others} >= {".html", ".md", ".css", ".svg", ".csv"}
    for path in others:
        assert any(path.match(str(pattern)) for pattern in known), path


def test_public_names_have_docstrings_with_an_example():
    for name in pegasos_stats.__all__:
        documented = getattr(pegasos_stats, name)
        assert documented.__doc__
        if callable(documented):
            assert ">>>" in documented.__doc__ or name == "Results", name

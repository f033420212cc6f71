"""The house: which floor stands on which, and what an import may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pegasos_stats

PACKAGE = Path(pegasos_stats.__file__).parent

# Floors from the ground up; a module may import from lower floors only, and from
# its own floor only where the later name imports the earlier one.
FLOORS = [
    ["interrupts"],
    ["errors", "arrays"],
    ["kernels"],
    ["foreign"],
    ["options", "columns"],
    ["rng", "datasets", "memory", "outputs", "terms"],
    ["labels", "files", "session", "statistics", "r_numbers"],
    ["language", "parallel", "plotting"],
    ["design", "orders", "problem", "svmlight", "weights"],
    ["rounding"],
    ["centring", "formula", "objective", "scaling", "solvers"],
    ["factors"],
    ["formula_design", "proximal", "sdca"],
    ["kernel_problem", "sample"],
    ["running"],
    ["kernel_running", "sdca_coordinates"],
    ["wide"],
    ["sdca_running"],
    ["refining"],
    ["contingency", "inference", "layout", "trace"],
    ["inferring", "markup"],
    ["tables"],
    ["confusion", "contrasts", "fits"],
    ["summaries", "tidying"],
    ["reporting"],
    ["coefficients", "results"],
    ["linear_fits", "linear_summaries", "kernel_results"],
    ["linear_results"],
    ["model", "differences"],
    ["linear_model", "kernel_model", "persist"],
    ["compare", "selection"],
    ["calibration"],
    ["cli"],
    ["__main__"],
]
FLOOR = {name: level for level, names in enumerate(FLOORS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {n.split(".")[1] for n in names if n.startswith("pegasos_stats.")}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_downward(path):
    own = part(path)
    upward = {name for name in imported_parts(path) if FLOOR[name] >= FLOOR[own]}
    assert upward <= {own}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_are_at_most_400_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_kernels_know_neither_pandas_nor_random_numbers():
    for path in (PACKAGE / "kernels").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import pandas" not in text
        assert "np.random" not in text


def test_import_loads_no_heavy_library():
    heavy = ["numba", "formulaic", "matplotlib", "statsmodels", "sklearn", "rpy2"]
    code = (
        "import sys, pegasos_stats; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_public_names_have_docstrings_with_an_example():
    for name in pegasos_stats.__all__:
        documented = getattr(pegasos_stats, name)
        assert documented.__doc__
        if callable(documented):
            assert ">>>" in documented.__doc__ or name == "Results", name

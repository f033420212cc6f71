"""Layers: what an import may load, and what is said of every public name."""

import ast
import re
from configparser import ConfigParser
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import architecture
import pytest

import pegasos_stats
from tests.processes import in_process

pytestmark = pytest.mark.slow

PACKAGE = Path(pegasos_stats.__file__).parent

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def test_compiled_code_knows_neither_pandas_nor_random_numbers():
    for path in (PACKAGE / "compiled").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import pandas" not in text
        assert "np.random" not in text


def printed(code):
    """What a fresh process prints."""
    return in_process(code).stdout.strip()


def test_the_package_alone_loads_next_to_nothing():
    names = "[name for name in sys.modules if name.startswith('pegasos_stats.')]"
    found = printed(f"import sys; import pegasos_stats; print({names})")
    assert ast.literal_eval(found) == []


def imported_at_once(path, known):
    """Modules of the package that a module needs before it is there itself."""
    for node in tree_of(path).body:
        if isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from names & known or {node.module} & known


def packages(name):
    """A module, and the packages that it is in."""
    parts = name.split(".")
    return {".".join(parts[:k]) for k in range(1, len(parts) + 1)}


def test_modules_may_be_loaded_in_any_order():
    """No module needs itself, by way of others: then none is the first in vain."""
    places = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
        for path in PACKAGE.rglob("*.py")
    }
    places = {name.removesuffix(".__init__"): path for name, path in places.items()}
    needs = {
        name: set().union(*map(packages, imported_at_once(path, {*places})))
        - packages(name)
        for name, path in places.items()
    }
    assert sum(map(len, needs.values())) > 2 * len(needs)
    TopologicalSorter(needs).prepare()


MODELS = """
import sys
import pegasos_stats as ps

heavy = "scipy numba formulaic statsmodels matplotlib jinja2 markdown_it sklearn rpy2"
heavy += " narwhals polars duckdb dask"
print([name for name in heavy.split() if name in sys.modules])
train, test = ps.datasets.load_digits56()
y, X = train["digit"], train.drop(columns="digit")
ps.SVM(y, X, weights="balanced", standardize=True)
ps.Logit(y, X, lam=0.1)
ps.KernelSVM(y, X, kernel="gaussian")
model = ps.svm("digit ~ .", data=train, lam=1.0)
solver = ps.Pegasos(seed=443)
print("numba" in sys.modules)
model.fit(solver)
print("numba" in sys.modules)
sys.modules["sklearn"] = None  # as where it is not installed
try:
    import pegasos_stats.sklearn
except ps.errors.DependencyError as error:
    print(isinstance(error, ImportError), "pegasos_stats[sklearn]" in str(error))
"""


def test_libraries_are_loaded_by_what_needs_them_and_not_before():
    """None by the import, numba by the first fit; scikit-learn may be missing."""
    assert printed(MODELS).split() == ["[]", "False", "True", "True", "True"]


THREADS = """
import pickle, sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from pegasos_stats import compiled

asked = ["sdca", "kernel_pegasos", "working_sets", "risk"]
asked += ["sdca", "pegasos", "sampling", "rows"]
together = Barrier(len(asked))

def first(name):
    together.wait()
    found = getattr(compiled, name)
    return found is sys.modules[f"pegasos_stats.compiled.{name}"] and vars(found)

assert "numba" not in sys.modules
with ThreadPoolExecutor(len(asked)) as pool:
    found = list(pool.map(first, asked))
print("sdca_epoch" in found[0], "gram_of" in found[1], "pair_steps" in found[2])
print(all(found), found[0] is found[4], "sdca" in vars(compiled))
print(pickle.loads(pickle.dumps(compiled.sdca.start)) is compiled.sdca.start)
"""


def test_threads_may_ask_for_the_first_kernel_at_the_same_time():
    assert set(printed(THREADS).split()) == {"True"}


# What is slow to load, or missing on some machines, may be loaded inside a function.
SLOW = {"formulaic", "jinja2", "markdown_it", "markupsafe", "matplotlib", "scipy"}
SLOW |= {"statsmodels", "dask", "difflib", "distributed", "importlib.metadata"}
SLOW |= {"narwhals", "pyarrow", "resource", "rpy2", "tqdm"}
DOORS = (
    "pegasos_stats.other_frames",
    "pegasos_stats.output.",
    "pegasos_stats.studies.cross_validation",
    "pegasos_stats.studies.thresholds",
    "pegasos_stats.studies.validation",
)


def imported_in_functions(path):
    functions = (n for n in ast.walk(tree_of(path)) if isinstance(n, ast.FunctionDef))
    for node in (child for function in functions for child in ast.walk(function)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module


def test_functions_import_only_what_is_slow_to_load():
    for path in MODULES:
        for name in imported_in_functions(path):
            slow = {name, name.partition(".")[0]} & SLOW
            assert slow or name.startswith(DOORS), (path, name)


def test_a_class_has_its_name_alone():
    names = [
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted(set(names)) == sorted(names)


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
    assert {path.suffix for path in others} >= {".html", ".md", ".css", ".csv"}
    for path in others:
        assert any(path.match(str(pattern)) for pattern in known), path


def test_public_names_have_docstrings_with_an_example():
    for name in pegasos_stats.__all__:
        documented = getattr(pegasos_stats, name)
        assert documented.__doc__
        if callable(documented):
            assert ">>>" in documented.__doc__ or name == "Results", name


VISITED = """
import os, sys, tempfile
import pandas as pd
import pegasos_stats as ps

data = pd.DataFrame(
    {"age": range(60), "ward": list("abc") * 20, "y": list("nynyyn") * 10}
)
folder = tempfile.mkdtemp()
calls = {
    "model": lambda: ps.svm("y ~ age + ward", data, lam=0.1),
    "fit": lambda: model.fit(ps.Pegasos(2, seed=1)),
    "summary": lambda: str(result.summary()),
    "predict": lambda: result.predict(data),
    "save": lambda: ps.save(result, folder + "/fit"),
    "load": lambda: ps.load(folder + "/fit"),
    "report": lambda: result.report(data, folder + "/report.html"),
}
model = ps.svm("y ~ age + ward", data, lam=0.1)
result = ps.svm("y ~ age + ward", data).fit()
package = os.path.dirname(ps.__file__) + os.sep
for call in calls.values():
    call()  # what is done once is done
for name, call in calls.items():
    files = set()
    sys.setprofile(lambda frame, event, _: files.add(frame.f_code.co_filename))
    call()
    sys.setprofile(None)
    print(name, sum(file.startswith(package) for file in files))
"""

# Files of the package that run; each number may fall, and none may rise.
MOST_FILES = {"model": 14, "fit": 18, "summary": 21, "predict": 12}
MOST_FILES |= {"save": 17, "load": 25, "report": 44}


def test_a_call_is_followed_through_few_files():
    found = dict(line.split() for line in printed(VISITED).splitlines())
    assert {*found} == {*MOST_FILES}
    exceeded = {name: n for name, n in found.items() if int(n) > MOST_FILES[name]}
    assert exceeded == {}


def test_only_sources_of_rows_ask_where_rows_are():
    """Elsewhere a source answers, such as `RowSource.map_blocks`, wherever they are."""
    sources = {"Scan", "Partitions", "Partition", "StreamedRows", "MissingRows"}
    for path in MODULES:
        if path.parent == PACKAGE / "data" / "scan":
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                kinds = ast.unparse(node.args[1]).replace("scans.", "").split(" | ")
                assert not sources & {*kinds}, (path, kinds)


def test_the_page_of_the_architecture_is_that_of_the_code():
    """The picture is drawn from the imports, and the files that are named exist."""
    text = architecture.PAGE.read_text(encoding="utf-8")
    assert ".. imports\n" in text
    assert architecture.with_picture(text) == text, "run scripts/architecture.py"
    files = re.findall(r"``([\w/]+/\w+\.py)``", text)
    assert len(files) > 20
    assert [name for name in files if not (PACKAGE / name).is_file()] == []

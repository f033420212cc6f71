"""Fixtures for all tests: live R, and the folder of data.

A test that asks for the fixture `r` gets the marker ``r``, one that asks for
`data_folder` the marker ``data``, those of long files the marker ``slow``.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
REFERENCE = Path(__file__).parents[1] / "r_reference"
MARKERS = {"r": "r", "data_folder": "data"}
# Files whose tests take more than five seconds in all.
SLOW = [
    "compiled/test_cache",
    "compiled/test_gram",
    "compiled/test_kernel_pegasos",
    "compiled/test_pegasos_kernel",
    "compiled/test_sdca",
    "compiled/test_variants",
    "data/test_counts",
    "data/test_doubtful",
    "data/test_factors",
    "data/test_formula_safety",
    "data/test_svmlight",
    "data/test_wide_formula",
    "metrics/test_table_intervals",
    "models/test_bootstrap",
    "models/test_callers_data",
    "models/test_coverage_small",
    "models/test_default_errors",
    "models/test_fuzz_inference",
    "models/test_fuzz_saved",
    "models/test_inference_results",
    "models/test_kernel_optimum",
    "models/test_persist",
    "models/test_persist_forged",
    "models/test_persist_writing",
    "models/test_sandwich",
    "output/test_cli",
    "output/test_cli_groups",
    "output/test_cli_interrupted",
    "output/test_cli_outputs",
    "output/test_cli_process",
    "output/test_cli_streams",
    "output/test_cli_style",
    "output/test_fuzz_cli",
    "output/test_plots",
    "output/test_report",
    "output/test_report_cli",
    "output/test_report_lines",
    "output/test_report_studies",
    "output/test_report_words",
    "parity/test_pegasos_forms",
    "rng/test_rng",
    "scan/test_scanned_fits",
    "sklearn/test_checks",
    "sklearn/test_tools",
    "solvers/test_active_set",
    "solvers/test_best_intercept",
    "solvers/test_certificates",
    "solvers/test_sdca",
    "studies/test_compare",
    "studies/test_fold_transforms",
    "studies/test_fuzz_selection",
    "studies/test_nested",
    "studies/test_selection",
    "test_architecture",
    "test_docs",
    "test_fuzz_doors",
    "test_jhu",
    "test_vignette_cell_study",
    "test_vignette_cells",
    "test_vignettes",
]
LARGEST_INTEGER = 2**31 - 1  # R keeps -2^31 for NA

NO_R = (
    "R or rpy2 is missing or they do not fit together: `make test` installs both, and "
    "PEGASOS_STATS_NO_R=1 switches the tests against live R off"
)
START = """
suppressWarnings(Sys.setlocale("LC_CTYPE", "C.UTF-8"))
Sys.setlocale("LC_COLLATE", "C")
options(digits = 17, warn = 2)
RNGkind("default", "default", "default")
"""

# Examples of property tests: the same ones in every `make test`; new ones, and twice
# as many, in every round of `make fuzz` (--hypothesis-profile=search).
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "search",
    settings.get_profile("repeatable"),
    derandomize=False,
    max_examples=100,
    print_blob=True,
)
settings.load_profile("repeatable")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in MARKERS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(MARKERS[fixture])
        if os.path.relpath(item.path.with_suffix(""), TESTS) in SLOW:
            item.add_marker("slow")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder that PEGASOS_STATS_DATA names."""
    name = os.environ.get("PEGASOS_STATS_DATA")
    if not name:
        pytest.skip("PEGASOS_STATS_DATA is not set: no folder of data")
    folder = Path(name)
    if not folder.is_dir():
        raise NotADirectoryError(f"PEGASOS_STATS_DATA={name} is no folder")
    return folder


@pytest.fixture(scope="session")
def r() -> "R":
    """R in this process. Where R or rpy2 is missing, each test of it is an error."""
    if os.environ.get("PEGASOS_STATS_NO_R") == "1":
        pytest.skip("PEGASOS_STATS_NO_R=1 switches the tests against live R off")
    return start_r()


def start_r() -> "R":
    """Start R in this process, without anybody's profile."""
    os.environ["RPY2_CFFI_MODE"] = "ABI"
    os.environ["R_PROFILE_USER"] = os.environ["R_ENVIRON_USER"] = os.devnull
    try:
        return R()
    except (ImportError, OSError, ValueError) as error:
        raise RuntimeError(NO_R) from error


class R:
    """Embedded R, with the functions of ``r_reference/R`` loaded.

    Examples
    --------
    ``r.eval("sqrt(2)")``; ``r.call("rep", x=[1, 2], times=3)``;
    ``r.set("X", matrix)``, then ``r.eval("colMeans(X)")``. Variables live in the
    environment of these functions, for the whole session. A trailing underscore of an
    argument is left out: ``r.call("pegasos", X=X, y=y, lambda_=1.0, epochs=1)``.

    Results: numbers, text and logical values as arrays of at least one dimension, a
    factor as its labels, a named list as a dict, NULL as None. Missing integers make
    an array of floats with NaN, missing text or logical values one of objects with
    None.
    """

    def __init__(self) -> None:
        import rpy2.rinterface as rinterface

        rinterface.initr()
        self._rinterface = rinterface
        rinterface.evalr(START)
        self._environment = rinterface.evalr("new.env()")
        for file in sorted(REFERENCE.glob("R/*.R")):
            source = rinterface.baseenv["sys.source"]
            source(self._to_r(file.as_posix()), self._environment)

    def eval(self, code: str) -> Any:
        """Value of the last expression of `code`."""
        found = self._rinterface.evalr(code, envir=self._environment)
        return self._to_python(found)

    def call(self, function: str, *args: Any, **named: Any) -> Any:
        """Value of a function, named as in R."""
        found = self._rinterface.evalr(function, envir=self._environment)
        values = [self._to_r(value) for value in args]
        options = {k.removesuffix("_"): self._to_r(v) for k, v in named.items()}
        return self._to_python(found(*values, **options))

    def set(self, name: str, value: Any) -> None:
        """Assign to a variable of R."""
        self._environment[name] = self._to_r(value)

    def _to_r(self, value: Any) -> Any:
        if value is None:
            return self._rinterface.NULL
        if isinstance(value, dict):
            return self._list(value)
        if isinstance(value, pd.Series | pd.Categorical):
            return self._labels(pd.Series(value))
        values = np.asarray(value)
        vector = self._vector(values)
        if values.ndim > 1:
            dim = np.array(values.shape, dtype=np.int32)
            return self._rinterface.baseenv["array"](vector, self._vector(dim))
        return vector

    def _vector(self, values: np.ndarray) -> Any:
        """R vector without dimensions, in R's order: the first index runs fastest."""
        flat = values.ravel(order="F")
        ri = self._rinterface
        if flat.dtype.kind == "b":
            return ri.BoolSexpVector(flat.tolist())
        if flat.dtype.kind in "iu" and _are_r_integers(flat):
            return ri.IntSexpVector.from_memoryview(memoryview(flat.astype(np.int32)))
        if flat.dtype.kind in "iuf":
            return ri.FloatSexpVector.from_memoryview(memoryview(_exact(flat)))
        return ri.StrSexpVector([ri.NA_Character if v is None else v for v in flat])

    def _labels(self, labels: "pd.Series[Any]") -> Any:
        """Missing values as NA, categories as a factor, all else by its values."""
        if isinstance(labels.dtype, pd.CategoricalDtype):
            return self._factor(labels)
        present = self._vector(np.array(labels.dropna().tolist()))
        places = labels.notna().astype(int).cumsum().where(labels.notna())
        index = [self._rinterface.NA_Integer if at != at else int(at) for at in places]
        return self._rinterface.baseenv["["](
            present, self._rinterface.IntSexpVector(index)
        )

    def _factor(self, labels: "pd.Series[Any]") -> Any:
        categories = labels.cat.categories
        return self._rinterface.baseenv["factor"](
            self._labels(labels.astype(object)),
            levels=self._to_r(list(categories)),
            ordered=self._to_r(labels.cat.ordered),
        )

    def _list(self, items: dict[str, Any]) -> Any:
        values = {name: self._to_r(value) for name, value in items.items()}
        return self._rinterface.baseenv["list"](**values)

    def _to_python(self, found: Any) -> Any:
        ri = self._rinterface
        if found is ri.NULL:
            return None
        if isinstance(found, ri.ListSexpVector):
            return self._items(found)
        if "factor" in _attribute(found, "class"):
            found = ri.baseenv["as.character"](found)
        values = self._array(found)
        dim = _attribute(found, "dim")
        return values.reshape(tuple(dim), order="F") if len(dim) else values

    def _items(self, found: Any) -> Any:
        items = [self._to_python(item) for item in found]
        names = _attribute(found, "names")
        return dict(zip(names, items, strict=True)) if len(names) else items

    def _array(self, found: Any) -> np.ndarray:
        ri = self._rinterface
        if isinstance(found, ri.FloatSexpVector):
            return np.array(found.memoryview())
        missing = np.array(self._missing(found), dtype=bool)
        if isinstance(found, ri.IntSexpVector):
            values = np.array(found.memoryview(), dtype=np.int64)
            return np.where(missing, np.nan, values) if missing.any() else values
        kind = bool if isinstance(found, ri.BoolSexpVector) else str
        pairs = zip(found, missing, strict=True)
        values = [None if absent else kind(value) for value, absent in pairs]
        return np.array(values, dtype=object if missing.any() or kind is str else None)

    def _missing(self, found: Any) -> Iterable[bool]:
        return self._rinterface.baseenv["is.na"](found)


def _attribute(found: Any, name: str) -> Any:
    """Attribute of an R object, empty if it has none."""
    return found.do_slot(name) if name in found.list_attrs() else ()


def _are_r_integers(values: np.ndarray) -> bool:
    return bool(((values >= -LARGEST_INTEGER) & (values <= LARGEST_INTEGER)).all())


def _exact(numbers: np.ndarray) -> np.ndarray:
    """The same numbers as float64, or an error where one does not fit."""
    values = numbers.astype(np.float64)
    if numbers.dtype.kind in "iu" and (values.astype(numbers.dtype) != numbers).any():
        raise OverflowError("an integer beyond 2^53 has no exact counterpart in R")
    return values

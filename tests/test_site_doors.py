"""The three doors of the site: both lines of each row are run, and compared.

`close` of a row is the largest relative difference, `because` its reason; the same is
allowed of the largest value where a value is near 0.
"""

import ast
import re
from functools import cache
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from doors import Row, door

DOCS = Path(__file__).parents[1] / "docs"

# What a package exports, for one row alone: nothing is attached for the tests after it.
EXPORTED = """
if (nzchar("{0}")) suppressWarnings(suppressPackageStartupMessages({{
  from <- loadNamespace("{0}")
  list2env(mget(getNamespaceExports(from), envir = from, inherits = TRUE), row)
}}))
0
"""

Names = dict[str, object]
R_ROWS = door("r").row
PYTHON_ROWS = [
    (name, row) for name in ("statsmodels", "sklearn") for row in door(name).row
]


def label(given):
    return given.ours.splitlines()[-1][:50] if isinstance(given, Row) else given


def run(lines: str, names: Names) -> Names:
    """Run lines; what the last of them gives is `it`."""
    *body, last = ast.parse(lines).body
    exec(compile(ast.Module(body, []), "<row>", "exec"), names)
    if isinstance(last, ast.Expr):
        names["it"] = eval(compile(ast.Expression(last.value), "<row>", "eval"), names)
    else:
        exec(compile(ast.Module([last], []), "<row>", "exec"), names)
    return names


@cache
def shared(name: str) -> Names:
    names: Names = {}
    for part in door(name).shared:
        if name != "r":
            run(part.theirs, names)
        run(part.ours, names)
    return names


def ours(name: str, row: Row, names: Names | None = None) -> np.ndarray:
    names = dict(shared(name)) if names is None else names
    return np.asarray(eval(row.our_value, run(row.ours, names)))


def assert_equal(found: np.ndarray, expected: np.ndarray, row: Row) -> None:
    assert found.size == expected.size > 0
    found, expected = found.ravel(), expected.ravel()
    if not row.close:
        assert list(found) == list(expected)
        return
    assert row.because
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        found.astype(float), expected.astype(float), row.close, row.close * scale
    )


@pytest.mark.filterwarnings("default::FutureWarning")  # of the other side's own
@pytest.mark.parametrize(("name", "row"), PYTHON_ROWS, ids=label)
def test_a_row_in_python(name, row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run(row.theirs, dict(shared(name)))
    expected = np.asarray(eval(row.their_value, names))
    assert_equal(ours(name, row, names), expected, row)


@pytest.fixture(scope="module")
def r_with_data(r):
    lines = "\n".join(part.theirs for part in door("r").shared)
    r.eval(f"door <- new.env()\nlocal({{{lines}\n0}}, door)")
    return r


@pytest.mark.parametrize("row", R_ROWS, ids=label)
def test_a_row_in_r(r_with_data, row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    r = r_with_data
    if row.needs and not r.eval(f'nzchar(system.file(package = "{row.needs}"))')[0]:
        pytest.skip(f"R's package {row.needs} is not installed")
    r.eval(f"row <- new.env(parent = door)\n{EXPORTED.format(row.needs)}")
    value = f"it <- {{{row.theirs}}}\nfound <- {{{row.their_value}}}\n"
    plain = (
        "if (is.numeric(found)) as.vector(t(as.matrix(found))) else as.vector(found)"
    )
    code = f"local({{{value}{plain}}}, row)"
    expected = np.asarray(r.eval(code))
    assert_equal(ours("r", row), expected, row)


def test_the_lines_for_a_colleague_hold_in_r(r, tmp_path, monkeypatch):
    page = (DOCS / "howto" / "reproduce_in_r.rst").read_text(encoding="utf-8")
    block = re.findall(r"^\.\. run::\n\n((?:   .*\n|\n)+)", page, flags=re.MULTILINE)[0]
    monkeypatch.chdir(tmp_path)
    lines = str(run(dedent(block), {})["lines"])
    r.eval(f"local({{{lines}\n0}})")
    another = re.sub(
        r"(.)(p[-+])", lambda d: f"{int(d[1], 16) ^ 1:x}{d[2]}", lines, count=1
    )
    with pytest.raises(Exception, match="identical"):
        r.eval(f"local({{{another}\n0}})")

"""Files with a right digest and a header or arrays that are not as written."""

import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.models.persist import load, save
from tests.data.hostile_files import MIB, check_refused, saved_in
from tests.models.saved_models import put_together, taken_apart


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_in(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def parts(saved):
    return taken_apart(saved)


TEXTS = {
    "blanks": lambda text: b" " * (50 * MIB) + text,
    "half its limit of blanks": lambda text: b" " * (10 * MIB) + text,
    "lists": lambda text: b"[" + b"[]," * (10 * MIB) + b"[]]",
    "many short lists": lambda text: b"[" + b"[]," * MIB + b"[]]",
    "names": lambda text: b"{" + b'"":0,' * MIB + b'"":0}',
    "numbers": lambda text: b"[" + b"-9," * MIB + b"0]",
    "deep": lambda text: b"[" * 100_000 + b"]" * 100_000,
    "deeper": lambda text: b'{"a":' * 700_000 + b"1" + b"}" * 700_000,
    "a long integer": lambda text: text.replace(b"2, ", b"9" * 10**6 + b", ", 1),
    "a long float": lambda text: text.replace(b"2, ", b"2." + b"9" * 10**6 + b", ", 1),
    "1e400": lambda text: text.replace(b'"version": 2', b'"version": 1e400'),
    "NaN": lambda text: text.replace(b'"version": 2', b'"version": NaN'),
    "two versions": lambda text: text.replace(b"{", b'{"version": 2, ', 1),
    "no UTF-8": lambda text: text.replace(b'"factor"', b'"\xff\xfe"'),
    "half a character": lambda text: text.replace(b'"factor"', b'"\\ud800"'),
    "half a name": lambda text: text.replace(b'"package"', b'"\\udfff"'),
    "empty": lambda text: b"",
    "null": lambda text: b"null",
    "text": lambda text: b'"pegasos_stats model"',
    "list": lambda text: b"[" + text + b"]",
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
def test_headers_that_are_no_header_are_refused(kind, parts, tmp_path):
    header, arrays = parts
    content = put_together(TEXTS[kind](json.dumps(header).encode()), arrays)
    check_refused(tmp_path / "a", content)


def changed(header, place, value):
    tree = json.loads(json.dumps(header))
    parent = tree
    *steps, last = place
    for step in steps:
        parent = parent[step]
    parent[last] = value
    return tree


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("fit", "shape"), [10**18, 2]),
        (("fit", "shape"), [10, 10**18]),
        (("fit", "shape"), [-10, 2]),
        (("fit", "shape"), [True, 2]),
        (("fit", "shape"), [10.0, 2]),
        (("fit", "shape"), [10, 2, 1]),
        (("fit", "problem"), [0, "hinge", True]),
        (("fit", "problem"), [0.0, "hinge", True]),
        (("fit", "problem"), [-1.0, "hinge", True]),
        (("fit", "problem"), [1.0, "square", True]),
        (("fit", "problem"), [1.0, "hinge", 1]),
        (("fit", "problem"), [1.0, "hinge", None]),
        (("fit", "problem", 2), False),
        (("fit", "training_table"), [[5, 0, 0], [0, 4, 0]]),
        (("fit", "training_table"), [[6, 0, 0], [0, 4, 0]]),
        (("fit", "training_table"), [[6, -1, 0], [0, 5, 0]]),
        (("fit", "training_table"), [[5, 0], [0, 5]]),
        (("fit", "training_table"), [[10**30, 0, 0], [0, 5, 0]]),
        (("fit", "training_table"), [[5.0, 0, 0], [0, 5, 0]]),
        (("fit", "counts"), [-1, 0, 1]),
        (("fit", "counts"), [1, 1, None]),
        (("fit", "counts"), [1, 1, 2**31]),
        (("fit", "counts"), [1, True, 1]),
        (("fit", "seconds"), -1.0),
        (("fit", "seconds"), "1"),
        (("fit", "dropped"), [0, -1]),
        (("fit", "dropped"), [0]),
        (("fit", "alpha"), None),
        (("fit", "alpha"), {"type": "float", "value": "nan"}),
        (("fit", "trace"), ["epoch"]),
        (("fit", "trace"), {}),
        (("fit", "refinement"), False),
        (("fit", "cov_type"), False),
        (("fit", "covariance"), False),
        (("fit", "covariance", 1, "df"), -1.0),
        (("fit", "covariance", 2), ["matrix", "bread"]),
        (("fit", "covariance", 3), "remark"),
        (("fit", "coding", "levels"), [0, 0]),
        (("fit", "coding", "levels"), [0, 1, 2]),
        (("fit", "coding", "levels"), [0, None]),
        (("fit", "coding", "levels"), [0, "1"]),
        (("fit", "coding", "levels"), [[0], [1]]),
        (("fit", "coding", "name"), 3),
        (("fit", "coding", "rule"), "other"),
        (("fit", "coding", "dtype"), {"numpy": "<U2000000000"}),
        (("fit", "coding", "dtype"), {"numpy": "|V2000000000"}),
        (("fit", "coding", "dtype"), {"pandas": "datetime64[ns, dateutil//dev/zero]"}),
        (("fit", "coding", "further"), 1),
        (("fit", "design", "named"), 1),
        (("fit", "design", "columns"), ["a"]),
        (("fit", "design", "columns"), ["a", "a"]),
        (("fit", "design", "columns"), "ab"),
        (("fit", "design", "columns"), ["a", "Intercept"]),
        (("fit", "design", "formula"), 3),
        (("fit", "certificate", "value", 0, 1), -1.0),
        (("fit", "certificate", "value", 1, 1), 1e9),
        (("fit", "certificate", "value", 2, 1), 11),
        (("fit", "further"), 1),
        (("about",), None),
        (("about",), []),
        (("about",), {"type": "numpy", "value": ["<U2000000000", "a"]}),
        (("about",), {"type": "dict", "value": [[[], 1]]}),
        (("package",), None),
        (("kind",), ["linear"]),
        (("kind",), "kernel"),
        (("further",), 1),
    ],
    ids=str,
)
def test_fields_are_of_their_types_and_fit_together(place, value, parts, tmp_path):
    header, arrays = parts
    content = put_together(changed(header, place, value), arrays)
    check_refused(tmp_path / "a", content)


@pytest.mark.parametrize(
    "version", [0, 1, -1, 1.0, 2.0, True, "2", None, [2], float("nan"), 1e400, {}]
)
def test_a_format_that_is_no_number_is_refused(version, parts, tmp_path):
    header, arrays = parts
    content = put_together(header | {"version": version}, arrays)
    check_refused(tmp_path / "a", content)


@pytest.mark.parametrize("version", [3, 2**40, 10**300])
def test_a_newer_format_is_named(version, parts, tmp_path):
    header, arrays = parts
    (tmp_path / "a").write_bytes(put_together(header | {"version": version}, arrays))
    with pytest.raises(DataError, match=str(version)[:150]):
        load(tmp_path / "a")


def test_a_digest_has_one_name(parts, tmp_path):
    header, arrays = parts
    content = put_together(changed(header, ("digest",), "sha256"), arrays)
    check_refused(tmp_path / "a", content)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("y", lambda y: y * 0 + 1),
        ("y", lambda y: y * 2),
        ("y", lambda y: y[:-1]),
        ("y", lambda y: y.astype(np.int16)),
        ("beta", lambda beta: beta * np.nan),
        ("beta", lambda beta: np.r_[beta, 0.0]),
        ("dual", lambda dual: dual + np.inf),
        ("dual", lambda dual: dual.astype(np.float32)),
        ("weights", lambda _: np.full(10, -1.0)),
        ("weights", lambda _: np.full(10, 2.0)),
        ("weights", lambda _: np.full(9, 1.0)),
        ("order", lambda _: np.arange(3)),
        ("covariance.matrix", lambda matrix: matrix[:2]),
        ("covariance.matrix", lambda matrix: matrix * np.inf),
    ],
)
def test_arrays_fit_together(name, change, parts, tmp_path):
    header, arrays = parts
    arrays[name] = change(arrays.get(name))
    check_refused(tmp_path / "a", put_together(header, arrays))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_coefficients_are_named_as_the_terms_name_them(place, tmp_path):
    """Of a spline too, whose columns no row made up at loading may be within."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(9.0, size=24), "y": np.arange(24) % 2})
    result = ps.svm("y ~ bs(a, df=3)", data, lam=1.0).fit(ps.Pegasos(epochs=2, seed=1))
    save(result, tmp_path / "a")
    header, arrays = taken_apart(tmp_path / "a")
    header["fit"]["design"]["names"][place] = "another"
    check_refused(tmp_path / "a", put_together(header, arrays))


def test_a_large_header_is_refused_at_saving(saved, tmp_path):
    result = load(saved)
    with pytest.raises(DataError):
        save(result, tmp_path / "a", about={"text": "x" * (5 * MIB)})
    with pytest.raises(DataError):
        save(result, tmp_path / "a", about={"half": "\ud800"})
    assert list(tmp_path.iterdir()) == []

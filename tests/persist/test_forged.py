"""Files with a right digest and fields that no object has: an error of ours each."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.sample import Groups
from pegasos_stats.errors import DataError
from pegasos_stats.persist import load, save
from pegasos_stats.persist.codec import validate
from tests.persist.fits import saved_in
from tests.persist.hostile_files import MIB, check_refused
from tests.persist.hostile_files import saved_in as small_fit_in
from tests.persist.parts import forged, put_together, taken_apart
from tests.persist.studies import OBJECTS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The path of every fit."""
    folder = tmp_path_factory.mktemp("saved")
    found = {name: path for name, (_, path) in saved_in(folder).items()}
    X, y = np.random.default_rng(3).normal(size=(60, 2)), np.arange(60) % 2
    model = ps.Logit(y, X, lam=0.1, standardize=True)
    result = model.fit(ps.Optimum(tol=1e-8, seed=1), cov_type="HC3")
    save(result, folder / "sandwich")
    return found | {"sandwich": folder / "sandwich"}


def at(place, value):
    """Change one number of an array."""

    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


def shorter(array):
    return array[:-1]


def longer(array):
    return np.r_[array, 0.0]


def smaller(matrix):
    return matrix[:2, :2]


def infinite(matrix):
    return matrix * np.inf


def single(array):
    return array.astype(np.float32)


NAN, INF = np.nan, np.inf
FITS = {
    "problem.X.shape": [(12,), (0, 2), (12, 0), (-12, 2), (12.0, 2), (True, 2)],
    "problem.X.digest": [7],
    "problem.lam": [0.0, -0.1, INF, NAN, "1", None],
    "problem.loss": ["square", None, "log "],
    "problem.intercept": [1, None, False],
    "problem.lam_rule": ["own", 3],
    "problem.balanced": [True, 0],
    "problem.y": [lambda y: y * 2, lambda y: y * 0 + 1, shorter, at(0, 0)],
    "problem.offset": [np.zeros(12)],
    "problem.weights": [at(0, -0.5), shorter, single, np.full(12, -1.0)],
    "solution.alpha": ["1", NAN, INF, 1e308, -1e301, None],
    "solution.beta": [at(1, INF), longer, lambda b: b[:, None], single],
    "solution.dual": [at(3, NAN), at(3, INF), shorter],
    "solution.n_iter": [-1, True, 2**63, "1", 1.5],
    "solution.n_violations": [-1, None],
    "solution.n_epochs": [-1],
    "solution.seed": [2**31, "1"],
    "solution.settled": [1],
    "solver.epochs": [-1, 10**30, "1"],
    "solver.order": ["own", np.zeros((2, 3))],
    "solver.start": ["one"],
    "solver.ties": ["x"],
    "dropped.predictors": [-1],
    "dropped.missing": [((1, 1),), (("a",),)],
    "seconds": [-1e-9, NAN, "1"],
    "training_table.counts": [
        np.array([[9, -1, 0], [0, 4, 0]]),
        np.array([[8, 0], [0, 4]]),
    ],
    "trace": [lambda t: t[["epoch", "gap"]], "epoch"],
    "certificate.objective": [-1.0, NAN, "1"],
    "certificate.dual_objective": [1e9, NAN],
    "certificate.rounding": [-1.0, NAN],
    "certificate.errors": [-1],
    "certificate.at_zero": [(0,), (0, -1)],
    "shortfall.at_least": [-1.0, 1e9, NAN],
    "shortfall.lower": [-1.0],
    "shortfall.changed": [-1],
    "shortfall.errors": [10**8],
    "_on_predictors": [(1.0, ("note",))],
    "null_space.columns": [np.zeros(1, dtype=np.int64), np.array([9])],
    "null_space.directions": [np.ones((3, 1)), np.zeros((2, 0))],
    "constants": [np.zeros(1, dtype=bool)],
    "index": [pd.RangeIndex(11), pd.RangeIndex(10**15)],
    "design.scaling.scale": [np.ones(1), np.array([1.0, 0]), np.array([1.0, -1.0])],
    "design.scaling.centre": [np.full(2, NAN)],
    "design.design.columns": [("a", "Intercept"), ("a", "a"), ("a",), ()],
    "design.design.named": [1],
    "design.design.formula": [3, "import os ~ a"],
    "coding.name": [3, None],
    "coding.positive": ["no", None, 1, ["a"]],
    "cov_type": [None, ps.Bootstrap(replicates=4)],
}
COVARIANCES = {
    "estimated.matrix": [shorter, smaller, infinite, at((0, 1), NAN), np.negative],
    "estimated.bread": [lambda m: np.full_like(m, NAN), infinite, None],
    "estimated.fixed": [np.negative, shorter],
    "estimated.newton_step": [np.zeros(2), 3],
    "estimated.bandwidth": [-1.0, NAN],
    "estimated.df": [0.0, NAN, "3"],
    "estimated.rows": [-1.0],
    "estimated.unbounded": [np.empty((0, 10**9)), np.empty((10**17, 0))],
    "estimated.separated": [-1],
    "estimated.basis": [np.eye(3), np.zeros((3, 0))],
    "estimated.inner": [np.eye(3)],
    "estimated.notes": ["word", (1,)],
}
RESAMPLES = {
    "estimated.estimates": [at((0, 0), NAN), lambda b: b[:, :1]],
    "estimated.covariance": [at((1, 1), -1.0), np.negative, smaller],
    "estimated.estimate": [lambda b: b[1:]],
    "estimated.fixed": [np.zeros((1, 3)), np.zeros((0, 3))],
    "estimated.reference": [lambda m: m * NAN, lambda m: m[:1]],
    "estimated.n_left_out": [-1],
    "estimated.seed": [2**31],
    "estimated.tolerance": [-np.ones(3), np.ones(2), np.full(3, NAN)],
    "estimated.error": [-np.ones(3), np.ones(2)],
    "estimated.centre": [np.zeros(3)],
    "estimated.distance": [None],
    "groups": [Groups(("g",), (1,))],
}
KERNELS = {
    "problem.kernel.gamma": [-1.0, None, NAN],
    "problem.kernel.degree": [3],
    "problem.memory": [0, 1.0],
    "problem.X.values": [at((0, 0), NAN), lambda v: v[:, :1], shorter],
    "problem.X.rows": [lambda r: r[::-1], lambda r: r + 100, lambda r: r * 0],
    "solution.counts": [at(2, -1), shorter, lambda c: c * 0],
    "solution.g": [at(2, INF), shorter],
    "solution.n_iter": [0],
    "design.design.columns": [("a",)],
}
GRAMS = {
    "columns": [at(0, 1), at(0, -1), at(0, 12), shorter, None],
    "design.columns": [("a", "b")],
}
ALL = {"linear": FITS, "sandwich": COVARIANCES, "bootstrapped": RESAMPLES}
ALL |= {"kernel": KERNELS, "gram": GRAMS}


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [(n, p, value) for n in ALL for p, values in ALL[n].items() for value in values],
)
def test_fields_that_no_fit_has_are_refused(name, place, value, saved, tmp_path):
    try:
        content = forged(saved[name], place, value)
    except (DataError, ValueError, AttributeError):  # of which no file can be made
        return
    check_refused(tmp_path / "a", content)


def test_what_may_differ_a_little_does(saved, tmp_path):
    def loaded(name, place, value):
        (tmp_path / "a").write_bytes(forged(saved[name], place, value))
        return load(tmp_path / "a")

    for factor in (1.0 - 5e-7, 1.0 + 5e-7):
        loaded("linear", "problem.weights", lambda w, f=factor: w * f)
    undefined = loaded("linear", "estimated.matrix", np.full((3, 3), np.nan))
    with pytest.warns(ps.errors.ConvergenceWarning):
        assert np.isnan(undefined.bse).all()
    for seed in (-(2**31) + 1, 2**31 - 1):
        assert loaded("kernel", "solution.seed", seed).seed == seed
    assert loaded("kernel", "problem.memory", 1).problem.memory == 1


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("table", "choices.positive", "of no level"),
        ("margins", "keys", lambda keys: keys.set_axis(["x"] * keys.shape[1], axis=1)),
        ("reliability", "table", lambda t: t.rename(columns={"low": "other"})),
        ("reliability", "table", lambda t: t.assign(observed=-0.01)),
        ("reliability", "table", lambda t: t.assign(observed=1.5)),
        ("reliability", "table", lambda t: t.assign(n=0.5)),
        ("table", "scored.probabilities", lambda p: p + 1.0),
        ("table", "scored.probabilities", lambda p: p[:-1]),
        ("table", "scored.scores", lambda f: f[:-1]),
        *(("scored", "scored.weights", at(1, value)) for value in (-2.5, INF, NAN)),
        ("table", "counts", lambda counts: counts[:, :1]),
        ("folds", "n", 3),
        ("folds", "n", 2**60),
        ("folds", "splits", lambda splits: splits[1:1]),
        ("folds", "groups", lambda groups: groups[:-1]),
        ("folds", "splits", lambda s: (*s[:-1], replace(s[-1], repeat=10**9))),
        ("coding", "positive", "no"),
    ],
)
def test_fields_that_no_study_has_are_refused(name, place, value, tmp_path):
    given = {"scores": [-1.0, 1.0, 2.0], "weights": [1.0, 2.5, 1.0]}
    weighted = ps.confusion([0, 1, 1], [0, 1, 0], **given)
    ps.save(weighted if name == "scored" else OBJECTS[name](), tmp_path / "a")
    check_refused(tmp_path / "b", forged(tmp_path / "a", place, value))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return small_fit_in(tmp_path_factory.mktemp("small"))


VERSION = b'"version": 5'
TEXTS = {
    "blanks": lambda text: b" " * (50 * MIB) + text,
    "half its limit of blanks": lambda text: b" " * (10 * MIB) + text,
    "one blank": lambda text: text + b" ",
    "lists": lambda text: b"[" + b"[]," * (10 * MIB) + b"[]]",
    "many short lists": lambda text: b"[" + b"[]," * MIB + b"[]]",
    "names": lambda text: b"{" + b'"":0,' * MIB + b'"":0}',
    "numbers": lambda text: b"[" + b"-9," * MIB + b"0]",
    "deep": lambda text: b"[" * 100_000 + b"]" * 100_000,
    "deeper": lambda text: b'{"a":' * 700_000 + b"1" + b"}" * 700_000,
    "a long integer": lambda text: text.replace(b"2, ", b"9" * 10**6 + b", ", 1),
    "a long float": lambda text: text.replace(b"2, ", b"2." + b"9" * 10**6 + b", ", 1),
    "1e400": lambda text: text.replace(VERSION, b'"version": 1e400'),
    "NaN": lambda text: text.replace(VERSION, b'"version": NaN'),
    "two versions": lambda text: text.replace(b"{", b'{"version": 5, ', 1),
    "no UTF-8": lambda text: text.replace(b'"factor"', b'"\xff\xfe"'),
    "half a character": lambda text: text.replace(b'"factor"', b'"\\ud800"'),
    "half a name": lambda text: text.replace(b'"package"', b'"\\udfff"'),
    "empty": lambda text: b"",
    "null": lambda text: b"null",
    "text": lambda text: b'"pegasos_stats model"',
    "list": lambda text: b"[" + text + b"]",
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
def test_headers_that_are_no_header_are_refused(kind, small, tmp_path):
    header, arrays = taken_apart(small)
    changed = TEXTS[kind](json.dumps(header, ensure_ascii=False).encode())
    check_refused(tmp_path / "a", put_together(changed, arrays))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("about",), None),
        (("about",), []),
        (("about",), {"numpy": ["<U2000000000", "a"]}),
        (("about",), {"dict": [[[], 1]]}),
        (("about",), {"objects": ["|O", [2**40], []]}),
        (("package",), None),
        (("kind",), ["LinearResults"]),
        (("kind",), "KernelResults"),
        (("kind",), "x" * 3000),
        (("further",), 1),
        (("object", "further"), 1),
        (("object", "problem"), None),
        (("object", "problem"), []),
        (("object", "solution", "beta"), ["f8", [2], 1]),
        (("object", "solution", "beta"), ["f8", [10**18], False]),
        (("object", "solution", "beta"), ["f8", [-2], False]),
        (("object", "solution", "beta"), ["f2", [2], False]),
        (("object", "solution", "beta"), ["f8,f8", [2], False]),
        (("object", "index"), ["range", [None], [0, 2**61, 1]]),
        (("object", "solver"), {"Adam": {}}),
        (("object", "coding", "dtype"), {"numpy": "<U2000000000"}),
        (("object", "coding", "dtype"), {"numpy": "|V2000000000"}),
        (("object", "coding", "dtype"), {"pandas": "datetime64[ns, dateutil//dev/a]"}),
    ],
    ids=str,
)
def test_json_of_another_form_is_refused(place, value, small, tmp_path):
    header, arrays = taken_apart(small)
    parent = header
    *steps, last = place
    for step in steps:
        parent = parent[step]
    parent[last] = value
    check_refused(tmp_path / "a", put_together(header, arrays))


# What need not be there, and what `put_together` writes anew.
OTHERS = {"estimated", "arrays"}


def test_fields_that_are_not_there_and_arrays_that_nobody_takes(small, tmp_path):
    header, arrays = taken_apart(small)
    for name in {*header, *header["object"]} - OTHERS:
        changed = json.loads(json.dumps(header))
        (changed if name in changed else changed["object"]).pop(name)
        check_refused(tmp_path / "a", put_together(changed, arrays))
    for name, array in {"f8": np.zeros(1), "i8": np.zeros(1, np.int64)}.items():
        longer = arrays | {name: np.r_[arrays.get(name, array[:0]), array]}
        check_refused(tmp_path / "a", put_together(header, longer))
        shorter = arrays | {name: arrays.get(name, array)[:-1]}
        if name in arrays:
            check_refused(tmp_path / "a", put_together(header, shorter))
    check_refused(tmp_path / "a", put_together(header, arrays | {"x": np.zeros(3)}))
    check_refused(tmp_path / "a", put_together(header, arrays | {"x": np.zeros(0)}))


@pytest.mark.parametrize(
    "version", [0, 1, 2, 3, 4, 6, -1, 5.0, True, "5", None, [5], {}]
)
def test_another_format_is_to_be_fitted_again(version, small, tmp_path):
    header, arrays = taken_apart(small)
    (tmp_path / "a").write_bytes(put_together(header | {"version": version}, arrays))
    with pytest.raises(DataError, match=re.escape(str(version)) + ".*fit the model"):
        load(tmp_path / "a")


def test_coefficients_are_named_as_the_terms_name_them(tmp_path):
    """Of a spline too, whose columns no row made up at loading may be within."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(9.0, size=24), "y": np.arange(24) % 2})
    result = ps.svm("y ~ bs(a, df=3)", data, lam=1.0).fit(ps.Pegasos(epochs=2, seed=1))
    save(result, tmp_path / "a")
    for place in range(3):
        header, arrays = taken_apart(tmp_path / "a")
        design = header["object"]["design"]["FormulaDesign"]
        design["columns"][1][place] = "another"
        check_refused(tmp_path / "b", put_together(header, arrays))


def test_arrays_without_numbers_raise_no_limit(small, tmp_path):
    """A header may grow with the rows of a model, of which there are none here."""
    header, arrays = taken_apart(small)
    text = json.dumps(header).replace("{", '{"more": [' + "0, " * (8 * MIB) + "0], ", 1)
    for shape in ((10**17, 0), (0, 10**9)):
        more = arrays | {"u8": np.empty(shape, dtype=np.uint64)}
        check_refused(tmp_path / "a", put_together(text.encode(), more))
        check_refused(tmp_path / "a", put_together(header, more))


def test_the_knots_of_a_spline_are_bounded(tmp_path):
    data = pd.DataFrame({"x": np.arange(12.0), "y": ["a", "b"] * 6})
    model = ps.Logit.from_formula("y ~ ns(x, df=3)", data, lam=0.1)
    save(model.fit(ps.Optimum(seed=1), cov_type=None), tmp_path / "a")
    (key,) = model.design.state
    knots = {key: {"boundary": [0.0, 11.0], "knots": [5.5] * 20_000}}
    check_refused(tmp_path / "b", forged(tmp_path / "a", "design.state", knots))


# One term for each set of names that a transformation keeps.
TRANSFORMED = [
    "bs(x, knots=c(6, 3))", "bs(x, df=4, degree=2, lower_bound=-1)", "cc(x, df=4)",
    "cs(x, knots=c(2, 5))", "cr(x, df=4, constraints='center')", "center(x)",
    "scale(x)", "scale(x, center=False)", "scale(x, scale=-2)", "scale(poly(x, 2))",
    "ns(x, knots=c(5, 2), intercept=True)", "ns(x, Boundary_knots=c(-1, 12))",
    "poly(x, 2, raw=True)", "cut(x, 3)", "cut(x, c(0, 5, 11))", "I(x > mean(x))",
    "I(x - x.quantile(0.3))",
]  # fmt: skip


def changed_states(state):
    """A state with a name more, less or of another spelling, or other numbers."""
    yield state | {"further": 1.0}
    for name, value in state.items():
        others = {n: v for n, v in state.items() if n != name}
        yield from (others, others | {name.upper(): value})
        yield others | {name: None if value is not None else 1.0}
        if isinstance(value, list) and len({*value}) > 1:
            yield others | {name: value[::-1]}
            yield others | {name: value[:-1]}
            yield others | {name: [*value[:-1], NAN]}
            yield others | {name: [*value, value[-1]]}
        if isinstance(value, dict):
            yield others | {name: {n + 1: v for n, v in value.items()}}
            yield others | {name: dict.fromkeys(value, INF)}
        if isinstance(value, float) or getattr(value, "shape", None) == ():
            yield others | {name: INF}
        if isinstance(value, np.ndarray) and value.ndim == 1:
            yield others | {name: value[0]}
            yield state | dict.fromkeys(["center", "scale"], value[0])


@pytest.mark.parametrize("term", TRANSFORMED)
def test_what_transformations_keep_is_checked(term, tmp_path):
    draw = np.random.default_rng(0)
    data = pd.DataFrame({"x": draw.uniform(0.0, 10.0, 40), "y": [0, 1] * 20})
    data["z"] = draw.normal(size=40)
    result = ps.svm(f"y ~ z + {term}", data, lam=0.1).fit(ps.Pegasos(1, seed=1))
    save(result, tmp_path / "a")
    states = result.design.state
    scores = load(tmp_path / "a").decision_function(data.head(7))
    pd.testing.assert_series_equal(scores, result.decision_function(data.head(7)))
    forgeries = [{"w(x)": {}} | states, {}]
    forgeries += [{f"{key} ": states[key]} for key in states]
    for key, state in states.items():
        forgeries += [states | {key: other} for other in changed_states(state)]
    for other in forgeries:  # `load` makes an error of ours of any
        with pytest.raises((AttributeError, LookupError, TypeError, ValueError)):
            validate(replace(result.design, state=other))
    check_refused(tmp_path / "b", forged(tmp_path / "a", "design.state", forgeries[0]))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("numeric", ("x", "age")),
        ("types", {"age": "boolean"}),
        ("spanning", ("age",)),
        ("fields", {"age": [1]}),
    ],
)
def test_names_that_the_model_has_not_are_refused(place, value, tmp_path):
    data = pd.DataFrame({"x": np.arange(6.0), "g": list("aabbcc"), "y": [0, 1] * 3})
    result = ps.svm("y ~ log(x + 1) + g", data, lam=0.1).fit(ps.Optimum(seed=1))
    save(result, tmp_path / "a")
    content = forged(tmp_path / "a", f"design.{place}", value)
    check_refused(tmp_path / "b", content)

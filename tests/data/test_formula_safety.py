"""A formula computes with columns, whoever wrote it and wherever it stands."""

import builtins
import contextlib
import copy
import time

import formulaic.materializers.base as materializing
import formulaic.utils.stateful_transforms as evaluating
import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    FormulaError,
    OptionError,
    PegasosStatsError,
)
from pegasos_stats.persist import load, save
from tests.data.formulas import ACCEPTED, HOSTILE, RUNNING, UNREADABLE, everything
from tests.persist.parts import put_together, read, taken_apart, written

pytestmark = pytest.mark.slow

N = 30
SECONDS = 10.0  # far above what refusing takes, far below what running would


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "y": np.resize(["no", "yes"], N),
            "x": rng.uniform(1.0, 2.0, N),
            "z": rng.normal(size=N),
            "g": np.resize(["u", "v", "w"], N),
        }
    )


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not (tmp_path / "canary").exists()


def shortened(payload):
    return ascii(payload if len(payload) < 60 else payload[:50] + "...")


@pytest.mark.parametrize("payload", HOSTILE, ids=shortened)
def test_a_hostile_text_is_refused_wherever_it_stands(payload, data):
    """In one line and in bounded time; a name as x.attrs, alone, is one of a column."""
    terms = payload, f"{{{payload}}}", f"np.exp({payload})"
    formulas = [f"y ~ z + {term}" for term in terms]
    for formula in (*formulas, f"{payload} ~ z", f"({payload}) > 0 ~ z"):
        before, started = data.copy(), time.perf_counter()
        with pytest.raises((FormulaError, ColumnError)) as caught:
            ps.svm(formula, data, lam=1.0)
        assert time.perf_counter() - started < SECONDS
        pd.testing.assert_frame_equal(data, before)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("payload", UNREADABLE, ids=shortened)
def test_what_cannot_be_read_is_an_error_of_ours(payload, data):
    for formula in (f"y ~ {payload}", f"y ~ z + {payload}", f"{payload} ~ z"):
        with contextlib.suppress(PegasosStatsError):  # a few can be read after all
            ps.svm(formula, data, lam=1.0)


def designs(data):
    """A design of every kind: its type, JSON and arrays."""
    sparse = data.assign(x=data["x"].astype(pd.SparseDtype(float, 0.0)))
    models = {
        "formula": ps.svm("x > 1.5 ~ scale(z) + C(g) + x:z", data, lam=1.0),
        "frame": ps.svm("z > 0 ~ x", sparse, lam=1.0),
        "scaled": ps.svm("x > 1.5 ~ scale(z) + g", data, standardize=True, lam=1.0),
    }
    return {
        kind: (type(model.design), *written(model.design, type(model.design)))
        for kind, model in models.items()
    }


def planted(stored, payload, everywhere):
    """Copies of a design, the payload at the places where text stands."""
    inner = ["design", "FormulaDesign"] if "design" in stored else []
    is_frame = "named" in stored
    places = [["formula", f"{payload} ~ z"], ["formula", f"({payload}) > 0 ~ z"]]
    if is_frame:
        places += [["columns", [payload]], ["functions", [payload]]]
    else:
        places += [["terms", 1, "factors", 0, "text", payload]]
    if not is_frame and everywhere:
        places += [["terms", 1, "factors", 0, "kind", payload]]
        places += [[part, [payload]] for part in ("columns", "variables", "numeric")]
        places += [["codings", 0, part, payload] for part in (0, 1)]
        places += [["state", payload], ["fields", payload], ["functions", [payload]]]
    for *keys, last, content in places:
        changed = copy.deepcopy(stored)
        part = changed
        for key in (*inner, *keys):
            part = part[key]
        part[last] = content
        yield changed


@pytest.mark.parametrize("kind", ["formula", "frame", "scaled"])
def test_a_payload_planted_in_a_saved_design_is_never_run(kind, data):
    cls, stored, arrays = designs(data)[kind]
    for i, payload in enumerate(HOSTILE):
        for changed in planted(stored, payload, everywhere=i % 8 == 0):
            try:
                design = read(changed, arrays, cls)
                design.matrix(data)
                outcome_of(design.formula, data)
            except Exception:
                continue


@pytest.mark.parametrize("payload", RUNNING[:8] + HOSTILE[-2:], ids=shortened)
@pytest.mark.parametrize("place", ["term", "outcome"])
def test_a_payload_in_a_file_is_refused_when_it_is_loaded(payload, place, data, folder):
    model = ps.svm("x > 1.5 ~ scale(z) + g", data, lam=1.0)
    save(model.fit(ps.Optimum(seed=1), cov_type="none"), folder / "a.model")
    header, arrays = taken_apart(folder / "a.model")
    design = header["object"]["design"]["FormulaDesign"]
    if place == "outcome":
        design["formula"] = f"{payload} ~ scale(z) + g"
    else:
        design["terms"][1]["factors"][0]["text"] = payload
    (folder / "b.model").write_bytes(put_together(header, arrays))
    with pytest.raises(DataError) as caught:
        load(folder / "b.model")
    assert "\n" not in str(caught.value)


def test_no_formula_reaches_an_evaluator_of_text(monkeypatch):
    """Python's and those of formulaic and pandas are shut; all is computed by calls."""
    data = everything()
    models = [ps.svm(formula, data, lam=1.0) for formula in ACCEPTED]

    def shut(*args, **options):
        raise AssertionError("a formula reached an evaluator")

    for owner, name in (
        (builtins, "eval"),
        (builtins, "exec"),
        (evaluating, "stateful_eval"),
        (materializing, "stateful_eval"),
        (pd, "eval"),
        (pd.DataFrame, "eval"),
        (pd.DataFrame, "query"),
    ):
        monkeypatch.setattr(owner, name, shut)
    for formula, model in zip(ACCEPTED, models, strict=True):
        cls = type(model.design)
        again = read(*written(model.design, cls), cls).matrix(data)
        fitted = ps.svm(formula, data, lam=1.0).design.matrix(data)
        np.testing.assert_array_equal(again.values, fitted.values)


HALF = {"half": lambda x: x / 2, "above": lambda x, bound=0.0: x > bound}


def test_functions_of_the_caller_are_called(data):
    given = ps.svm("above(z, bound=0.1) ~ half(x) + g", data, functions=HALF, lam=1.0)
    plain = data.assign(half=data["x"] / 2)
    known = ps.svm("z > 0.1 ~ half + g", plain, lam=1.0)
    solver = ps.Optimum(seed=1)
    ours, theirs = given.fit(solver), known.fit(solver)
    assert given.names == ("half(x)", "g[T.v]", "g[T.w]")
    np.testing.assert_array_equal(ours.params, theirs.params)
    np.testing.assert_array_equal(
        ours.decision_function(data), theirs.decision_function(plain)
    )
    assert str(ours.confusion(data)) == str(theirs.confusion(plain))


@pytest.mark.parametrize("sparse", [False, True])
def test_functions_of_the_caller_are_given_again_to_load(sparse, data, folder):
    formula = "above(z) ~ x" if sparse else "above(z) ~ half(x)"
    if sparse:
        data = data.astype({"x": pd.SparseDtype(float, 0.0)})
    result = ps.logit(formula, data, functions=HALF, lam=1.0).fit(ps.Optimum(seed=1))
    save(result, folder / "a.model")
    with pytest.raises(DataError, match=r"'above', .* load\(path, functions="):
        load(folder / "a.model")
    with pytest.raises(OptionError, match="not allowed; use a dictionary"):
        load(folder / "a.model", functions=["half"])
    with pytest.raises(DataError, match=r"the function 'above', which it does not"):
        load(folder / "a.model", functions={"half": HALF["half"]})
    loaded = load(folder / "a.model", functions=HALF)
    np.testing.assert_array_equal(
        loaded.decision_function(data), result.decision_function(data)
    )
    assert loaded.confusion(data).table.equals(result.confusion(data).table)


@pytest.mark.parametrize("name", ["log", "np", "C", "x", "a.b", "", "lambda", 1])
def test_functions_shadow_nothing(name, data):
    with pytest.raises(OptionError, match=f"the names {name!r}"):
        ps.svm("y ~ x", data, functions={name: abs}, lam=1.0)


@pytest.mark.parametrize("found", ["text", [1.0], None, object(), np.ones((N, 2, 2))])
def test_what_a_function_of_the_caller_returns_is_checked(found, data):
    with pytest.raises(FormulaError, match="one value for each row"):
        ps.svm("y ~ f(x)", data, functions={"f": lambda x: found}, lam=1.0)


def test_an_error_of_a_function_of_the_caller_is_named(data):
    with pytest.raises(FormulaError, match="nosuch"):
        ps.svm("y ~ f(x)", data, functions={"f": lambda x: {}["nosuch"]}, lam=1.0)


def test_what_a_function_gives_without_labels_is_that_of_the_rows_in_order():
    functions = {"twice": lambda x: pd.Series(2.0 * np.asarray(x))}
    data = pd.DataFrame({"y": list("abab"), "x": [1.0, np.nan, 4.0, 2.0]}, [5, 3, 0, 1])
    model = ps.svm("y ~ twice(x) + x", data, functions=functions, lam=1.0)
    assert model.problem.X.tolist() == [[2.0 * x, x] for x in (1.0, 4.0, 2.0)]


@pytest.mark.parametrize("text", ["\\'" * 24_000, "(" * 30_000 + "x" + ")" * 30_000])
def test_what_is_never_closed_or_very_deep_is_read_once(text, data):
    began = time.perf_counter()
    for formula in (f"y ~ x + {text}", f"{text} ~ x"):
        with pytest.raises(FormulaError):
            ps.logit(formula, data)
    assert time.perf_counter() - began < SECONDS

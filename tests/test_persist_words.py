"""Saved models, field by field: what comes back, and the whole word of a refusal."""

import dataclasses
import io
import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.persist import load, save
from pegasos_stats.persist.common import BELOW
from pegasos_stats.persist.container import Container
from pegasos_stats.persist.tree import text_of
from tests.saved_models import as_format_1, put_together, taken_apart

N = 12
rng = np.random.default_rng(0)
X = pd.DataFrame({"a": rng.normal(size=N) - 3.0, "b": 2.0 * rng.normal(size=N)})
Y = pd.Series(["no"] * 8 + ["yes"] * 4, name="y")
WEIGHTS = np.linspace(0.5, 1.5, N)
ORDER = np.array([[3, 1, 2], [0, 4, 5]])
TINY = ps.Bootstrap(replicates=4, seed=3, workers=1)


def linear():
    model = ps.SVM(Y, X, lam=0.1, weights=WEIGHTS, standardize=True)
    return model.fit(ps.Pegasos(order=ORDER, epochs=2), trace=True)


def refined():
    model = ps.logit("y ~ a", X.assign(y=Y), lam=0.01)
    return model.fit(ps.Pegasos(epochs=3, seed=1), refine=1e-3)


def bootstrapped():
    result = ps.SVM(Y, X, lam=0.1).fit(ps.SDCA(tol=1e-8, seed=2))
    result = result.with_covariance(TINY)
    assert len(result.estimated.covariance.estimates) > 0
    return result


def kernel():
    model = ps.KernelSVM(Y, X, gamma=0.5, weights=WEIGHTS, memory=2**20)
    return model.fit(ps.Pegasos(epochs=3, seed=4), trace=True)


def gram():
    K = X.to_numpy() @ X.to_numpy().T
    return ps.KernelSVM(Y, K, kernel="precomputed").fit(ps.Pegasos(epochs=3, seed=5))


FITS = {f.__name__: f for f in (linear, refined, bootstrapped, kernel, gram)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """For each fit its result, path, header and arrays."""
    folder, found = tmp_path_factory.mktemp("saved"), {}
    for name, fit in FITS.items():
        result, path = fit(), folder / name
        save(result, path)
        found[name] = result, path, *taken_apart(path)
    return found


def check_equal(one, other):
    """The same values of the same types, in dataclasses and arrays too."""
    assert type(one) is type(other)
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            check_equal(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    else:
        assert one == other


SAME = "solution solver refinement trace seconds dropped coding seed nobs certificate"


@pytest.mark.parametrize("name", FITS)
def test_all_of_a_fit_comes_back(name, saved):
    result, path, *_ = saved[name]
    loaded = load(path)
    for attribute in SAME.split():
        check_equal(getattr(loaded, attribute), getattr(result, attribute))
    for attribute in ("y", "lam", "loss", "intercept", "weights", "kernel", "memory"):
        if hasattr(result.problem, attribute):
            found = getattr(loaded.problem, attribute)
            check_equal(found, getattr(result.problem, attribute))
    if hasattr(result, "cov_type"):
        check_equal(loaded.cov_type, result.cov_type)
        check_equal(loaded.estimated.remarks, result.estimated.remarks)
        check_equal(loaded.estimated.covariance, result.estimated.covariance)
    table = loaded.training_table.counts
    check_equal(table, result.training_table.counts)
    np.testing.assert_array_equal(loaded.problem.X.shape, result.problem.X.shape)


def test_what_is_saved_is_there(saved):
    assert saved["linear"][0].problem.weights is not None
    assert saved["refined"][0].refinement is not None
    assert {"order", "weights", "trace.gap"} <= set(saved["linear"][3])
    assert "covariance.newton_step" in saved["refined"][3]
    assert "covariance.estimates" in saved["bootstrapped"][3]


def edited(header, place, value):
    """A copy of a header with another value at this place, of pairs the named one."""
    tree = json.loads(json.dumps(header))
    parent = tree["fit"]
    for step in place[:-1]:
        parent = child(parent, step)
    key = place[-1]
    if isinstance(parent, dict) and parent.get("type") == "dict":
        next(pair for pair in parent["value"] if pair[0] == key)[1] = value
    else:
        parent[key] = value
    return tree


def child(parent, step):
    if isinstance(parent, dict) and parent.get("type") == "dict":
        return next(pair[1] for pair in parent["value"] if pair[0] == step)
    return parent[step]


def check_refused(path, content, reason):
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        load(path)
    assert str(caught.value) == (
        f"The file {path} is damaged or incomplete ({reason}); save it again."
    )


NAN = {"type": "float", "value": "nan"}
HEADERS = [
    ("linear", ["shape"], [12], "the shape is [12]"),
    ("linear", ["shape", 0], 0, "a size is 0"),
    ("linear", ["problem", 0], 0.0, "lambda is 0.0"),
    ("linear", ["problem", 0], -0.1, "lambda is -0.1"),
    ("linear", ["problem", 1], "square", "the loss is 'square'"),
    ("linear", ["problem", 2], 1, "the intercept is 1"),
    ("linear", ["alpha"], 1, "the intercept is 1"),
    ("linear", ["refinement"], ["Pegasos", {}], "'Pegasos' refines Pegasos"),
    ("bootstrapped", ["refinement"], ["SDCA", {}], "'SDCA' refines SDCA"),
    ("refined", ["refinement"], ["SDCA"], "the refinement is ['SDCA']"),
    (
        "refined",
        ["refinement"],
        ["SDCA", {"type": "dict", "value": [["tol", 0.1]]}],
        "the options of SDCA are not complete",
    ),
    ("linear", ["solver"], ["SDCA"], "the solver is ['SDCA']"),
    (
        "linear",
        ["solver", 1],
        {"type": "dict", "value": []},
        "the options of Pegasos are not complete",
    ),
    ("linear", ["counts", 0], -1, "steps is -1"),
    ("linear", ["counts", 1], None, "violations is None"),
    ("linear", ["counts", 2], 2**31, "the seed is 2147483648"),
    ("kernel", ["counts", 2], None, "the seed is None"),
    ("refined", ["counts", 2], -(2**31), "the seed is -2147483648"),
    ("linear", ["dropped"], [0], "rows is [0]"),
    ("linear", ["dropped", 1], -1, "rows left out is -1"),
    ("linear", ["seconds"], -1e-9, "the run time is -1e-09"),
    (
        "linear",
        ["training_table"],
        [[8, 0, 0], [3, 0, 0]],
        "the training table counts [[8, 0, 0], [3, 0, 0]], and rows [8, 4]",
    ),
    ("linear", ["training_table", 1], [4, 0], "a row of counts is [4, 0]"),
    (
        "linear",
        ["trace"],
        ["epoch", "gap"],
        "the trace has the columns ['epoch', 'gap']",
    ),
    ("linear", ["trace"], "epoch", "the trace is 'epoch'"),
    (
        "linear",
        ["certificate", "rounding"],
        -1.0,
        "the rounding of the objective is -1.0",
    ),
    ("linear", ["certificate", "rounding"], 0, "the rounding of the objective is 0"),
    (
        "linear",
        ["certificate", "rounding"],
        NAN,
        "the rounding of the objective is nan",
    ),
    (
        "linear",
        ["certificate", "objective"],
        -1.0,
        "the objective is -1.0, its lower bound 0.0",
    ),
    (
        "linear",
        ["certificate", "errors"],
        13,
        "the certificate counts [13, 0, 0] of 12 rows",
    ),
    (
        "linear",
        ["certificate", "at_zero"],
        {"type": "tuple", "value": [5, 4]},
        "the certificate counts [4, 5, 4] of 12 rows",
    ),
    (
        "linear",
        ["certificate", "at_zero"],
        {"type": "tuple", "value": [0]},
        "the certificate counts [4, 0] of 12 rows",
    ),
    ("linear", ["design", "scale"], [1.0], "the scales have shape (1,)"),
    ("linear", ["design", "scale"], [1.0, 0.0], "the scales are not above zero"),
    ("linear", ["design", "scale"], [1.0, -1.0], "the scales are not above zero"),
    (
        "linear",
        ["design", "design", "columns"],
        ["a", "Intercept"],
        "two coefficients have one name",
    ),
    (
        "linear",
        ["design", "design", "columns"],
        ["a", "a"],
        "two coefficients have one name",
    ),
    ("kernel", ["design", "columns"], ["a"], "1 names for 2 columns"),
    ("refined", ["design", "functions"], "half", "functions have the names 'half'"),
    ("refined", ["design", "functions"], ["a b"], "functions have the names ['a b']"),
    ("refined", ["design", "functions"], [3], "functions have the names [3]"),
    ("linear", ["cov_type"], ["Sandwich"], "cov_type is ['Sandwich']"),
    ("linear", ["covariance", 3], "word", "the remarks is 'word'"),
    ("linear", ["covariance", 3], [1], "a remark is 1"),
    ("linear", ["covariance", 2], "matrix", "the names of arrays is 'matrix'"),
    ("linear", ["covariance", 1, "bandwidth"], 0.0, "the width is 0"),
    ("linear", ["covariance", 1, "bandwidth"], -1.0, "the width is -1.0"),
    ("linear", ["covariance", 1, "df"], 0.0, "df is 0.0"),
    ("linear", ["covariance", 1, "df"], NAN, "df is nan"),
    ("linear", ["covariance", 1, "df"], 3, "df is 3"),
    ("linear", ["covariance", 1, "description"], 3, "the description is 3"),
    ("linear", ["covariance", 1, "newton_step"], 3, "3 is no array"),
    ("bootstrapped", ["covariance", 1, "n_left_out"], 1, "5 of 4 resamples are there"),
    ("bootstrapped", ["covariance", 1, "n_left_out"], -1, "a count is -1"),
    ("bootstrapped", ["covariance", 1, "n_not_converged"], 5, "a count is 5"),
    ("bootstrapped", ["covariance", 1, "seed"], 2**31, "the seed is 2147483648"),
    ("bootstrapped", ["covariance", 1, "distance"], 1, "1 is no distance"),
    ("bootstrapped", ["covariance", 1, "relative_gap"], None, "None is no distance"),
    ("kernel", ["kernel"], [{}], "the kernel is [{}]"),
    ("kernel", ["kernel", 1], 0, "memory is 0"),
    ("kernel", ["kernel", 1], 1.0, "memory is 1.0"),
    ("kernel", ["counts", 0], 0, "a count is below zero, or a score not finite"),
    ("gram", ["design", "columns"], ["a", "b"], "columns are not 12 of 2"),
    ("kernel", ["coding", "name"], 3, "3 is coded by the rule 'factor'"),
    ("kernel", ["coding", "rule"], "own", "'y' is coded by the rule 'own'"),
]


@pytest.mark.parametrize(("name", "place", "value", "reason"), HEADERS, ids=str)
def test_a_field_that_is_not_as_written_is_named(
    name, place, value, reason, saved, tmp_path
):
    header, arrays = saved[name][2:]
    content = put_together(edited(header, place, value), arrays)
    check_refused(tmp_path / "a", content, reason)


def test_fields_and_arrays_are_all_there_and_no_other(saved, tmp_path):
    for name, own in (("linear", {"cov_type", "covariance"}), ("kernel", {"kernel"})):
        _, _, header, arrays = saved[name]
        for fit in (
            header["fit"] | {"further": 1},
            dict(list(header["fit"].items())[1:]),
        ):
            (tmp_path / "a").write_bytes(put_together(header | {"fit": fit}, arrays))
            with pytest.raises(DataError) as caught:
                load(tmp_path / "a")
            said = str(caught.value)
            begin = f"The file {tmp_path / 'a'} is damaged or incomplete (the fit has "
            assert said.startswith(f"{begin}not the fields ")
            for field in own:
                assert field in said


def at(place, value):
    """Change one number of an array."""

    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


NOT_FINITE = "the covariance is not finite"
ARRAYS = [
    ("linear", "y", lambda y: y * 2, "y holds other numbers than -1 and 1"),
    ("linear", "y", at(0, 0), "y holds other numbers than -1 and 1"),
    ("linear", "y", lambda y: y * 0 + 1, "y holds other numbers than -1 and 1"),
    ("linear", "weights", at(0, -0.5), "weights do not have the mean 1"),
    ("linear", "weights", lambda w: w * 1.00001, "weights do not have the mean 1"),
    ("linear", "weights", lambda w: w * 0.99999, "weights do not have the mean 1"),
    ("linear", "beta", at(1, np.inf), "a coefficient is not finite"),
    ("linear", "dual", at(3, np.nan), "a coefficient is not finite"),
    ("linear", "covariance.matrix", at((0, 1), np.inf), NOT_FINITE),
    ("linear", "covariance.matrix", at((0, 1), np.nan), NOT_FINITE),
    (
        "bootstrapped",
        "covariance.estimates",
        at((0, 0), np.nan),
        "a resample is not finite",
    ),
    (
        "bootstrapped",
        "covariance.covariance",
        at((1, 1), -1.0),
        "a variance is below zero",
    ),
    (
        "bootstrapped",
        "covariance.estimate",
        lambda v: v[1:],
        "covariance.estimate has shape (2,) and type float64",
    ),
    (
        "kernel",
        "counts",
        at(2, -1),
        "a count is below zero, or a score not finite",
    ),
    ("kernel", "g", at(2, np.inf), "a count is below zero, or a score not finite"),
    ("kernel", "support", at((0, 0), np.nan), "a support row is not finite"),
    ("gram", "columns", at(0, 1), "columns are not 12 of 12"),
    ("gram", "columns", at(0, -1), "columns are not 12 of 12"),
    ("gram", "columns", at(0, 12), "columns are not 12 of 12"),
    ("gram", "columns", lambda c: c[:-1], "columns has shape (11,) and type int64"),
    ("gram", "further", lambda _: np.ones(3), "further is no part of it"),
]


@pytest.mark.parametrize(("name", "array", "change", "reason"), ARRAYS)
def test_an_array_that_is_not_as_written_is_named(
    name, array, change, reason, saved, tmp_path
):
    header, arrays = saved[name][2:]
    changed = arrays | {array: change(arrays.get(array))}
    check_refused(tmp_path / "a", put_together(header, changed), reason)


def test_what_may_differ_a_little_does(saved, tmp_path):
    path = tmp_path / "a"

    def loads(name, header, arrays):
        path.write_bytes(put_together(header, arrays))
        return load(path)

    _, _, header, arrays = saved["linear"]
    for factor in (1.0 - 5e-7, 1.0 + 5e-7):
        loads("linear", header, arrays | {"weights": arrays["weights"] * factor})
    undefined = arrays | {"covariance.matrix": np.full((3, 3), np.nan)}
    assert np.isnan(loads("linear", header, undefined).bse).all()
    for seed in (-(2**31) + 1, 2**31 - 1):
        header = edited(saved["kernel"][2], ["counts", 2], seed)
        assert loads("kernel", header, saved["kernel"][3]).seed == seed
    limits = edited(saved["kernel"][2], ["kernel", 1], 1)
    assert loads("kernel", limits, saved["kernel"][3]).problem.memory == 1


@pytest.mark.parametrize("objective", [0.5, 50.0])
@pytest.mark.parametrize("share", [0.99, 1.01])
@pytest.mark.filterwarnings("ignore:The model was saved in format 1")
def test_a_dual_is_above_its_objective_by_a_little_and_in_format_1_alone(
    objective, share, saved, tmp_path
):
    _, _, header, arrays = saved["linear"]
    dual = objective + share * BELOW * max(1.0, objective)
    header = edited(header, ["certificate", "objective"], objective)
    header = edited(header, ["certificate", "dual_objective"], dual)
    reason = f"the objective is {objective}, its lower bound {dual}"
    check_refused(tmp_path / "a", put_together(header, arrays), reason)
    content = as_format_1(header, arrays)
    if share > 1.0:
        check_refused(tmp_path / "a", content, reason)
        return
    (tmp_path / "a").write_bytes(content)
    assert load(tmp_path / "a").certificate.dual_objective == 0.0


@pytest.mark.parametrize("above", [False, True])
def test_a_dual_is_at_most_its_objective(above, saved, tmp_path):
    _, _, header, arrays = saved["linear"]
    dual = np.nextafter(0.5, 1.0) if above else 0.5
    header = edited(header, ["certificate", "objective"], 0.5)
    header = edited(header, ["certificate", "dual_objective"], float(dual))
    content = put_together(header, arrays)
    if above:
        reason = f"the objective is 0.5, its lower bound {float(dual)}"
        check_refused(tmp_path / "a", content, reason)
        return
    (tmp_path / "a").write_bytes(content)
    assert load(tmp_path / "a").gap == 0.0


def test_functions_that_no_file_holds_are_named_with_what_to_give(tmp_path):
    data = X.assign(y=Y)
    given = {"half": lambda x: x / 2}
    one = ps.svm("y ~ half(a)", data, functions=given)
    save(one.fit(ps.SDCA(seed=1)), tmp_path / "1")
    with pytest.raises(DataError) as caught:
        load(tmp_path / "1")
    assert str(caught.value) == (
        "The formula of the model calls the function 'half', which no file holds; give "
        "load(path, functions={'half': half})."
    )
    given["above"] = lambda x: x > -3
    both = ps.svm("y ~ half(a) + above(b)", data, functions=given)
    save(both.fit(ps.SDCA(seed=1)), tmp_path / "2")
    with pytest.raises(DataError) as caught:
        load(tmp_path / "2")
    assert str(caught.value) == (
        "The formula of the model calls the functions 'above', 'half', which no file "
        "holds; give load(path, functions={'above': above, 'half': half})."
    )


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_none_of_json(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        text_of({"a": [float(number)]}, 0)


@pytest.mark.parametrize("what", [3, ps.SVM(Y, X), None])
def test_what_is_no_fit_is_not_saved(what, tmp_path):
    with pytest.raises(DataError) as caught:
        save(what, tmp_path / "a")
    kind = type(what).__name__
    assert str(caught.value) == f"A {kind} cannot be saved; give what fit() returns."


@pytest.mark.parametrize(
    ("size", "most"),
    [(1, 64 * 2**20), (2**20, 64 * 2**20), (3 * 2**20, 32 * 3 * 2**20)],
)
def test_a_compressed_file_may_inflate_to_64_mib_or_32_times_its_size(size, most):
    content = as_format_1({}, {"a": np.zeros(size, np.uint8)}, compress=False)
    found = Container(io.BytesIO(content)).most_memory
    assert most <= found <= most * (1.0 + 1000.0 / size)


def test_a_sealed_file_does_not_inflate():
    content = put_together({}, {"a": np.zeros(1)})
    assert Container(io.BytesIO(content)).most_memory == np.inf


@pytest.mark.parametrize("about", ["text", [1], 3])
def test_facts_are_a_dictionary(about, saved, tmp_path):
    with pytest.raises(OptionError) as caught:
        save(saved["gram"][0], tmp_path / "a", about=about)
    assert str(caught.value) == (
        f"about={about!r} is not allowed; give a dictionary of names and facts, such "
        "as {'study': 'pilot'}."
    )


TERMS = [
    (
        "a.to_pickle('x')",
        "it calls the method 'to_pickle', which is not known; allowed are columns, "
        "numbers, text, arithmetic, comparisons and functions such as log, np.sqrt, "
        "scale and poly; compute other columns in the data before, or give "
        "functions={'name': f}.",
    ),
    ("log(", "it cannot be used: '(' was never closed in 'log('."),
    ("b + c", "it uses 'b', 'c', which is no column of the model."),
]


@pytest.mark.parametrize(("term", "reason"), TERMS)
def test_a_term_that_is_none_of_the_language_is_named(term, reason, saved, tmp_path):
    _, _, header, arrays = saved["refined"]
    terms = [[["1", "literal", "unknown"]], [[term, "python", "unknown"]]]
    tree = edited(header, ["design", "spec", "terms"], terms)
    (tmp_path / "a").write_bytes(put_together(tree, arrays))
    with pytest.raises(DataError) as caught:
        load(tmp_path / "a")
    assert str(caught.value) == (
        f"The term {term!r} cannot be part of a saved model: {reason}"
    )


def test_an_outcome_that_is_none_of_the_language_is_named(saved, tmp_path):
    _, _, header, arrays = saved["refined"]
    term, reason = TERMS[0]
    tree = edited(header, ["design", "formula"], f"{term} ~ a")
    (tmp_path / "a").write_bytes(put_together(tree, arrays))
    with pytest.raises(DataError) as caught:
        load(tmp_path / "a")
    formula = f"{term} ~ a"
    assert str(caught.value) == (
        f"The formula {formula!r} cannot be part of a saved model: {reason}"
    )

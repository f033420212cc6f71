"""Saved models, field by field: what comes back, and the whole word of a refusal."""

import dataclasses
import io
import warnings

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning, DataError, OptionError
from pegasos_stats.models.persist import load, save
from pegasos_stats.models.persist.archive import unpacked_archive
from pegasos_stats.models.persist.header import text_of, tree_of
from tests.models.saved_fits import FITS, X, Y, check_refused, edited, saved_in
from tests.models.saved_models import put_together


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_in(tmp_path_factory.mktemp("saved"))


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
        check_equal(loaded.estimated, result.estimated)
    table = loaded.training_table.counts
    check_equal(table, result.training_table.counts)
    np.testing.assert_array_equal(loaded.problem.X.shape, result.problem.X.shape)


def test_what_is_saved_is_there(saved):
    assert saved["linear"][0].problem.weights is not None
    assert saved["refined"][0].refinement is not None
    assert {"order", "weights", "trace.gap"} <= set(saved["linear"][3])
    assert "covariance.newton_step" in saved["refined"][3]
    assert "covariance.estimates" in saved["bootstrapped"][3]


def test_fields_and_arrays_are_all_there_and_no_other(saved, tmp_path):
    linear = {"cov_type", "covariance", "groups"}
    for name, own in (("linear", linear), ("kernel", {"kernel"})):
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isnan(loads("linear", header, undefined).bse).all()
    for seed in (-(2**31) + 1, 2**31 - 1):
        header = edited(saved["kernel"][2], ["counts", 2], seed)
        assert loads("kernel", header, saved["kernel"][3]).seed == seed
    limits = edited(saved["kernel"][2], ["kernel", 1], 1)
    assert loads("kernel", limits, saved["kernel"][3]).problem.memory == 1


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
    one = ps.svm("y ~ half(a)", data, functions=given, lam=1.0)
    save(one.fit(ps.SDCA(seed=1)), tmp_path / "1")
    with pytest.raises(DataError) as caught:
        load(tmp_path / "1")
    assert str(caught.value) == (
        "The formula of the model calls the function 'half', which no file holds; give "
        "load(path, functions={'half': half})."
    )
    given["above"] = lambda x: x > -3
    both = ps.svm("y ~ half(a) + above(b)", data, functions=given, lam=1.0)
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


@pytest.mark.parametrize("place", ["name", "value"])
def test_half_a_character_is_named_before_a_file_is_written(place):
    tree = {"\ud800": 1} if place == "name" else {"a": ["é", "\udfff"]}
    with pytest.raises(ValueError, match=r"^it has half a character \(a lone"):
        text_of(tree, 0)
    assert text_of({"é": "ü"}, 0).decode() == '{"é": "ü"}'


@pytest.mark.parametrize("what", [3, ps.SVM(Y, X, lam=1.0), None])
def test_what_is_no_fit_is_not_saved(what, tmp_path):
    with pytest.raises(DataError) as caught:
        save(what, tmp_path / "a")
    kind = type(what).__name__
    assert str(caught.value) == f"A {kind} cannot be saved; give what fit() returns."


@pytest.mark.parametrize("about", ["text", [1], 3])
def test_facts_are_a_dictionary(about, saved, tmp_path):
    with pytest.raises(OptionError) as caught:
        save(saved["gram"][0], tmp_path / "a", about=about)
    assert str(caught.value) == (
        f"about={about!r} is not allowed; give a dictionary of names and facts, such "
        "as {'study': 'pilot'}."
    )


@pytest.mark.parametrize("width", [0, 3, 1000])
def test_a_header_has_four_mib_and_a_kib_for_every_row_or_column(width):
    most = 4 * 2**20 + 1024 * width
    assert tree_of(b"{}".ljust(most), width) == {}
    with pytest.raises(ValueError, match=f"its header has {most + 1:,} bytes"):
        tree_of(b"{}".ljust(most + 1), width)
    content = put_together(b"{}".ljust(most + 1), {"a": np.zeros(width)})
    with pytest.raises(ValueError, match=rf"its header has the shape \({most + 1},\)"):
        unpacked_archive(io.BytesIO(content))


def test_facts_that_hold_themselves_are_refused(saved, tmp_path):
    itself = {}
    itself["itself"] = itself
    with pytest.raises(OptionError) as caught:
        save(saved["gram"][0], tmp_path / "a", about=itself)
    assert str(caught.value) == (
        "about= holds itself, or is nested too deeply; give a dictionary of names and "
        "facts, such as {'study': 'pilot'}."
    )


def test_notes_on_the_penalty_come_back(tmp_path):
    """They are about the training rows, which are not in the file."""
    data = pd.DataFrame({"a": np.arange(60.0), "y": np.arange(60) * 7 % 60 > 25})
    result = ps.logit("y ~ a", data, lam=50.0).fit(ps.SDCA(tol=1e-8, seed=1))
    assert any("calibration slope" in note.text for note in result.notes)
    save(result, tmp_path / "a")
    assert load(tmp_path / "a").notes == result.notes
    assert str(load(tmp_path / "a").summary()) == str(result.summary())

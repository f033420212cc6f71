"""A user's own fit in Python and in R, whatever R is at hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import DataError, DependencyError, OptionError
from pegasos_stats.studies import parity
from pegasos_stats.studies.parity import checked_in, setup_of


@pytest.fixture(scope="module")
def data():
    """Unbalanced and weighted, with gaps, a factor and text of both cases."""
    draw = np.random.default_rng(4)
    n = 40
    x = draw.normal(size=n) - 0.7
    frame = {
        "y": np.where(x + draw.normal(size=n) > 0.0, "b", "A"),
        "x": np.where(draw.random(n) < 0.1, np.nan, x),
        "g": draw.choice(["u", "v", 'w"s'], n),
        "w": draw.uniform(0.0, 3.0, n),
        "o": draw.normal(size=n),
    }
    return pd.DataFrame(frame)


@pytest.fixture(scope="module")
def model(data):
    return ps.svm("y ~ x*g + offset(o)", data, lam=0.05, weights="w")


def found(r, model, solver):
    return checked_in(r, setup_of(model, solver))


def test_the_fits_of_the_reference_are_the_same(r, model, data):
    """Weights, offset and missing rows; a start; batches; sparse; SDCA; kernels."""
    kernel = ps.kernel_svm("y ~ x + g", data, lam=0.1, gamma=0.5)
    X = csr_array(np.where(data[["w", "o"]] > 0.5, data[["w", "o"]], 0.0))
    dates = pd.to_datetime(np.where(data["y"] == "b", "2020-01-02", "2019-05-01"))
    dates = pd.Categorical(dates, sorted(set(dates), reverse=True))
    runs = [
        (model, ps.Pegasos(3, seed=443)),
        (model, ps.Pegasos(2, seed=1, batch_size=7, average="all", start="random")),
        (model, ps.Pegasos(order="replace", steps=50, seed=2, refit_intercept=True)),
        (model, ps.Pegasos(order=np.array([[3, 1], [0, 2]]), tol=0.5, seed=1)),
        (ps.SVM(data["y"], X, coding="first-seen", lam=1.0), ps.Pegasos(2, seed=-3)),
        (ps.SVM(dates, X.toarray(), lam=0.2), ps.Pegasos(2, seed=5)),
        (ps.SVM(data["y"], X, intercept=False, lam=1.0),
         ps.SDCA(seed=4, tol=1e-2)),
        (ps.SVM(data["y"], X, intercept=False, lam=1.0),
         ps.SDCA(seed=4, tol=0.1, average="all")),
        (ps.SVM(data["y"], X, intercept=False, lam=1.0),
         ps.SDCA(5, tol=0, seed=4, random_stop=2)),
        (kernel, ps.Pegasos(2, seed=3)),
    ]  # fmt: skip
    for model, solver in runs:
        one = found(r, model, solver)
        assert one.equal, one
        assert one.verdict == "Python and R are the same in every bit.", one
        assert (one.parting, one.reason) == ("", "")
    assert one.table.loc["rows drawn", "python"] == f"{2 * model.problem.n} rows"


def test_what_is_shown(r, model):
    one = found(r, model, ps.Pegasos(1, seed=443))
    n = model.problem.n
    names = ["levels", "coding of the outcome", "weights", "rows drawn", "steps"]
    names += ["violations", "coefficients", "dual weights", "intercept", "scores"]
    assert list(one.table.index) == [*names, "confusion table"]
    assert one.table.loc["levels"].tolist() == ["A, b", "A, b", "every bit"]
    assert one.table.loc["steps"].tolist() == [str(n), str(n), "every bit"]
    fit = model.fit(ps.Pegasos(1, seed=443))
    assert one.ran_r["beta"].tolist() == fit.params.iloc[1:].tolist()
    text, html = str(one), one._repr_html_()
    assert text.splitlines()[0] == "Pegasos in Python and in R"
    assert text.endswith("Python and R are the same in every bit.")
    assert "confusion table" in html
    assert one.to_json_dict()["equal"] is True


def test_the_log_loss_is_the_same_to_rounding_at_most(r, data):
    one = found(r, ps.logit("y ~ o + w", data, lam=2.0), ps.Pegasos(2, seed=443))
    assert one.equal, one
    assert one.table.loc["rows drawn", "same"] == "every bit"


@pytest.fixture
def changed(r):
    """Give a function of the reference another definition, for one test."""
    names = []

    def change(name, code):
        names.append(name)
        r.eval(f"kept_{name} <- {name}\n{name} <- {code}\nNULL")

    yield change
    for name in names:
        r.eval(f"{name} <- kept_{name}\nNULL")


def test_another_kind_of_sampling_is_named(r, model, changed):
    changed(
        "seed_generator", "function(seed, kind) kept_seed_generator(seed, 'Rounding')"
    )
    one = found(r, model, ps.Pegasos(2, seed=443))
    assert not one.equal
    assert one.table.loc["rows drawn", "same"] == "differs"
    assert one.table.loc["weights", "same"] == "every bit"
    assert one.parting.startswith("Step 1 visits row ")
    assert "RNGkind" in one.reason


def test_another_order_of_levels_is_named(r, model, changed):
    """R in a locale where a comes before B; a pair is taken as it is given."""
    changed(
        "label_levels",
        "function(labels, coding = 'factor') "
        "{ found <- kept_label_levels(labels, coding)\n"
        "if (length(coding) == 1) rev(found) else found }",
    )
    one = found(r, model, ps.Pegasos(2, seed=443))
    assert one.table.loc["levels"].tolist() == ["A, b", "b, A", "differs"]
    assert list(one.table.index[one.table["same"] == "differs"]) == ["levels"]
    assert one.reason.startswith("Another order of levels: R sorts text by its locale")
    assert one.parting == (
        "Before the first step: the classes are ['A', 'b'] here, ['b', 'A'] in R."
    )


def test_another_order_of_summation_is_named(r, changed):
    """A margin that is 1 from the left, and a bit less than that in another order."""
    X = np.array([[0.1, 0.2, 0.3], [1.0, 1.0, 1.0]])
    start = np.array([2.0, 1.0, 2.0])
    assert (0.1 * 2.0 + 0.2 * 1.0) + 0.3 * 2.0 == 1.0
    model = ps.SVM(["b", "a"], X, lam=0.5, intercept=False)
    solver = ps.Pegasos(order=np.array([0]), start=start, step=0.1, seed=1)
    setup = setup_of(model, solver)
    one = checked_in(r, setup)
    assert one.equal, one
    for name in ("batch_gradient", "scores"):  # wherever R sums x'beta
        changed(
            name,
            f"eval(parse(text = sub('%*% beta', '%*% beta * (1 - 2^-50)', "
            f"deparse({name}), fixed = TRUE)))",
        )
    one = checked_in(r, setup)
    assert one.table.loc["violations"].tolist() == ["0", "1", "differs"]
    assert one.parting.startswith("First after step 1, at row 1; coefficients: ")
    assert "the BLAS of R is" in one.reason


def test_what_the_reference_lacks_is_refused(model, data, tmp_path):
    file = tmp_path / "rows.csv"
    data.dropna().to_csv(file, index=False)
    plain = ps.svm("y ~ o - 1", data, lam=1.0)
    kernel = ps.kernel_svm("y ~ o", data, lam=1.0)
    said = {
        "is not in the R reference": (model, ps.Pegasos(arithmetic="fast")),
        "has only Pegasos and SDCA": (plain, ps.Optimum()),
        "SDCA only for linear models": (kernel, ps.SDCA()),
        "does not read files": (ps.svm("y ~ o", ps.scan(file), lam=1.0), None),
        "model is of type LinearResults": (plain.fit(ps.Pegasos(1, seed=1)), None),
    }
    for words, (each, solver) in said.items():
        with pytest.raises(OptionError, match=words):
            setup_of(each, solver)


def test_without_r_there_is_an_error_of_ours(model, monkeypatch):
    monkeypatch.setattr(parity.shutil, "which", lambda name: None)
    with pytest.raises(DependencyError) as caught:
        ps.check_against_r(model, ps.Pegasos(1, seed=1))
    assert str(caught.value) == (
        "R is not available: Rscript is missing; install R (in Debian r-base-core), "
        "and put Rscript on the PATH."
    )


def test_rscript_gives_the_same(r, model):
    """`r` says whether R is to be there at all."""
    solver = ps.Pegasos(1, seed=443)
    one = ps.check_against_r(model, solver)
    with pytest.raises(DataError, match=r"R stopped: no such thing\.$"):
        parity.R().eval("stop('no such thing')")
    assert one.equal, one
    other = found(r, model, solver)
    pd.testing.assert_frame_equal(one.table, other.table)
    assert one.ran_r["beta"].tolist() == other.ran_r["beta"].tolist()


def test_the_generator_of_an_embedded_r_is_left_as_it_was(r, model):
    r.eval("set.seed(7)")
    before = r.eval("list(.Random.seed, RNGkind())")
    assert found(r, model, ps.Pegasos(1, seed=1)).equal
    after = r.eval("list(.Random.seed, RNGkind())")
    for one, other in zip(before, after, strict=True):
        assert one.tolist() == other.tolist()


def test_values_go_to_r_and_back_in_every_bit(r):
    numbers = np.array([0.1, -0.0, 5e-324, np.inf, np.nan, -1.7976931348623157e308])
    values = {
        "numbers": numbers,
        "matrix": np.arange(6.0).reshape(2, 3),
        "whole": np.array([-(2**31) + 1, 2**31 - 1]),
        "large": np.array([2**53, -(2**40)]),
        "flags": np.array([True, False]),
        "text": np.array(["é", 'a"b\\n\n', ""], dtype=object),
        "nothing": None,
        "inner": {"a": np.array([1]), "b": {}},
    }
    back = r.call("identity", values)
    for name in ("numbers", "matrix", "whole", "flags", "text"):
        assert np.array_equal(back[name], values[name], equal_nan=name == "numbers")
        assert back[name].dtype == values[name].dtype
    assert np.signbit(back["numbers"][1])
    assert back["large"].tolist() == [2.0**53, -(2.0**40)]
    assert back["nothing"] is None
    assert (back["inner"]["a"].tolist(), back["inner"]["b"]) == ([1], [])
    assert r.eval("c(NA, 2L)")[1] == 2.0
    assert r.eval("c(NA, TRUE, FALSE)").tolist() == [None, True, False]
    assert r.eval("c('a', NA)").tolist() == ["a", None]
    holes = pd.Series(["b", None, "a"], dtype=pd.CategoricalDtype(["b", "a"]))
    assert r.call("levels", holes).tolist() == ["b", "a"]
    assert r.call("identity", holes).tolist() == ["b", None, "a"]
    assert r.call("is.na", pd.Series([1.5, None])).tolist() == [False, True]
    with pytest.raises(DataError, match="cannot be returned"):
        r.eval("function(x) x")
    for value, wrong in (("a\0b", "R stopped"), (2**53 + 1, "beyond 2")):
        with pytest.raises(DataError, match=wrong):
            r.call("identity", value)


def test_a_function_is_found_behind_a_variable_of_its_name(r):
    r.set("nchar", np.array([1.0]))
    assert r.call("nchar", "abc") == 3
    assert r.eval("nchar") == 1.0
    r.eval("rm(nchar)")


def test_coefficients_that_differ_are_reported(r, model, monkeypatch):
    setup = setup_of(model, ps.Pegasos(2, seed=443))
    real = parity.in_r

    def other(r, setup):
        found = real(r, setup)
        return found | {"beta": np.where(np.arange(5) == 2, 0.0, found["beta"])}

    monkeypatch.setattr(parity, "in_r", other)
    one = checked_in(r, setup)
    assert list(one.table.index[one.table["same"] == "differs"]) == ["coefficients"]
    assert one.verdict == "Python and R differ in: coefficients."
    assert one.parting.startswith("First after step ")
    assert "the BLAS of R is" in one.reason

"""Models in files: everything comes back, bit for bit, and bad files are refused."""

import datetime
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.persist import load, load_saved, save
from pegasos_stats.persist.fits import without_rows
from tests.persist import parts
from tests.persist.fits import FITS, saved_in
from tests.persist.parts import taken_apart

pytestmark = pytest.mark.slow

N = 60


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "y": rng.integers(0, 2, N),
            "a": rng.normal(size=N),
            "b": rng.normal(size=N),
            "g": rng.choice(list("uvw"), N),
            "k": rng.integers(1, 4, N),
            "h": rng.random(N) < 0.5,
        }
    )
    frame["my col"] = frame["a"] ** 2
    frame["c"] = pd.Categorical(frame["g"], categories=list("wvux"), ordered=True)
    frame["i"] = pd.cut(frame["a"], 3)
    frame["n"] = frame["k"].astype("Int64")
    frame["g2"] = frame["g"].astype("category")
    return frame


def back(result, folder, name="a.model"):
    assert result.shortfall.at_least >= 0.0  # computed before it is saved
    save(result, folder / name)
    return load(folder / name)


def fitted(formula, frame, **options):
    return ps.svm(formula, frame, **{"lam": 1.0, **options}).fit(
        ps.Pegasos(epochs=2, seed=1), cov_type="none"
    )


def check_same(loaded, result, new):
    assert type(loaded) is type(result)
    for ask in ("decision_function", "predict"):
        pair = getattr(loaded, ask)(new), getattr(result, ask)(new)
        pd.testing.assert_series_equal(*pair, check_exact=True)
    for name in ("objective", "gap", "seed", "nobs", "dropped"):
        assert getattr(loaded, name) == getattr(result, name)
    assert repr(loaded) == repr(result)
    assert str(loaded.summary()) == str(result.summary())


# Designs of all kinds are read again in tests/data; here they are those of fits.
FORMULAS = [
    "y ~ a + k + h + C(k)",
    "y ~ scale(a) + poly(b, 3) + bs(a, df=5)",
    "y ~ g:a + `my col` - 1",
    "y ~ C(c, contr.poly) + c:h",
    "k > 1 ~ a + g2",
    "y ~ i + n + a",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_come_back(formula, data, tmp_path):
    result = fitted(formula, data)
    new = data.sample(N // 2, random_state=3)
    loaded = back(result, tmp_path)
    check_same(loaded, result, new)
    assert loaded.params.equals(result.params)
    tables = loaded.confusion(new), result.confusion(new)
    assert str(tables[0].table) == str(tables[1].table)
    known = data.reset_index(drop=True)  # all rows in their order, by their digest
    assert str(loaded.confusion(known)) == str(result.confusion(known))


def test_a_loaded_formula_checks_levels_and_columns(data, tmp_path):
    loaded = back(fitted("y ~ a + g", data), tmp_path)
    with pytest.raises(DataError, match="did not occur at fit, 'z'"):
        loaded.predict(data.assign(g="z"))
    with pytest.raises(DataError, match="'a' not found"):
        loaded.predict(data[["g"]])


LABELS = {
    "int8": pd.Series([3, 8] * 30, dtype="int8"),
    "float32": pd.Series([0.1, 0.2] * 30, dtype="float32"),
    "bool": pd.Series([True, False] * 30),
    "str": pd.Series(["männlich", "weiblich"] * 30),
    "string": pd.Series(["no", "yes"] * 30, dtype="string"),
    "Int64": pd.Series([1, 2] * 30, dtype="Int64"),
    "boolean": pd.Series([True, False] * 30, dtype="boolean"),
    "ordered": pd.Series(pd.Categorical(["u", "v"] * 30, list("vxu"), ordered=True)),
    "int category": pd.Series([7, 5] * 30, dtype="category"),
    "zone": pd.Series(pd.to_datetime(["2001-01-01", "2002-02-02"] * 30, utc=True)),
    "timedelta": pd.Series(pd.to_timedelta([1, 2] * 30, unit="h")),
    "date": pd.Series([datetime.date(2001, 1, 1), datetime.date(2002, 2, 2)] * 30),
    "interval": pd.Series(pd.cut([0.0, 1.0] * 30, 2)),
    "period": pd.Series(pd.PeriodIndex(["2001-01", "2001-02"] * 30, freq="M")),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_with_their_type(kind, data, tmp_path):
    model = ps.SVM(LABELS[kind], data[["a", "b"]], lam=1.0)
    result = model.fit(ps.Pegasos(epochs=2, seed=1), cov_type="none")
    loaded = back(result, tmp_path)
    assert loaded.coding == result.coding
    levels = loaded.coding.levels, result.coding.levels
    assert [*map(type, levels[0])] == [*map(type, levels[1])]
    check_same(loaded, result, data[["a", "b"]])
    holes = data[["a", "b"]].mask(data["a"] > 1)
    pd.testing.assert_series_equal(loaded.predict(holes), result.predict(holes))


PAIRS = pd.MultiIndex.from_tuples([("x", 1), ("x", 2)])
INPUTS = {
    "numbered columns": lambda X: X.set_axis([1, 2], axis=1),
    "two-level columns": lambda X: X.set_axis(PAIRS, axis=1),
    "float32": lambda X: X.to_numpy(dtype=np.float32),
    "sparse": csr_array,
    "sparse frame": lambda X: X.round().astype(pd.SparseDtype(float, 0.0)),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_predictors_of_every_form_come_back(kind, data, tmp_path):
    X = INPUTS[kind](data[["a", "b"]])
    model = ps.SVM(data["y"].to_numpy(), X, lam=1.0)
    result = model.fit(ps.Pegasos(epochs=2, seed=1), cov_type="none")
    loaded = back(result, tmp_path)
    check_same(loaded, result, X)
    assert loaded.coef.equals(result.coef)


SOLVERS = [
    ps.Pegasos.paper(40, batch_size=3, project=True, seed=2),
    ps.Pegasos(epochs=3, seed=1, average=2, refit_intercept=True, ties="positive"),
    ps.Pegasos(epochs=1, sample_kind="rounding"),
    ps.Pegasos(order=[0, 7], start=[0.1, -5.0, 1 / 3], step=[1 / 3, 0.5]),
    ps.Pegasos(seed=1, tol=0.9, change_tol=0.5, start="random", first_step=9),
]


@pytest.mark.parametrize("solver", SOLVERS)
def test_options_of_the_solver_come_back(solver, data, tmp_path):
    result = ps.logit("y ~ a + b", data, lam=0.1).fit(solver, trace=True)
    loaded = back(result, tmp_path)
    check_same(loaded, result, data)
    parts.check_same(vars(loaded.solver), vars(solver))
    assert loaded.trace.equals(result.trace)


def test_saving_solves_nothing(data, tmp_path, monkeypatch):
    """What is not known of the minimum is what the certificate says."""
    result = fitted("y ~ a + b", data)
    refuse = "pegasos_stats.models.results.shortfall_of"
    monkeypatch.setattr(refuse, lambda *given: pytest.fail("solved again"))
    save(result, tmp_path / "a.model")
    near = load(tmp_path / "a.model").shortfall
    assert (near.at_least, near.at_most) == (0.0, result.gap)


def content(result, path):
    """Bytes of the file of an object."""
    save(result, path)
    return path.read_bytes()


def test_saving_draws_no_resamples(data, tmp_path, monkeypatch):
    """The file has the standard errors of an SVM if they were computed before."""
    result, path = ps.svm("h ~ a + b + k", data, lam=0.1).fit(), tmp_path / "a.model"
    assert result.coef.any()  # else there are no standard errors
    with monkeypatch.context() as patch:
        drawn = "pegasos_stats.models.linear_results.bootstrap"
        patch.setattr(drawn, lambda *given: pytest.fail("drawn"))
        before = content(result, path)
        assert content(result, path) == before
    text = " ".join(str(load(path).summary()).split())
    assert "not saved with the fit" in text
    assert "call conf_int() before ps.save()" in text
    result.conf_int()
    after = content(result, path)
    assert after == content(load(path), tmp_path / "b.model") != before
    assert load(path).bse.equals(result.bse)
    assert str(load(path).summary()) == str(result.summary())


def test_saving_keeps_better_bounds_that_a_summary_showed(data, tmp_path):
    result, path = fitted("y ~ a + b", data), tmp_path / "a.model"
    before = content(result, path)
    result.summary()
    after = content(result, path)
    assert after == content(result, path) != before
    assert load(path).shortfall == result.shortfall
    assert load(path).shortfall.at_least > 0.0


def test_a_sandwich_is_computed_for_the_file(data, tmp_path):
    result = ps.svm("y ~ a + b", data, lam=1.0).fit(cov_type="sandwich")
    before = content(result, tmp_path / "a.model")
    assert load(tmp_path / "a.model").bse.equals(result.bse)
    assert content(result, tmp_path / "a.model") == before


def test_kernel_models_come_back(data, tmp_path):
    options = {"kernel": "polynomial", "degree": 3, "offset": 0}
    model = ps.kernel_svm("y ~ a + b + g", data, lam=5.0, **options)
    result = model.fit(ps.Pegasos(epochs=3, seed=1))
    loaded = back(result, tmp_path)
    check_same(loaded, result, data.sample(20, random_state=1))
    assert loaded.n_support == result.n_support
    assert loaded.dual_coef.tolist() == result.dual_coef.tolist()
    with pytest.raises(DataError, match="pass data"):
        loaded.predict()


def test_the_file_holds_no_pickle_and_no_training_rows(data, tmp_path):
    save(fitted("y ~ a + g", data), tmp_path / "a.model")
    header, arrays = taken_apart(tmp_path / "a.model")
    assert {array.dtype.kind for array in arrays.values()} <= set("biuf")
    for column in (data["a"], data["b"]):
        assert not np.isin(column, arrays["f8"]).any()
    assert header["object"]["problem"]["X"]["rows"] == ["i8", [0], False]


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    return saved_in(tmp_path_factory.mktemp("fits"))


@pytest.mark.parametrize("name", FITS)
def test_every_field_of_a_fit_comes_back_in_every_bit(name, fits):
    result, path = fits[name]
    bare = without_rows(result)
    assert bare.problem.source.is_missing  # also cached by `load`
    parts.check_same(vars(bare), vars(load(path)), name)


def test_loading_needs_formulaic_for_a_formula_only(data, tmp_path):
    save(ps.SVM(data["y"], data[["a", "b"]], lam=1.0).fit(), tmp_path / "a.model")
    code = "import sys; from pegasos_stats.persist import load; load(sys.argv[1])"
    code += "; assert 'formulaic' not in sys.modules"
    subprocess.check_call([sys.executable, "-c", code, str(tmp_path / "a.model")])


def test_files_that_are_not_saved_models_are_refused(tmp_path):
    path = tmp_path / "b.model"
    pickled, other, text = pickle.dumps([1]), tmp_path / "c.npz", b"a,b\n1,2\n"
    np.savez(other, a=np.zeros(3))
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    zipped = (tmp_path / "d.zip").read_bytes()
    for content in (pickled, text, b"", other.read_bytes(), zipped):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"saved model|is not a model saved by"):
            load(path)


def test_facts_are_kept_beside_the_model(data, tmp_path):
    about = {"format": "csv", "zero_based": None, "when": pd.Timestamp("2001-01-01")}
    save(fitted("y ~ a", data), tmp_path / "a.model", about=about)
    assert load_saved(tmp_path / "a.model").about == about


OPTIONS = [
    {"standardize": True},
    {"offset": "b"},
    {"weights": "balanced", "coding": (1, 0)},
    {"freq_weights": "k", "intercept": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_of_the_model_come_back(options, data, tmp_path):
    result = ps.logit("y ~ a + C(b > 0)", data, lam=0.1, **options).fit()
    loaded = back(result, tmp_path)
    check_same(loaded, result, data.head(9))
    assert loaded.predict_proba(data).equals(result.predict_proba(data))
    assert loaded.params_original.equals(result.params_original)
    assert (loaded.llnull, str(loaded.offsets)) == (result.llnull, str(result.offsets))
    assert str(loaded.summary(details=True)) == str(result.summary(details=True))

"""What a user keeps comes back from its file as it was, in every bit."""

import copy
import dataclasses
import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, PegasosStatsError
from pegasos_stats.persist import KINDS
from tests.persist import parts
from tests.persist.studies import DATA, FUNCTIONS, OBJECTS, model

# Methods without required arguments that need the training rows, or draw.
NEED_ROWS = {"refit", "plot", "plot_coefficients", "thresholds", "plot_roc", "fit"}
NEED_ROWS |= {"best_model", "generator"}
FITS = {"LinearResults", "KernelResults"}
ROWS = "training rows are not in"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Every object, with its file."""
    folder, found = tmp_path_factory.mktemp("kept"), {}
    for name, make in OBJECTS.items():
        found[name] = made, path = make(), folder / name
        ps.save(made, path)
    return found


def check_same(one, other, where="it"):
    """The same bits; objects of the package are asked for all that they show."""
    parts.check_same(one, other, where, check_members)


def members(found):
    """Public attributes, and methods that can be called without an argument."""
    for name in dir(type(found)):
        attribute = inspect.getattr_static(type(found), name)
        if name.startswith("_") or name in NEED_ROWS:
            continue
        if isinstance(attribute, classmethod | staticmethod):
            continue
        if not inspect.isfunction(attribute):
            yield name, lambda each, name=name: getattr(each, name)
            continue
        given = list(inspect.signature(attribute).parameters.values())[1:]
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if all(p.default is not p.empty or p.kind in kinds for p in given):
            yield name, lambda each, name=name: getattr(each, name)()


def answer(use, found):
    """What a member gives; or the type and the words of the error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return use(found)
        except PegasosStatsError as error:
            return type(error).__name__, str(error)


def check_members(one, other, where):
    """Fields and public members are the same, and what is shown."""
    if isinstance(one, ps.Results):
        return check_fit(one, other, where)
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            pair = getattr(one, field.name), getattr(other, field.name)
            check_same(*pair, f"{where}.{field.name}")
    if type(one).__repr__ is not object.__repr__:
        assert repr(one) == repr(other), where
    if isinstance(one, ps.SVM | ps.Logit | ps.KernelSVM):
        return check_model(one, other, where)
    for name, use in members(one):
        pair = answer(use, one), answer(use, other)
        if ROWS not in str(pair[1]):
            check_same(*pair, f"{where}.{name}")
    if hasattr(one, "_repr_html_"):
        assert one._repr_html_() == other._repr_html_(), where
    return None


def check_fit(one, other, where):
    """A fit inside of another object: as one of a file of its own."""
    assert str(one.summary()) == str(other.summary()), where
    for use in ("predict", "decision_function"):
        check_same(getattr(one, use)(DATA), getattr(other, use)(DATA), where)


def check_model(one, other, where):
    """A model without its rows."""
    for name in ("names", "coding", "dropped", "counted", "offsets"):
        check_same(getattr(one, name), getattr(other, name), f"{where}.{name}")
    for name in ("y", "lam", "loss", "intercept", "weights", "offset", "prior_shift"):
        check_same(getattr(one.problem, name), getattr(other.problem, name), where)


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
def test_a_loaded_object_is_the_saved_one_and_saved_again_has_its_bytes(
    name, kept, tmp_path
):
    made, path = kept[name]
    loaded = ps.load(path, functions=FUNCTIONS.get(name))
    check_same(made, loaded)
    ps.save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
def test_a_copy_through_pickle_is_the_same(name, kept):
    made, path = kept[name]
    check_same(made, pickle.loads(pickle.dumps(made)))
    loaded = ps.load(path, functions=FUNCTIONS.get(name))
    for again in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded)):
        assert repr(again) == repr(made)


def test_there_is_an_object_of_every_kind(kept):
    assert {type(made).__name__ for made, _ in kept.values()} == set(KINDS) - FITS


def test_rows_are_not_in_a_study(kept):
    study = ps.load(kept["path"][1])
    with pytest.raises(DataError, match="file of a fit or a study; pass data"):
        study.refit("min")
    again = ps.cross_validate(model(), lambda_path=study, folds=study.folds)
    assert again.folds.assignment.tolist() == study.folds.assignment.tolist()
    assert again.choosing.lambdas.tolist() == study.lambdas.tolist()


def test_functions_of_ones_own_are_asked_for(kept, tmp_path):
    _, path = kept["nested"]
    asked = r"the function 'misses', .*functions=\{'misses': misses\}"
    with pytest.raises(DataError, match=asked):
        ps.load(path)
    own = ps.svm("y ~ size(a)", DATA, functions={"size": np.abs}, lam=1.0)
    ps.save(ps.cross_validate(own, folds=3), tmp_path / "own")
    with pytest.raises(DataError, match="calls the function 'size'"):
        ps.load(tmp_path / "own")


ROW_NAMES = {
    "days": pd.date_range("2020", periods=4, freq="D", tz="Europe/Berlin"),
    "months": pd.period_range("2020", periods=4, freq="M"),
    "spans": pd.timedelta_range("1s", periods=4),
    "intervals": pd.interval_range(0, 4),
    "categories": pd.CategoricalIndex(list("abca"), ordered=True),
    "mixed": pd.Index([1, "a", None, 2.5]),
    "pairs": pd.MultiIndex.from_product([[1, 2], pd.to_datetime(["2020", "2021"])]),
    "text": pd.Index(list("abcd"), dtype="string"),
}


@pytest.mark.parametrize("names", ROW_NAMES)
def test_names_of_rows_of_every_kind_come_back(names, tmp_path):
    actual, predicted = (pd.Series(list(s), ROW_NAMES[names]) for s in ("abab", "baab"))
    made = ps.confusion(actual, predicted)
    ps.save(made, tmp_path / "a")
    check_same(made, ps.load(tmp_path / "a"))


def test_folds_of_a_loaded_model_are_refused_where_its_terms_learn(kept):
    """``scale(b)`` learns of the rows to fit, which are not in the file."""
    found = ps.load(kept["calibrated"][1])
    with pytest.raises(DataError, match="not in the file of a fit or a study"):
        ps.calibrate(found.validation.model)


def test_a_loaded_calibrated_fit_predicts_new_rows(kept):
    made, path = kept["calibrated"]
    loaded = ps.load(path)
    pd.testing.assert_frame_equal(loaded.predict_proba(DATA), made.predict_proba(DATA))
    pd.testing.assert_frame_equal(loaded.confusion().table, made.confusion().table)

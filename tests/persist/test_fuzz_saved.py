"""Files that are not as they were written: an error of ours, or a model that works.

Bytes are changed with the digest left alone, which must be noticed. The header is
changed and the digest written anew: then either the change is refused, or all that is
done with the model works or ends in an error of ours.
"""

import copy
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos_stats.errors import DataError, PegasosStatsError, PegasosStatsWarning
from pegasos_stats.persist import load, save
from tests.persist import fits, studies
from tests.persist.parts import put_together, taken_apart

pytestmark = pytest.mark.fuzz
NEW = dict.fromkeys(fits.FITS, fits.X[:5]) | {"gram": np.ones((5, fits.N))}
STUDIES = ["path", "nested", "gram", "calibrated", "thresholds", "models", "solvers"]
STUDIES += ["several_labels", "report_of_table", "margins", "parity", "folds"]
STUDIES += ["reliability"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """For each fit and study its header and arrays."""
    folder, found = tmp_path_factory.mktemp("saved"), {}
    objects = {name: fit() for name, fit in fits.FITS.items()}
    objects |= {f"{n} study": studies.OBJECTS[n]() for n in STUDIES}
    for name, each in objects.items():
        save(each, folder / name, about={"when": pd.Timestamp("2001-01-01"), 1: [2]})
        found[name] = taken_apart(folder / name)
    return found


NAMES = [*NEW, *(f"{name} study" for name in STUDIES)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("changed") / "a.model"


def opened(path, content):
    """The object of a file, or None where it is refused by a DataError of one line."""
    path.write_bytes(content)
    said = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PegasosStatsWarning)
        try:
            return load(path, functions={"misses": studies.misses})
        except DataError as error:
            said = str(error)
    assert len(said.splitlines()) == 1
    assert len(said) < 1000
    return None


USES = {
    "predict": lambda result, new, path: result.predict(new),
    "probabilities": lambda result, new, path: result.predict_proba(new),
    "confusion": lambda result, new, path: str(
        result.confusion(new, result.coding.decode(np.ones(5))).summary()
    ),
    "own outcome": lambda result, new, path: result.confusion(new),
    "augment": lambda result, new, path: result.augment(new),
    "summary": lambda result, new, path: str(result.summary()),
    "LaTeX": lambda result, new, path: result.summary().to_latex(),
    "HTML": lambda result, new, path: result.summary()._repr_html_(),
    "tidy": lambda result, new, path: result.tidy(),
    "original": lambda result, new, path: result.params_original,
    "glance": lambda result, new, path: str(result.glance()),
    "intervals": lambda result, new, path: result.conf_int(),
    "errors": lambda result, new, path: (result.bse, result.pvalues),
    "training rows": lambda result, new, path: result.predict(),
    "repr": lambda result, new, path: repr(result),
    "table": lambda result, new, path: str(result.training_table.tidy()),
    "pickle": lambda result, new, path: repr(pickle.loads(pickle.dumps(result))),
    "copy": lambda result, new, path: repr(copy.deepcopy(result)),
    "save": lambda result, new, path: save(result, path, overwrite=True),
}
OF_STUDIES = {
    "text": lambda found, new, path: (repr(found), str(found)),
    "notebook": lambda found, new, path: getattr(found, "_repr_html_", str)(),
    "summary": lambda found, new, path: str(found.summary()),
    "tidy": lambda found, new, path: found.tidy(),
    "glance": lambda found, new, path: str(found.glance()),
    "confusion": lambda found, new, path: str(found.confusion().summary()),
    "predict": lambda found, new, path: found.predict(studies.DATA),
    "assignment": lambda found, new, path: (found.assignment, list(found)),
    "pickle": USES["pickle"],
    "save": USES["save"],
}
OF_ALL = ("text", "notebook", "pickle", "save")
OF_LINEAR_FITS = {"original", "intervals", "errors"}


def check_uses(found, name, path):
    """Everything works, or ends in an error of ours; predictions are of the levels."""
    is_fit = name in NEW
    for use, do in (USES if is_fit else OF_STUDIES).items():
        if is_fit and use in OF_LINEAR_FITS and not hasattr(found, "params"):
            continue
        if not is_fit and use not in OF_ALL and not hasattr(found, use):
            continue
        said, answer = "one line", None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer = do(found, NEW.get(name), path)
            except PegasosStatsError as error:
                said = str(error)
        assert len(said.splitlines()) == 1, use
        if is_fit and use == "predict" and answer is not None:
            assert set(answer.dropna()) <= set(found.coding.levels)


# Values that stand in the place of others.
STRANGE = [
    *(None, True, False, 0, 1, -1, 2, 2**31, 2**63, 10**30, -(2**70)),
    *(0.0, -0.0, 0.5, -1.5, 1e308, 5e-324, math.nan, math.inf),
    *("", "a", "yes", "Intercept", "\ud800", "x" * 3000, "a\nb", "y ~ a"),
    *("__import__('os').abort()", [], {}, [[]], [None]),
    *({"float": "nan"}, {"float": "-inf"}, {"tuple": []}, {"dict": []}),
    *({"NA": None}, {"NaT": None}, {"period": [2**62, "M"]}, {"date": "2001-02-03"}),
    *({"numpy": ["<f8", 1.0]}, {"numpy": ["<U1000000000", "a"]}),
    *({"array": ["<f8", [1], [1.0]]}, {"array": ["<f8", [10**12], []]}),
    *({"timestamp": [2**62, "s", None]}, {"timestamp": [0, "ns", "Europe/Berlin"]}),
    *({"interval": [0, 1, "right"]}, {"timedelta": [2**62, "s", None]}),
    *({"numpy": "<U1000000000"}, {"numpy": "<i8"}, {"pandas": "Sparse[float64, nan]"}),
    {"timestamp": [0, "ns", "dateutil//dev/zero"]},
    {"pandas": "datetime64[ns, dateutil//dev/zero]"},
]


def nodes(tree, at=()):
    """Paths of all nodes of a tree, the root left out."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, child in children:
        yield (*at, key)
        if isinstance(child, dict | list):
            yield from nodes(child, (*at, key))


def edited(draw, header):
    """A header with one to three nodes replaced, taken away, doubled or moved."""
    tree = copy.deepcopy(header)
    for _ in range(draw(st.integers(1, 3))):
        places = [place for place in nodes(tree) if place[0] not in ("version",)]
        place = draw(st.sampled_from(places))
        parent = tree
        for key in place[:-1]:
            parent = parent[key]
        _edit(draw, tree, parent, place[-1], places)
    return tree


def _edit(draw, tree, parent, key, places):
    how = draw(st.sampled_from(["value", "value", "other", "number", "delete", "add"]))
    if how == "value":
        parent[key] = copy.deepcopy(draw(st.sampled_from(STRANGE)))
    elif how == "other":
        other = tree
        for step in draw(st.sampled_from(places)):
            other = other[step]
        parent[key] = copy.deepcopy(other)
    elif how == "number":
        parent[key] = draw(st.integers(-3, fits.N + 2) | st.floats(-10, 10))
    elif how == "delete":
        del parent[key]
    elif isinstance(parent, dict):
        parent[draw(st.sampled_from(["extra", "", "type"]))] = parent[key]
    else:
        parent.insert(key, copy.deepcopy(parent[key]))


EXTREMES = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, 1e-160, math.nan, math.inf]
WHOLE = [0, 1, -1, 2, fits.N, 2**31, 2**62, -(2**63)]


def changed_arrays(draw, arrays):
    """Arrays, one to three of them with other numbers, at one place or at all."""
    arrays = dict(arrays)
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(arrays)))
        arrays[name] = array = arrays[name].copy()
        others = EXTREMES if array.dtype.kind == "f" else WHOLE
        value = draw(st.sampled_from(others))
        if array.dtype.kind == "i":
            value = np.array(value).astype(array.dtype)
        place = draw(st.none() | st.integers(0, array.size - 1))
        if place is None:
            array[...] = value
        else:
            array.flat[place] = value
    return arrays


@given(data=st.data())
def test_an_edited_header_is_refused_or_does_no_harm(data, files, path):
    name = data.draw(st.sampled_from(NAMES))
    header, arrays = files[name]
    try:
        content = put_together(edited(data.draw, header), arrays)
    except ValueError:  # it is no JSON any more
        return
    found = opened(path, content)
    if found is not None:
        check_uses(found, name, path)


@given(data=st.data())
def test_other_numbers_are_refused_or_do_no_harm(data, files, path):
    name = data.draw(st.sampled_from(NAMES))
    header, arrays = files[name]
    changed = changed_arrays(data.draw, arrays)
    found = opened(path, put_together(header, changed))
    if found is not None:
        check_uses(found, name, path)

"""Files of studies and tables that are not as written: refused, or they do no harm.

As for fits in ``tests/models/test_fuzz_saved.py``: bytes are changed with the digest
left alone; header and numbers are changed with a digest that is right.
"""

import pickle
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pegasos_stats as ps
from pegasos_stats.errors import DataError, PegasosStatsError
from tests.models.saved_models import put_together, taken_apart
from tests.models.test_fuzz_saved import changed_arrays, changed_bytes, edited
from tests.studies.kept_objects import DATA, FUNCTIONS, OBJECTS

pytestmark = pytest.mark.fuzz

NAMES = ["path", "nested", "gram", "calibrated", "thresholds", "models", "solvers"]
NAMES += [
    "several_labels",
    "report_of_table",
    "margins",
    "parity",
    "folds",
    "reliability",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """For each object its content, header and arrays."""
    folder, found = tmp_path_factory.mktemp("kept"), {}
    for name in NAMES:
        ps.save(OBJECTS[name](), folder / name, about={"when": 1})
        found[name] = (folder / name).read_bytes(), *taken_apart(folder / name)
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("changed") / "a.study"


def opened(path, content, name):
    """The object of a file, or None where it is refused by a DataError of one line."""
    path.write_bytes(content)
    try:
        return ps.load(path, functions=FUNCTIONS.get(name))
    except DataError as error:
        said = str(error)
    assert len(said.splitlines()) == 1
    assert len(said) < 1000
    return None


USES = {
    "text": lambda found, path: (repr(found), str(found)),
    "notebook": lambda found, path: getattr(found, "_repr_html_", str)(),
    "summary": lambda found, path: str(found.summary()),
    "tidy": lambda found, path: found.tidy(),
    "glance": lambda found, path: str(found.glance()),
    "confusion": lambda found, path: str(found.confusion().summary()),
    "predict": lambda found, path: found.predict(DATA),
    "assignment": lambda found, path: (found.assignment, list(found)),
    "pickle": lambda found, path: repr(pickle.loads(pickle.dumps(found))),
    "save": lambda found, path: ps.save(found, path, overwrite=True),
}
OF_ALL = ("text", "notebook", "pickle", "save")


def check_uses(found, path):
    """Everything works, or ends in an error of ours."""
    for name, use in USES.items():
        if name not in OF_ALL and not hasattr(found, name):
            continue
        said = "one line"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                use(found, path)
            except PegasosStatsError as error:
                said = str(error)
        assert len(said.splitlines()) == 1, name


@given(data=st.data())
def test_changed_bytes_are_refused(data, files, path):
    name = data.draw(st.sampled_from(NAMES))
    content = files[name][0]
    changed = changed_bytes(data.draw, content)
    assert changed == content or opened(path, changed, name) is None


@given(data=st.data())
def test_an_edited_header_is_refused_or_does_no_harm(data, files, path):
    name = data.draw(st.sampled_from(NAMES))
    _, header, arrays = files[name]
    found = opened(path, put_together(edited(data.draw, header), arrays), name)
    if found is not None:
        check_uses(found, path)


@given(data=st.data())
def test_other_numbers_are_refused_or_do_no_harm(data, files, path):
    name = data.draw(st.sampled_from(NAMES))
    _, header, arrays = files[name]
    found = opened(path, put_together(header, changed_arrays(data.draw, arrays)), name)
    if found is not None:
        check_uses(found, path)

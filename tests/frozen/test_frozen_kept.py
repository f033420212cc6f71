"""Objects that an earlier version saved are read, and have the numbers that they had.

That every object comes back from its own file in every bit is in
``tests/persist``.
"""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.frozen.kept import FITS, FOLDER, STUDIES, numbers
from tests.frozen.rows import read

FROZEN = read("kept")
RTOL = 1e-9  # quantiles of scipy, of which intervals are made


@pytest.mark.parametrize("name", [*FITS, *STUDIES])
def test_a_saved_object_has_its_numbers(name, tmp_path):
    found = ps.load(FOLDER / f"{name}.model", functions=None)
    np.testing.assert_allclose(numbers(found), FROZEN[name], rtol=RTOL, atol=1e-12)
    ps.save(found, tmp_path / name, about=None, overwrite=False)
    again = numbers(ps.load(tmp_path / name, functions=None))
    np.testing.assert_array_equal(again, numbers(found))


def test_a_fit_whose_columns_of_text_were_doubtful_is_read():
    found = ps.load(FOLDER / "doubtful.model")
    new = pd.DataFrame({"lead": ["1", "2"], "day": ["2020-01-10", "2020-01-11"]})
    scores = found.decision_function(new)
    np.testing.assert_array_equal(scores, [-0.4940583185649915, 1.0892750147683419])
    assert [column.kind for column in found.design.doubtful] == ["numbers", "dates"]
    assert found.summary().notes

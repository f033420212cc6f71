"""Whatever a door is given, it answers or raises an error of the package."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos_stats.errors import PegasosStatsError
from tests.doors import DOORS
from tests.nasty import held, only_ours

pytestmark = pytest.mark.fuzz
# Of other property tests: a door has many arguments, and there are many doors.
QUARTER = settings(max_examples=settings.default.max_examples // 4)


@pytest.mark.parametrize("door", DOORS, ids=str)
def test_ordinary_values_are_answered(door):
    found = only_ours(lambda: door.call(**door.ordinary))
    assert not isinstance(found, PegasosStatsError)


@pytest.mark.parametrize("door", DOORS, ids=str)
@QUARTER
@given(data=st.data())
def test_nothing_but_errors_of_the_package_comes_out(door, data):
    ordinary = only_ours(lambda: door.ordinary)
    names = st.sampled_from(list(ordinary))
    chosen = data.draw(st.lists(names, min_size=1, max_size=2))
    drawn = {name: data.draw(held(door.odd(name)), name) for name in chosen}
    options = {name: value.value for name, value in drawn.items()}
    only_ours(lambda: door.call(**ordinary | options))

"""Whatever a door is given, it answers or raises an error of the package."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos_stats.errors import PegasosStatsError
from tests import doors, doors_of_rows
from tests.nasty import held, only_ours

DOORS = [*doors.DOORS, *doors_of_rows.DOORS]
pytestmark = pytest.mark.fuzz


@pytest.mark.parametrize("door", DOORS, ids=str)
def test_ordinary_values_are_answered(door):
    found = only_ours(lambda: door.call(**door.ordinary))
    assert not isinstance(found, PegasosStatsError)


@pytest.mark.parametrize("door", DOORS, ids=str)
@given(data=st.data())
def test_nothing_but_errors_of_the_package_comes_out(door, data):
    names = list(door.ordinary)
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2))
    drawn = {name: data.draw(held(door.odd(name)), name) for name in chosen}
    options = {name: value.value for name, value in drawn.items()}
    only_ours(lambda: door.call(**{**door.ordinary, **options}))

"""Threads change no number and lose no error."""

import threading

import pytest

from pegasos_stats.errors import OptionError
from pegasos_stats.parallel import map_in_order, n_workers


def test_results_come_in_the_order_of_the_items():
    numbers = range(100)
    for workers in (1, 2, 7):
        assert list(map_in_order(str, numbers, workers)) == [str(i) for i in numbers]


def test_items_are_drawn_in_the_calling_thread():
    here = threading.get_ident()
    drawn = (threading.get_ident() for _ in range(20))
    assert set(map_in_order(lambda ident: ident, drawn, 3)) == {here}


def test_an_exception_comes_through_and_ends_the_iteration():
    done = []

    def task(i):
        if i == 3:
            raise ZeroDivisionError
        done.append(i)
        return i

    with pytest.raises(ZeroDivisionError):
        list(map_in_order(task, range(10_000), 2))
    assert len(done) < 10_000


def test_the_number_of_workers_is_checked():
    assert n_workers(None) >= 1
    assert n_workers(3) == 3
    for wrong in (0, -1, 1.5, True, "all"):
        with pytest.raises(OptionError, match="workers"):
            n_workers(wrong)

"""No test passes or fails by chance, or because another one ran before it."""

import gc
import random
import sys
from collections.abc import Generator, Iterator

import pytest

from pegasos_stats import rng


class NoSeed:
    """In the place of `secrets`, for examples."""

    @staticmethod
    def randbelow(limit: int) -> int:
        """Refuse."""
        raise AssertionError("this example draws at random: give it a seed")


class SameSeeds:
    """In the place of `secrets`, for tests: other numbers for each, the same always."""

    def __init__(self, name: str) -> None:
        self.randbelow = random.Random(name).randrange


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the collector of cycles what lives for the whole run: a fifth of its time.

    It would go over modules and thousands of tests again and again, while they are read
    and whenever much is compiled. What tests make is collected as everywhere.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def repeatable_seeds(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing passes or fails by chance."""
    example = isinstance(request.node, pytest.DoctestItem)
    source = NoSeed() if example else SameSeeds(request.node.nodeid)
    monkeypatch.setattr(rng, "secrets", source)


@pytest.fixture(autouse=True)
def no_figure_is_left_open() -> Iterator[None]:
    """No test sees the figures of another."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")

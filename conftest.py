"""Seeds of what draws without one: none in an example, the same always in a test."""

import random

import pytest

from pegasos_stats.rng import generator


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


@pytest.fixture(autouse=True)
def repeatable_seeds(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing passes or fails by chance."""
    example = isinstance(request.node, pytest.DoctestItem)
    source = NoSeed() if example else SameSeeds(request.node.nodeid)
    monkeypatch.setattr(generator, "secrets", source)

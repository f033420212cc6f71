"""The README: its code runs and prints what it says; its figure is there."""

import re

from readme import README, printed

TEXT = README.read_text(encoding="utf-8")


def test_the_code_prints_what_stands_beside_it():
    blocks = printed(TEXT)
    assert len(blocks) == 3
    for _, shown, now in blocks:
        assert shown == now


def test_the_figure_is_there():
    (path,) = re.findall(r"!\[.*?\]\((.*?)\)", TEXT)
    assert (README.parent / path).stat().st_size > 10_000


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 180

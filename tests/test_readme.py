"""The README: its code runs and prints what it says; its figure is there."""

import re
from contextlib import chdir

import pytest
from readme import README, printed

TEXT = README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def blocks():
    return printed(TEXT)


def test_the_code_prints_what_stands_beside_it(blocks):
    assert len(blocks) == 2
    for _, shown, now in blocks:
        assert shown == now


def test_the_figure_is_there():
    (path,) = re.findall(r"!\[.*?\]\((.*?)\)", TEXT)
    assert (README.parent / path).stat().st_size > 10_000


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 180


def test_the_words_for_what_the_package_is():
    for word in ("parity", "rpy2", "pytest", "vignette", "notebook", "shuffle"):
        assert word in TEXT.lower()


@pytest.mark.r
def test_r_prints_the_same_bits(r, blocks):
    """The block of R, run in R, prints what the block of Python prints."""
    import rpy2.robjects as ro

    (script,) = re.findall(r"```r\n(.*?)```", TEXT, re.DOTALL)
    with chdir(README.parent):
        ro.r(f"setwd({str(README.parent)!r})")
        lines = ro.r(f"capture.output(local({{{script}}}))")
    code, shown, _ = blocks[-1]
    assert "hex()" in code
    assert list(lines) == shown.split()

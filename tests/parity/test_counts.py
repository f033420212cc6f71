"""What is said of the number of comparisons with R is what the tests do."""

import pytest
from parity_counts import BLOCK, FILES, counts, with_counts

README = FILES[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_counts_are_those_of_the_tests(path):
    text = path.read_text(encoding="utf-8")
    assert BLOCK.search(text), "the two markers are missing"
    assert with_counts(text) == text, "run: python scripts/parity_counts.py"


def test_an_old_count_is_seen():
    listed = str(counts()["listed"])
    old = README.replace(listed, "1")
    assert old != README == with_counts(old)


def test_the_readme_of_parity_is_short():
    assert len(README.splitlines()) <= 15

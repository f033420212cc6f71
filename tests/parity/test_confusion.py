"""Confusion tables: golden numbers of caret, and caret in this process."""

import numpy as np
import pytest
from scipy.stats import binomtest

import pegasos_stats as ps
from pegasos_stats.metrics.caret import CARET_NAMES
from pegasos_stats.metrics.inputs import MODES, Choices
from pegasos_stats.metrics.rates import mcnemar_exact
from tests.parity.cases import golden
from tests.parity.tables import (
    LETTERS,
    RTOL,
    assert_by_class,
    assert_overall,
    matrix_of,
)

# ---- Statistics of tables against the numbers that caret wrote: no R is needed.

TABLES = golden("caret.json")


@pytest.mark.parametrize("found", TABLES.values(), ids=TABLES.keys())
def test_names_and_statistics_are_those_of_caret(found):
    """Also with another positive class and prevalence."""
    assert list(CARET_NAMES.values()) == found["names"]
    matrix, k = matrix_of(found["counts"]), len(found["counts"])
    assert_overall(matrix, [float("nan") if x is None else x for x in found["overall"]])
    assert_by_class(matrix, found["by_class"])
    other = Choices("b", (0.1,)) if k == 2 else Choices(None, shares_of(k))
    assert_by_class(matrix_of(found["counts"], other), found["other_by_class"])


def shares_of(k):
    return tuple((i + 1) / 20 for i in range(k))


# ---- Statistics and print of confusion tables against caret, as it is installed.

NO_CARET = (
    "R has no package caret: `make test` installs it (apt-get install r-cran-caret), "
    "and PEGASOS_STATS_NO_R=1 switches the tests against live R off"
)
SIZES = (3, 30, 1_000, 20_000)
LARGE = 1_000_000  # once: the binomial test of R visits every count up to the rows


@pytest.fixture(scope="module")
def caret(r):
    """R with caret; where it is missing, each test of it is an error."""
    r.eval('if (Sys.getenv("TZ") == "") Sys.setenv(TZ = "UTC")')  # caret asks for it
    if not r.eval('suppressMessages(requireNamespace("caret", quietly = TRUE))')[0]:
        raise RuntimeError(NO_CARET)
    return r


def random_tables(k, how_many, seed):
    """Counts of all sizes, with empty cells, rows and columns."""
    draw = np.random.default_rng(seed)
    for i in range(how_many):
        size = LARGE if (k, how_many, i) == (2, 120, 3) else SIZES[i % len(SIZES)]
        counts = draw.integers(0, size, (k, k))
        counts *= draw.random((k, k)) > draw.choice([0.0, 0.3])
        counts[draw.integers(k)] *= draw.random() > 0.1
        counts[:, draw.integers(k)] *= draw.random() > 0.1
        if i % 3 == 0:
            counts += np.diag(draw.integers(0, 10 * size, k))
        if i % 7 == 0:
            counts = counts + counts.T
        if counts.sum():
            yield counts


def numbers(r, counts, *args, **named):
    levels = list(LETTERS[: len(counts)])
    return r.call("caret_numbers", counts.astype(float), levels, *args, **named)


@pytest.mark.parametrize(("k", "how_many"), [(2, 120), (3, 40), (4, 20), (5, 15)])
def test_random_tables_are_as_in_caret(caret, k, how_many):
    for counts in random_tables(k, how_many, seed=k):
        theirs = numbers(caret, counts)
        assert_overall(matrix_of(counts), theirs["overall"])
        assert_by_class(matrix_of(counts), theirs["by_class"])


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_prevalence_and_positive_class_are_as_in_caret(caret, share):
    for counts in random_tables(2, 20, seed=10):
        theirs = numbers(caret, counts, positive="b", prevalence=share)
        ours = matrix_of(counts, Choices("b", (share,)))
        assert_by_class(ours, theirs["by_class"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TABLES)
def test_the_report_reads_as_caret_prints_it(caret, name, mode):
    assert_printed(caret, np.array(TABLES[name]["counts"]), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_reports_of_random_tables_read_as_caret_prints_them(caret, k, mode):
    for counts in random_tables(k, 12, seed=100 + k):
        assert_printed(caret, counts, mode)


def assert_printed(r, counts, mode):
    levels = list(LETTERS[: len(counts)])
    printed = r.call("caret_printed", counts.astype(float), levels, mode=mode)
    theirs = [words(line) for line in printed if line.strip()]
    report = str(matrix_of(counts).summary(mode))
    ours = [words(line) for line in report.splitlines() if line.strip()]
    start = 4 + len(counts) + 3  # heading, table, orientation, sentences
    assert ours[start : start + len(theirs)] == theirs


def words(line):
    """A line without R's distinction of NaN and NA, and its padding."""
    return line.replace("NaN", "NA").split()


def test_layout_is_that_of_caret_to_the_space(caret):
    printed = caret.call("caret_printed", [285.0, 8.0, 15.0, 292.0], ["5", "6"])
    theirs = "\n".join(line.rstrip() for line in printed).strip("\n")
    actual, predicted = [5] * 300 + [6] * 300, [5] * 285 + [6] * 15 + [5] * 8
    ours = ps.confusion(actual, predicted + [6] * 292, event_level="first")
    assert theirs in str(ours.summary())


def test_labels_are_crossed_as_caret_crosses_factors(caret):
    draw = np.random.default_rng(3)
    actual, predicted = draw.choice(["a", "b", "c"], (2, 200))
    caret.set("actual", list(actual))
    caret.set("predicted", list(predicted))
    caret.eval("found <- caret::confusionMatrix(factor(predicted), factor(actual))")
    theirs = caret.eval("as.numeric(t(found$byClass))")
    assert_by_class(ps.confusion(actual, predicted), theirs)


@pytest.mark.parametrize(("b", "c"), [(15, 8), (0, 3), (1, 1), (0, 12), (400, 310)])
def test_exact_mcnemar_is_the_binomial_test(r, b, c):
    theirs = r.eval(f"binom.test({b}L, {b + c}L)$p.value")[0]
    assert mcnemar_exact(b, c) == pytest.approx(theirs, rel=RTOL)
    assert binomtest(b, b + c).pvalue == pytest.approx(theirs, rel=RTOL)

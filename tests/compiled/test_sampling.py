"""Permutations as R makes them, of the words of numpy's generator."""

from decimal import Decimal, localcontext
from math import factorial

from pegasos_stats.compiled.sampling import LN2_SUMS


def test_sums_of_algorithm_sa_are_correctly_rounded():
    with localcontext(prec=50):
        ln2 = Decimal(2).ln()
        terms = [ln2**i / factorial(i) for i in range(1, len(LN2_SUMS) + 1)]
        sums = [sum(terms[: k + 1]) for k in range(len(terms))]
    assert [float(each) for each in sums] == list(LN2_SUMS)

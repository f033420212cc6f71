"""A single hypothesis has one p-value, whichever way it is asked for."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps


@pytest.fixture(scope="module", params=[4, 6])
def tied(request):
    """A fit of short scales, whose resamples are apart from it by equal numbers."""
    rng = np.random.default_rng(request.param)
    data = pd.DataFrame(rng.integers(0, 4, (300, 3)).astype(float), columns=[*"abc"])
    odds = 1.2 * data["a"] + 0.3 * data["b"] - 2.2
    data["y"] = np.where(odds + rng.logistic(size=300) > 0, "yes", "no")
    return ps.svm("y ~ a + b + c", data, lam=0.01).fit(ps.SDCA(seed=1))


@pytest.mark.parametrize("hypothesis", ["a = 0", "b = 0", "c = 0", "a = b", "a = 0.5"])
def test_wald_and_t_tests_agree(tied, hypothesis):
    assert isinstance(tied.cov_type, ps.Bootstrap)
    expected = tied.t_test(hypothesis).pvalue[0]
    assert tied.wald_test(hypothesis).pvalue == expected
    left, right = hypothesis.split(" = ")
    twice = f"2 * {left} = 2 * {right}"
    assert tied.wald_test([hypothesis, twice]).pvalue == expected


def test_a_term_of_one_column_has_the_p_value_of_its_coefficient(tied):
    terms = tied.wald_test_terms()
    terms = terms.set_index("term")["p_value"] if "term" in terms else terms["p_value"]
    for name in "abc":
        assert terms[name] == tied.pvalues[name]

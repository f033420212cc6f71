"""Arguments of random numbers on both sides of every limit, with the whole message."""

import numpy as np
import pytest
from scipy.special import ndtri

from pegasos_stats.errors import OptionError
from pegasos_stats.rng import RRandom, qnorm

LEAST = 5.6e-309
SIZES = "a whole number from 0 to 2147483647"
LIST = "a number or a list of numbers without NaN"
SD = "a finite number >= 0"
WEIGHTS = "a list of 3 finite numbers of 0 or more"
CHANCE = "a probability from 0 to 1"

# An argument, calls with values that are just allowed, and with values that are not.
LIMITS = [
    ("n", lambda g, n: g.runif(n), [0, 1, 2.9], [-1, -0.5, np.nan, 2**31], SIZES),
    ("rate", lambda g, r: g.rexp(2, r), [1e-308, np.inf], [LEAST, -1.0, 0.0], None),
    (
        "rate",
        lambda g, r: g.rexp(3, r),
        [[1.0, 2.0]],
        [[1.0, np.nan], [], np.nan],
        LIST,
    ),
    ("mean", lambda g, m: g.rnorm(3, m), [[-1.0, np.inf]], [[np.nan, 1.0]], LIST),
    ("sd", lambda g, s: g.rnorm(3, 0.0, s), [0.0, [1.0, 0.0]], [[1.0, -5e-324]], SD),
    ("sd", lambda g, s: g.rnorm(3, 0.0, s), [1e308], [np.inf, [1.0, np.inf]], SD),
    (
        "prob",
        lambda g, p: g.sample_int(3, 2, False, p),
        [[1, 0, 5e-324]],
        [[1, 2, -5e-324], [1, 2], [1, 2, np.inf], [1, 2, np.nan]],
        WEIGHTS,
    ),
    (
        "prob",
        lambda g, p: g.sample_int(3, 2, False, p),
        [[0, 1, 1]],
        [[0, 1, 0], [0, 0, 0]],
        "a list with 2 or more numbers above 0",
    ),
    (
        "prob",
        lambda g, p: g.sample_int(3, 2, True, p),
        [[0, 1, 0]],
        [[0, 0, 0]],
        "a list with 1 or more numbers above 0",
    ),
    (
        "size",
        lambda g, s: g.sample_int(3, s),
        [0, 3],
        [4],
        "at most n = 3 (more if replace=True and n > 0)",
    ),
    ("p", lambda g, p: qnorm(p), [0.0, 1.0, [0.5, 1.0]], [-5e-324, [0.5, 1.1]], CHANCE),
]


def calls(good):
    for name, call, allowed, refused, words in LIMITS:
        for value in allowed if good else refused:
            yield pytest.param(name, call, value, words, id=f"{name} {value}")


@pytest.mark.parametrize(("name", "call", "value", "words"), [*calls(False)])
def test_what_is_beyond_is_refused_by_the_whole_word(name, call, value, words):
    generator = RRandom(1)
    before = generator.get_state()
    with pytest.raises(OptionError) as caught:
        call(generator, value)
    words = words or f"a number above {LEAST}"
    said = str(caught.value)
    assert said.startswith(f"{name} is ")
    assert said.endswith(f", where {words} is allowed; correct {name}.")
    assert generator.get_state().tolist() == before.tolist()


def test_limits_of_uniform_numbers():
    assert RRandom(1).runif(2, 3.0, 3.0).tolist() == [3.0, 3.0]
    with pytest.raises(OptionError) as caught:
        RRandom(1).runif(2, [1.0, 3.0], [2.0, 2.5])
    assert str(caught.value) == (
        "max is [2.0, 2.5], where a number of at least min = [1.0, 3.0] is allowed; "
        "correct max."
    )
    for low, high in ((-np.inf, 1.0), (0.0, [1.0, np.inf])):
        with pytest.raises(OptionError, match=r"where a finite number is allowed; cor"):
            RRandom(1).runif(2, low, high)


def test_the_least_rate_gives_finite_numbers():
    found = RRandom(1).rexp(100, 5.7e-309)
    assert np.isfinite(1.0 / 5.7e-309)
    assert (found > 0.0).all()
    # 1 / rate is what R multiplies by; the rate of 1 gives the same numbers without it
    with np.errstate(over="ignore"):
        expected = RRandom(1).rexp(100) * (1.0 / 5.7e-309)
    np.testing.assert_array_equal(found, expected)


def test_usual_arguments_are_those_of_r():
    one, other = RRandom(7), RRandom(7)
    assert one.rexp(3).tolist() == other.rexp(3, 1.0).tolist()
    assert one.rnorm(3).tolist() == other.rnorm(3, 0.0, 1.0).tolist()
    assert one.runif(3).tolist() == other.runif(3, 0.0, 1.0).tolist()


def test_normal_quantiles_are_those_of_scipy_far_into_the_tails():
    p = 10.0 ** -np.linspace(0.31, 300.0, 2000)
    # AS 241 is right to 1e-16, and rounds some twenty times.
    np.testing.assert_allclose(qnorm(p), ndtri(p), rtol=4e-15)
    inner = p[p > 1e-15]  # 1 - p is known to 1e-16, which moves its quantile
    np.testing.assert_array_equal(qnorm(1.0 - inner), -qnorm(1.0 - (1.0 - inner)))

"""`RRandom` beside R itself: many seeds, sizes and parameters, compared by ==."""

import numpy as np
import pytest

from pegasos_stats.rng import RRandom, qnorm

SEEDS = [0, 1, 42, 443, -1, 2**31 - 1, -(2**31) + 1, *range(2, 40)]
SIZES = [*range(1, 20), 127, 128, 129, 32768, 32769, 65536, 65537, 10**7, 10**7 + 1]
LARGE = [2**31 - 1, 2**31, 2**32 + 1, 2**40 + 3, 4_500_000_000_000_000]


def numbers(r, code):
    return np.atleast_1d(np.asarray(r.eval(code), dtype=float)).tolist()


@pytest.fixture
def kind(r):
    """R's default kinds, before and after each test."""
    r.eval('RNGkind("default", "default", "default")')
    yield
    r.eval('RNGkind("default", "default", "default")')


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("seed", SEEDS)
def test_mixed_draws_and_the_state_after_them(r, seed):
    expected = numbers(
        r,
        f"""{{ set.seed({seed})
        c(runif(700, -2, 5), rnorm(300, c(1, 2), c(0, 3)), sample(1234),
          rexp(500, 4),
          sample(9, 9, prob = c(1, 1, 1, 2, 2, 2, 3, 3, 0.5)),
          sample(300, 20, TRUE, 1:300), sample(7, 20, TRUE, 7:1),
          sample.int(1e9, 5)) }}""",
    )
    rng = RRandom(seed)
    drawn = [
        rng.runif(700, -2, 5),
        rng.rnorm(300, [1, 2], [0, 3]),
        rng.sample(1234),
        rng.rexp(500, 4),
        rng.sample(9, 9, prob=[1, 1, 1, 2, 2, 2, 3, 3, 0.5]),
        rng.sample(300, 20, True, range(1, 301)),
        rng.sample(7, 20, True, range(7, 0, -1)),
        rng.sample_int(1e9, 5),
    ]
    assert np.concatenate(drawn).tolist() == expected
    state = numbers(r, "ifelse(is.na(.Random.seed), -2^31, .Random.seed)")
    assert rng.get_state().tolist() == state
    rng.set_state(np.array(state).astype(np.int64))
    assert rng.runif(3).tolist() == numbers(r, "runif(3)")


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("sample_kind", ["Rejection", "Rounding"])
def test_sample_int_of_every_size(r, sample_kind):
    r.eval(f'suppressWarnings(RNGkind(sample.kind = "{sample_kind}"))')
    for n in SIZES + LARGE:
        size = min(n, 50)
        code = f"c(sample.int({n}, {size}), sample.int({n}, 9, TRUE))"
        rng = RRandom(n % 1000, sample_kind=sample_kind.lower())
        expected = numbers(r, f"{{ set.seed({n % 1000}); {code} }}")
        assert [*rng.sample_int(n, size), *rng.sample_int(n, 9, True)] == expected


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("sample_kind", ["Rejection", "Rounding"])
@pytest.mark.parametrize(
    ("n", "size"), [(1, 1), (50, 7), (50, 50), (65537, 40), (10**7 + 1, 20)]
)
def test_subsets_and_the_state_after_them(r, n, size, sample_kind):
    r.eval(f'suppressWarnings(RNGkind(sample.kind = "{sample_kind}"))')
    drawn = f"lapply(1:9, function(step) sort(sample({n}, {size})))"
    expected = numbers(r, f"{{ set.seed(443); c(unlist({drawn}), runif(1)) }}")
    rng = RRandom(443, sample_kind=sample_kind.lower())
    assert [*rng.sample_subsets(n, size, 9).ravel(), *rng.runif(1)] == expected


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("n", [2, 50, 199, 200, 201, 202, 1000])
def test_weights_of_both_kinds(r, n):
    rng = RRandom(n)
    weights = np.ceil(3 * rng.runif(n))
    drawn = [rng.sample_int(n, prob=weights), rng.sample_int(n, 99, True, weights)]
    code = f"""{{ set.seed({n}); w <- ceiling(3 * runif({n}))
        c(sample.int({n}, prob = w), sample.int({n}, 99, TRUE, w)) }}"""
    assert np.concatenate(drawn).tolist() == numbers(r, code)


def test_quantiles(r):
    p = np.concatenate((np.arange(10001) / 10000, 2.0 ** -np.arange(1, 1000)))
    assert qnorm(p).tolist() == numbers(r, "qnorm(c(0:10000 / 10000, 2^-(1:999)))")

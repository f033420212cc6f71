"""R's generator: golden numbers of R 4.2.2, written with ``%.17g``; compared by ==."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from pegasos_stats import rng as generator
from pegasos_stats.errors import OptionError, SeedError
from pegasos_stats.rng import RRandom, qnorm

# Calls after set.seed(443), `rounding` with sample.kind = "Rounding"; for other seeds
# .Random.seed[1:6], its last two, and calls, each from the seed. Draws among 201 values
# are by alias tables with n p = 0.1055, by inversion with 0.0954.
GOLDEN = json.loads(Path(__file__).with_name("golden.json").read_text("utf-8"))

# Draws used after set.seed(11).
DRAWS_USED = [
    (lambda g: g.sample(10), 11),
    (lambda g: g.sample(1), 1),
    (lambda g: g.sample(0), 1),  # like R: one element, the number 0
    (lambda g: g.sample_int(0), 0),
    (lambda g: g.rnorm(1), 2),
    (lambda g: g.runif(1, 3, 3), 0),
    (lambda g: g.rnorm(1, 0, 0), 0),
    (lambda g: g.rnorm(1, np.inf), 0),
    (lambda g: g.rexp(1, np.inf), 0),
]


@pytest.mark.parametrize("call", GOLDEN["calls"])
def test_golden_of_seed_443(call):
    rounding = RRandom(443, sample_kind="rounding")
    names = {"g": RRandom(443), "rounding": rounding, "qnorm": qnorm}
    assert list(eval(call, names)) == GOLDEN["calls"][call]


CALLS = "runif(3)", "sample(10)", "sample(300, 8)", "sample(5, 8, True)", "rnorm(4)"


@pytest.mark.parametrize("seed", map(int, GOLDEN["seeds"]))
def test_golden_of_other_seeds(seed):
    head, tail, *values = GOLDEN["seeds"][str(seed)]
    state = RRandom(seed).get_state()
    assert [state[:6].tolist(), state[-2:].tolist()] == [head, tail]
    for call, expected in zip([*CALLS, "rexp(4)"], values, strict=True):
        assert eval(f"g.{call}", {"g": RRandom(seed)}).tolist() == expected


@pytest.mark.parametrize("seed", map(int, GOLDEN["rounding"]))
def test_golden_of_rounding(seed):
    values = GOLDEN["rounding"][str(seed)]
    for call, expected in zip([*CALLS[1:4], "sample(1e6, 4)"], values, strict=True):
        generator = RRandom(seed, sample_kind="rounding")
        assert eval(f"g.{call}", {"g": generator}).tolist() == expected


@pytest.mark.parametrize(("call", "used"), DRAWS_USED)
def test_draws_used(call, used):
    rng = RRandom(11)
    call(rng)
    assert rng.get_state()[1] == (used or 624)


def untempered(words):
    """The key of a block of words: MT19937's tempering, undone step by step."""
    key = words ^ (words >> np.uint32(18))
    key ^= (key << np.uint32(15)) & np.uint32(0xEFC60000)
    tempered = key
    for _ in range(4):
        key = tempered ^ ((key << np.uint32(7)) & np.uint32(0x9D2C5680))
    return key ^ (key >> np.uint32(11)) ^ (key >> np.uint32(22))


def crafted(*words):
    """A generator whose next words are these."""
    block = np.full(624, 12345, np.uint32)
    block[1 : 1 + len(words)] = words
    rng = RRandom(1)
    rng.set_state([10403, 1, *untempered(block).view(np.int32)])
    return rng


def test_alias_compares_cell_plus_place():
    # The threshold 0.5 + 2**-53 becomes 200.5 with its cell; R 4.2.2 takes the alias.
    weights = np.ones(256)
    weights[200], weights[77] = 0.5 + 2.0**-53, 1.5
    assert crafted(200 << 16, 1 << 31).sample_int(256, 1, True, weights) == 256


def test_a_state_goes_on_anywhere():
    rng = RRandom(7)
    for count in (1, 622, 1, 1, 1247, 70_000):
        rng.runif(count)
        other = RRandom(0, sample_kind="rounding")
        other.set_state(rng.get_state())
        assert (other.get_state() == rng.get_state()).all()
        assert other.seed is None
        assert other.sample(50).tolist() == copy.deepcopy(rng).sample(50).tolist()


@pytest.mark.parametrize("kind", ["rejection", "rounding"])
def test_subsets_are_draws_one_after_the_other(kind, monkeypatch):
    """Sorted, and by both of R's methods; the words run out within a set."""
    for most in (generator.HASH_ABOVE, 20):
        monkeypatch.setattr(generator, "HASH_ABOVE", most)
        for n, size in [(1, 1), (21, 10), (21, 11), (21, 21), (70_000, 9), (9, 0)]:
            ours, theirs = (RRandom(3, sample_kind=kind) for _ in range(2))
            draws = [np.sort(theirs.sample_int(n, size)).tolist() for _ in range(30)]
            assert ours.sample_subsets(n, size, 30).tolist() == draws
            assert (ours.get_state() == theirs.get_state()).all()
    assert RRandom(3).sample_subsets(9, 2, 0).shape == (0, 2)


@pytest.mark.parametrize("kind", ["rejection", "rounding"])
def test_up_to_half_of_very_many_are_drawn_until_different(kind, monkeypatch):
    """So has R it for more than 1e7: above half of them it shuffles all the same."""
    shuffled = RRandom(3, sample_kind=kind).sample_int(21, 11)
    drawn = RRandom(3, sample_kind=kind).sample_int(21, 99, replace=True)
    monkeypatch.setattr(generator, "HASH_ABOVE", 20)
    until_different = list(dict.fromkeys(drawn.tolist()))[:10]
    found = RRandom(3, sample_kind=kind).sample_int(21, 10)
    assert found.tolist() == until_different != shuffled[:10].tolist()
    assert RRandom(3, sample_kind=kind).sample_int(21, 11).tolist() == shuffled.tolist()


@pytest.mark.parametrize(
    ("seed", "number"),
    [(3.7, 3), (-3.7, -3), (True, 1), ("42", 42), (np.float32(8), 8), (np.int64(9), 9)],
)
def test_seeds_are_read_as_in_r(seed, number):
    assert RRandom(seed).seed == number
    assert RRandom(seed).runif(1) == RRandom(number).runif(1)


def test_the_largest_seed_from_the_system_is_one_that_r_takes(monkeypatch):
    class Largest:
        @staticmethod
        def randbelow(limit):
            return limit - 1

    monkeypatch.setattr(generator, "secrets", Largest)
    assert RRandom().seed == 2**31 - 1
    assert RRandom(RRandom().seed).seed == 2**31 - 1


def test_arguments_are_recycled():
    rng, one = RRandom(8), RRandom(8)
    normal = rng.rnorm(5, [1, 2, 3], [0, 1])
    assert normal.tolist() == [1, *one.rnorm(1, 2), 3, *one.rnorm(1, 1), 2]
    assert rng.runif(3, [0, 1], 1).tolist() == [*one.runif(1), 1, *one.runif(1)]
    assert rng.rexp(3, [2, np.inf]).tolist() == [*one.rexp(1, 2), 0, *one.rexp(1, 2)]


def test_sample_keeps_types():
    rng = RRandom(1)
    assert isinstance(rng.sample((1, "a")), tuple)
    assert sorted(rng.sample(["a", "b"])) == ["a", "b"]
    assert rng.sample(np.array([1.5, 2.5])).dtype == float
    series = rng.sample(pd.Series([1, 2, 3], index=list("abc")))
    assert dict(zip("abc", (1, 2, 3), strict=True)) == series.to_dict()
    assert isinstance(rng.sample(pd.Categorical(["u", "v"])), pd.Categorical)
    assert rng.sample([7]) == [7]
    assert rng.sample("7").tolist() == ["7"]
    assert rng.sample(0.5).tolist() == [0.5]
    assert rng.sample(np.int64(1)).tolist() == [1]
    assert rng.sample([]) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda g: g.sample_int(10, 12),
        lambda g: g.sample_int(0, 1, True),
        lambda g: g.sample_int(-1),
        lambda g: g.sample_int(5e15, 1),
        lambda g: g.sample_subsets(10, 12, 1),
        lambda g: g.sample_subsets(2**31, 1, 1),
        lambda g: g.sample_subsets(10, 2, -1),
        lambda g: g.sample(np.ones((2, 2))),
        lambda g: g.set_state([1, 624, *range(624)]),
        lambda g: g.set_state([403, 0, *range(624)]),
        lambda g: g.set_state([403, 1] + [0] * 624),
        lambda g: RRandom(1, sample_kind="Rejection"),
    ],
)
def test_arguments_that_make_no_sense(call):
    with pytest.raises(OptionError, match=r"^[^.].*(; use | must be ).*\.$"):
        call(RRandom(1))


# An argument, and calls with values that are just not allowed.
LEAST = 5.6e-309
LIMITS = [
    ("n", lambda g, n: g.runif(n), [-1, -0.5, np.nan, 2**31]),
    ("rate", lambda g, r: g.rexp(3, r), [LEAST, -1.0, 0.0, [1.0, np.nan], [], np.nan]),
    ("mean", lambda g, m: g.rnorm(3, m), [[np.nan, 1.0]]),
    ("sd", lambda g, s: g.rnorm(3, 0.0, s), [[1.0, -5e-324], np.inf, [1.0, np.inf]]),
    (
        "prob",
        lambda g, p: g.sample_int(3, 2, False, p),
        [[1, 2, -5e-324], [1, 2], [1, 2, np.inf], [1, 2, np.nan], [0, 1, 0], [0] * 3],
    ),
    ("prob", lambda g, p: g.sample_int(3, 2, True, p), [[0, 0, 0]]),
    ("size", lambda g, s: g.sample_int(3, s), [4]),
    ("p", lambda g, p: qnorm(p), [-5e-324, [0.5, 1.1]]),
]


@pytest.mark.parametrize(
    ("name", "call", "value"),
    [(name, call, value) for name, call, values in LIMITS for value in values],
)
def test_what_is_beyond_is_refused_and_draws_nothing(name, call, value):
    generator = RRandom(1)
    before = generator.get_state()
    with pytest.raises(OptionError, match=rf"^{name} is .*; use .+\.$"):
        call(generator, value)
    assert generator.get_state().tolist() == before.tolist()


def test_limits_of_uniform_numbers():
    assert RRandom(1).runif(2, 3.0, 3.0).tolist() == [3.0, 3.0]
    with pytest.raises(OptionError, match="at least min = "):
        RRandom(1).runif(2, [1.0, 3.0], [2.0, 2.5])
    for low, high in ((-np.inf, 1.0), (0.0, [1.0, np.inf])):
        with pytest.raises(OptionError, match=r"; use a finite number\."):
            RRandom(1).runif(2, low, high)


def test_the_least_rate_gives_finite_numbers():
    found = RRandom(1).rexp(100, 5.7e-309)
    assert np.isfinite(1.0 / 5.7e-309)
    assert (found > 0.0).all()
    # 1 / rate is what R multiplies by; the rate of 1 gives the same numbers without it
    with np.errstate(over="ignore"):
        expected = RRandom(1).rexp(100) * (1.0 / 5.7e-309)
    np.testing.assert_array_equal(found, expected)


def test_normal_quantiles_are_those_of_scipy_far_into_the_tails():
    p = 10.0 ** -np.linspace(0.31, 300.0, 2000)
    assert np.isnan(qnorm(np.nan))
    # AS 241 is right to 1e-16, and rounds some twenty times.
    np.testing.assert_allclose(qnorm(p), ndtri(p), rtol=4e-15)
    inner = p[p > 1e-15]  # 1 - p is known to 1e-16, which moves its quantile
    np.testing.assert_array_equal(qnorm(1.0 - inner), -qnorm(1.0 - (1.0 - inner)))


def test_the_word_zero_is_moved_up():
    assert crafted(0).runif(1) == 2.328306437080797e-10 / 2


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_copies_draw_on_their_own(clone):
    rng = RRandom(7, sample_kind="rounding")
    rng.runif(700)
    other = clone(rng)
    assert repr(other) == repr(rng) == "RRandom(seed=7, sample_kind='rounding')"
    first = other.runif(5)
    assert (rng.runif(5) == first).all()


def test_permutation_is_sample_int_from_zero():
    for n in (0, 1, 2, 200, 70_000):
        rows = RRandom(5).permutation(n)
        assert rows.dtype == np.int64
        assert (rows == RRandom(5).sample_int(n) - 1).all()
        assert (np.sort(rows) == np.arange(n)).all()


@pytest.mark.parametrize(
    "seed",
    [np.nan, pd.NA, 2**31, -(2**31), np.inf, 10**400, "a", "4_2", [1], 1j, b"1"],
)
def test_seeds_that_r_refuses(seed):
    with pytest.raises(
        SeedError, match=r"^The seed is .*; use a number from -2147483647"
    ):
        RRandom(seed)


def test_a_seed_from_the_system_is_kept():
    rng = RRandom()
    assert 0 <= rng.seed < 2**31
    assert RRandom(rng.seed).runif(3).tolist() == rng.runif(3).tolist()

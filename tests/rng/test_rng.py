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

# Calls after set.seed(443); for other seeds .Random.seed[1:6], its last two, runif(3),
# sample(10), sample(300, 8), sample(5, 8, TRUE), rnorm(4), rexp(4), each from the seed.
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
    assert list(eval(call, {"g": RRandom(443)})) == GOLDEN["calls"][call]


@pytest.mark.parametrize("seed", map(int, GOLDEN["seeds"]))
def test_golden_of_other_seeds(seed):
    values = GOLDEN["seeds"][str(seed)]
    head, tail, uniform, ten, eight, five, normal, exponential = values
    state = RRandom(seed).get_state()
    assert [state[:6].tolist(), state[-2:].tolist()] == [head, tail]
    assert RRandom(seed).runif(3).tolist() == uniform
    assert RRandom(seed).sample(10).tolist() == ten
    assert RRandom(seed).sample(300, 8).tolist() == eight
    assert RRandom(seed).sample(5, 8, True).tolist() == five
    assert RRandom(seed).rnorm(4).tolist() == normal
    assert RRandom(seed).rexp(4).tolist() == exponential


@pytest.mark.parametrize("seed", map(int, GOLDEN["rounding"]))
def test_golden_of_rounding(seed):
    def fresh():
        return RRandom(seed, sample_kind="rounding")

    ten, eight, five, million = GOLDEN["rounding"][str(seed)]
    assert fresh().sample(10).tolist() == ten
    assert fresh().sample(300, 8).tolist() == eight
    assert fresh().sample(5, 8, replace=True).tolist() == five
    assert fresh().sample(1e6, 4).tolist() == million


def test_golden_of_rounding_443():
    def fresh():
        return RRandom(443, sample_kind="rounding")

    twenty = [13, 15, 20, 18, 2, 9, 16, 19, 12, 11, 7, 6, 3, 4, 10, 17, 14, 5, 1, 8]
    assert fresh().sample(20).tolist() == twenty
    twelve = [7, 8, 8, 8, 2, 6, 1, 7, 10, 10, 7, 6]
    assert fresh().sample(10, 12, True).tolist() == twelve
    large = [5471734213, 6177179585, 878673297, 684107697]
    assert fresh().sample_int(2**33, 4).tolist() == large
    assert fresh().get_state()[0] == 403


def test_golden_epochs_of_600():
    rng = RRandom(443)
    first, second = rng.sample_int(600), rng.sample_int(600)
    assert first[:8].tolist() == [200, 25, 197, 560, 195, 100, 241, 522]
    assert second[:8].tolist() == [68, 421, 208, 137, 457, 419, 221, 59]
    assert (first * np.arange(1, 601)).sum() == 55950534


def test_golden_quantiles():
    p = [1e-10, 0.001, 0.075, 0.3, 0.5, 0.9, 0.999, 1 - 1e-10]
    assert qnorm(p).tolist() == [
        -6.3613409024040557,
        -3.0902323061678132,
        -1.4395314709384557,
        -0.52440051270804067,
        0,
        1.2815515655446008,
        3.0902323061678132,
        6.3613408896974208,
    ]
    assert qnorm([0, 1]).tolist() == [-np.inf, np.inf]
    assert np.isnan(qnorm(np.nan))


def test_golden_states():
    rng = RRandom(443)
    assert rng.get_state().sum(dtype=float) == 73908436747
    rng.sample(20)
    assert rng.get_state()[1:5].tolist()[:1] == [25]
    assert rng.get_state()[2:5].tolist() == [960190926, -2095976664, 936437035]
    rng = RRandom(443)
    rng.runif(625)
    state = rng.get_state()
    assert state[1:5].tolist() == [1, 1319306668, 203908240, 512803051]
    assert state.sum(dtype=float) == 8560616383


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
        lambda g: g.runif("3"),
        lambda g: g.runif(1, "a"),
        lambda g: g.sample_int(10, 12),
        lambda g: g.sample_int(0, 1, True),
        lambda g: g.sample_int(-1),
        lambda g: g.sample_int(5e15, 1),
        lambda g: g.sample_int(2, 1, True, "ab"),
        lambda g: g.sample(pd.DataFrame({"a": [1]})),
        lambda g: g.sample(np.ones((2, 2))),
        lambda g: g.sample({1, 2}),
        lambda g: g.set_state([10403, 624]),
        lambda g: g.set_state([1, 624, *range(624)]),
        lambda g: g.set_state([403, 0, *range(624)]),
        lambda g: g.set_state([403, 1] + [0] * 624),
        lambda g: RRandom(1, sample_kind="Rejection"),
    ],
)
def test_arguments_that_make_no_sense(call):
    with pytest.raises(OptionError, match=r"^[^.].* allowed.*; .*\.$"):
        call(RRandom(1))


@pytest.mark.parametrize(
    ("last", "drawn"),
    [
        (0.105, [19, 25, 48, 99, 188, 38]),  # n p = 0.1055: by alias tables
        (0.095, [129, 155, 145, 152, 22, 115]),  # n p = 0.0954: by inversion
    ],
)
def test_alias_tables_are_for_more_than_200_values_of_n_p_above_a_tenth(last, drawn):
    # set.seed(443); sample(201, 6, TRUE, c(rep(1, 200), last)) in R 4.2.2
    assert RRandom(443).sample(201, 6, True, [1.0] * 200 + [last]).tolist() == drawn


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
    with pytest.raises(OptionError, match=f"^{name} is .* allowed; correct {name}.$"):
        call(generator, value)
    assert generator.get_state().tolist() == before.tolist()


def test_limits_of_uniform_numbers():
    assert RRandom(1).runif(2, 3.0, 3.0).tolist() == [3.0, 3.0]
    with pytest.raises(OptionError, match="at least min = "):
        RRandom(1).runif(2, [1.0, 3.0], [2.0, 2.5])
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


def test_normal_quantiles_are_those_of_scipy_far_into_the_tails():
    p = 10.0 ** -np.linspace(0.31, 300.0, 2000)
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
    with pytest.raises(SeedError, match=r"^The seed is .*, where set\.seed allows"):
        RRandom(seed)


def test_a_seed_from_the_system_is_kept():
    rng = RRandom()
    assert 0 <= rng.seed < 2**31
    assert RRandom(rng.seed).runif(3).tolist() == rng.runif(3).tolist()

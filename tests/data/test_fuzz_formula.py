"""Formulas at random: arithmetic is numpy's, and only errors of ours come out."""

import contextlib
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos_stats.data.language.formula import outcome_of
from pegasos_stats.data.language.formula_design import design_of
from pegasos_stats.errors import PegasosStatsError
from tests.data.formulas import ACCEPTED, HOSTILE, UNREADABLE, everything

SECONDS = 20.0  # of one formula on a busy machine; what grows without bound takes more
DATA = everything()
NUMBERS = {"a": DATA["a"], "b": DATA["b"], "h": DATA["h"], "my col": DATA["my col"]}
UNARY = {"abs": np.abs, "exp": np.exp, "np.sin": np.sin, "floor": np.floor}
UNARY |= {"np.tanh": np.tanh, "I": np.positive, "sign": np.sign, "-": np.negative}
BINARY = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
BINARY |= {"<": np.less, ">=": np.greater_equal, "np.maximum": np.maximum}
BINARY |= {"np.hypot": np.hypot, "atan2": np.arctan2, "pmin": np.minimum}


def column(name):
    text = name if name.isidentifier() else f"`{name}`"
    return text, NUMBERS[name].to_numpy()


def number(value):
    """Convert logical values to whole numbers, which have no -0, as R does."""
    return value.astype(np.int64) if value.dtype == np.bool_ else value


def unary(name, inner):
    text, value = inner
    with np.errstate(all="ignore"):
        return f"{name}({text})", UNARY[name](number(value))


def binary(name, left, right):
    (one, x), (other, y) = left, right
    text = (
        f"{name}({one}, {other})" if name[-1].isalnum() else f"({one}) {name} ({other})"
    )
    with np.errstate(all="ignore"):
        return text, BINARY[name](number(x), number(y))


def numbers(bounds=(-9.0, 9.0)):
    drawn = st.floats(*bounds, allow_subnormal=False) | st.integers(-9, 9)
    return drawn.map(lambda x: (repr(x), np.full(len(DATA), x)))


expressions = st.recursive(
    st.sampled_from(sorted(NUMBERS)).map(column),
    lambda inner: (
        st.builds(unary, st.sampled_from(sorted(UNARY)), inner)
        | st.builds(binary, st.sampled_from(sorted(BINARY)), inner, inner)
        | st.builds(binary, st.sampled_from(sorted(BINARY)), inner, numbers())
    ),
    max_leaves=8,
)


@pytest.mark.fuzz
@given(expression=expressions)
def test_an_outcome_is_what_numpy_computes(expression):
    text, value = expression
    found = outcome_of(f"I({text}) * 1 ~ k", DATA)
    np.testing.assert_array_equal(found.astype(float), np.asarray(value, dtype=float))


@pytest.mark.fuzz
@given(expression=expressions)
def test_a_term_is_what_numpy_computes(expression):
    text, value = expression
    value = np.asarray(value, dtype=float)
    try:
        design, matrix, _ = design_of(f"y ~ {{{text}}}", DATA, np.ones(len(DATA), bool))
    except PegasosStatsError:
        assert np.isinf(value).any() or np.isnan(value).all()
        return
    np.testing.assert_array_equal(matrix.complete, ~np.isnan(value))
    np.testing.assert_array_equal(matrix.values[:, 0], value[matrix.complete])
    np.testing.assert_array_equal(design.matrix(DATA).values, matrix.values)


SIGNS = "+-*/:^%()[]{},.~|&!=<>'\"`\\@#$;? \n\t\0\x1bé🙂\ud800\u0308"
WORDS = (
    "** // == <= 0 1 2 -1 1.5 1e400 10**9 %in% in not and or is None True lambda for "
    "log( scale( poly( bs( C( I( np.exp( np. x.str.len( cut( c( Q( contr.sum ｌｏｇ"
)
TOKENS = st.sampled_from([*DATA.columns, *SIGNS, *WORDS.split()])
PIECES = st.sampled_from([*ACCEPTED, *UNREADABLE[:40], *HOSTILE[:90]])
GARBAGE = (
    st.text(max_size=60)
    | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1"))
    | st.lists(TOKENS, max_size=25).map("".join)
    | st.lists(TOKENS, max_size=25).map(" ".join)
)


@st.composite
def broken(draw):
    """A formula that can be computed, changed at one place."""
    formula = draw(PIECES)
    start = draw(st.integers(0, len(formula)))
    end = draw(st.integers(start, min(len(formula), start + 6)))
    return formula[:start] + draw(GARBAGE) + formula[end:]


@pytest.mark.fuzz
@given(left=GARBAGE, right=GARBAGE, whole=broken())
def test_whatever_is_written_ends_in_an_error_of_ours(left, right, whole):
    for formula in (f"{left} ~ a", f"y ~ {right}", f"{left} ~ {right}", whole, left):
        started = time.perf_counter()
        with contextlib.suppress(PegasosStatsError):
            labels = outcome_of(formula, DATA)
            usable = labels.notna().to_numpy(dtype=bool)
            design_of(formula, DATA, usable)[0].matrix(DATA.iloc[:5])
        assert time.perf_counter() - started < SECONDS, formula


@pytest.mark.fuzz
@given(
    values=st.lists(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        min_size=6,
        max_size=6,
    ),
    dtype=st.sampled_from([object, "category", "string"]),
    terms=st.sampled_from(["x", "C(x)", "log(x)", "I(x > 1)", "x + a", "scale(x)"]),
)
def test_whatever_stands_in_a_column_ends_in_an_error_of_ours(values, dtype, terms):
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        column = pd.Series(values, dtype=object).astype(dtype)
        data = DATA.iloc[:6].assign(x=column)
        with contextlib.suppress(PegasosStatsError):
            design_of(f"y ~ {terms}", data, np.ones(6, bool))

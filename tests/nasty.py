"""Values that a door may be given: ordinary ones, and all kinds of others.

What is made of them is one contract, `only_ours`: an answer, or an error of the package
in one sentence.
"""

import itertools
import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import reject
from hypothesis import strategies as st

from pegasos_stats.errors import PegasosStatsError, PegasosStatsWarning, shown

LONGEST = 900  # characters of a message: five items of 120, and two sentences
N = 12  # rows of the data that doors are given


@dataclass(frozen=True)
class Held:
    """A value that is drawn, written safely whatever it is."""

    value: Any

    def __repr__(self) -> str:
        return f"{type(self.value).__name__}: {shown(self.value)}"


@st.composite
def held(draw: Any, values: st.SearchStrategy[Any]) -> Held:
    """Draw a value that need not have a repr."""
    return Held(draw(values))


def only_ours(call: Callable[[], Any]) -> Any:
    """Result of a call, or the error of the package that it raised.

    Any other exception passes and fails the test, and so does a warning of others.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = call()
        except PegasosStatsError as error:
            found = error
            check_message(str(error))
    for warning in said:
        assert issubclass(warning.category, PegasosStatsWarning), warning.message
        check_message(str(warning.message))
    return found


def check_message(message: str) -> None:
    """A message is one line that can be written, is not long and ends as a sentence."""
    message.encode()
    assert message == " ".join(message.split(sep="\n")), "more than one line"
    assert message.isprintable(), message
    assert 10 < len(message) <= LONGEST, len(message)
    assert message.endswith((".", "?")), message


class Raising:
    """An object of others, one of whose methods raises."""

    def __init__(self, method: str) -> None:
        def raised(*args: Any) -> Any:
            raise RuntimeError(f"{method} of others")

        self.__class__ = type("Raising", (type(self),), {method: raised})


METHODS = ["__array__", "__len__", "__float__", "__repr__", "__eq__", "__hash__"]
METHODS += ["__iter__", "__bool__", "__str__", "__getattr__", "__index__", "__lt__"]


class FalseNumber(numbers.Real):
    """A real number by its type, whose methods all give text."""


class FalseWhole(numbers.Integral):
    """A whole number by its type, whose methods all give text."""


for false in (FalseNumber, FalseWhole):
    for method in false.__abstractmethods__:
        setattr(false, method, lambda self, *args: "one")
    false.__abstractmethods__ = frozenset()


class Frame(pd.DataFrame):
    """A frame of others, as geopandas has one."""

    @property
    def _constructor(self) -> Any:
        return Frame


class Long(list[int]):
    """A list that says it is longer than it is."""

    def __len__(self) -> int:
        return 10**6


def endless() -> Any:
    """Numbers without end."""
    return itertools.count()


def breaking() -> Any:
    """Yield a number, then raise."""
    yield 1
    raise RuntimeError("a generator of others")


PLAIN = [None, True, False, 0, 1, 2, 3, -1, 0.5, 1.0, -0.0, "", "a", "b", "1"]
NUMBERS = [float("nan"), float("inf"), -float("inf"), 5e-324, 1e-160, 1e308, 2**63]
NUMBERS += [-(10**400), 10**400, 1j, Decimal(1), Decimal("sNaN"), Fraction(1, 3)]
NUMBERS += [Decimal("NaN"), Decimal("1e400"), np.float64(2), np.int8(1), np.uint8(3)]
NUMBERS += [np.longdouble("1e4000"), np.float16(0.5), np.bool_(True), np.complex128(1)]
TEXT = ["\ud800", "\x00", "a\nb", "na", "\N{SNOWMAN}", "x" * 5000, b"a", np.str_("a")]
MISSING = [pd.NA, pd.NaT, np.datetime64("NaT", "ns"), np.timedelta64("NaT", "ns")]
OTHERS = [date(2020, 1, 1), pd.Timestamp("2020"), timedelta(1), np.datetime64("2020")]
OTHERS += [pd.Interval(0, 1), pd.Period("2020"), (1, 2), ("a", "b"), frozenset()]
OTHERS += [object, len, object(), Ellipsis, range(3), np.void(b"ab")]
EXTREMES = [5e-324, 1e-160, 1e-100, 1e100, 1e160, 1e308, -1e308]
EXTREMES += [float("inf"), float("nan")]
SCALARS = st.sampled_from(PLAIN + NUMBERS + TEXT + MISSING + OTHERS)
NAMES = SCALARS.filter(pd.api.types.is_hashable)

ODD: list[Callable[[], Any]] = [
    *(list, dict, set, tuple, endless, breaking, FalseNumber, FalseWhole),
    lambda: 10**5000,  # which Python does not write
    lambda: Long([1, 2]),
    lambda: {1: 2},
    lambda: {"a", 1},
    lambda: bytearray(b"ab"),
    lambda: memoryview(b"ab"),
    lambda: np.array(5),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.zeros((0, 2)),
    lambda: np.zeros((N, 0)),
    lambda: np.zeros(N, dtype=[("a", float), ("b", int)]),
    lambda: np.arange(N),
    lambda: np.array([[1, 2], [3]], dtype=object),
    lambda: [[1, 2], [3]],
    lambda: np.ma.masked_array(np.arange(N), np.arange(N) % 2 == 0),
    lambda: np.ma.masked_array(["a"] * N),
    lambda: np.recarray((N,), dtype=[("a", float)]),
    lambda: pd.DataFrame(),
    lambda: pd.DataFrame({"a": [1, 2]}, index=[0, 0]),
    lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]),
    lambda: pd.Series(dtype=object),
    lambda: pd.Series([1, 2], index=pd.MultiIndex.from_tuples([(1, 2), (3, 4)])),
    lambda: pd.Index([]),
    lambda: pd.date_range("2020", periods=N),
    lambda: sp.csr_array((2, 2)),
    lambda: sp.coo_array(np.eye(2)[0]),
    lambda: sp.csr_array(np.eye(2, dtype=complex)),
    lambda: sp.csr_array((np.ones(1), np.array([9]), np.array([0, 1])), shape=(1, 2)),
]
ODD += [
    *(lambda v=v: np.full(N, v) for v in EXTREMES),
    *(lambda v=v: np.append(np.ones(N - 1), v) for v in EXTREMES),
    *(lambda v=v: [v, 1, 1] for v in EXTREMES),
]
HOSTILE = st.sampled_from(METHODS).map(Raising)
ANYTHING = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.sampled_from(ODD).map(lambda make: make()),
    HOSTILE,
    st.lists(HOSTILE, min_size=1, max_size=2),
    st.dictionaries(st.sampled_from(["a", "b", 1, None]), SCALARS, max_size=2),
)

DTYPES = ["float16", "float32", ">f8", "longdouble", "uint64", ">i4", "int8", "bool"]
DTYPES += ["complex64", "M8[ns]", "m8[s]", "U3", "S2", "V4", "object"]
EXTENSIONS = ["Int64", "Float32", "boolean", "string", "category", "Sparse[float]"]
EXTENSIONS += ["Sparse[int]", "interval", "period[D]"]


def cast(values: Any, dtype: str) -> Any:
    """A Series of whole numbers in another type."""
    whole = pd.Series(values % 2 if dtype == "boolean" else values)
    if dtype == "interval":
        return pd.Series(pd.arrays.IntervalArray.from_breaks(range(len(whole) + 1)))
    if dtype == "period[D]":
        return whole.astype("M8[ns]").dt.to_period("D")
    return whole.astype(dtype)


@st.composite
def labels(draw: Any) -> Any:
    """Two levels of any kind on N rows, held in any way; or anything."""
    if draw(st.integers(0, 4)) == 0:
        return draw(ANYTHING)
    pool = draw(st.lists(SCALARS | HOSTILE, min_size=2, max_size=3))
    values = [pool[draw(st.integers(0, len(pool) - 1))] for _ in range(N)]
    held = np.empty(N, dtype=object)
    for i, value in enumerate(values):
        held[i] = value
    flags = np.arange(N) % 2
    forms: list[Callable[[], Any]] = [
        lambda: values,
        lambda: held,
        lambda: pd.Series(held),
        lambda: pd.DataFrame({"y": held}),
        lambda: pd.Series(flags, name=draw(NAMES)),
        lambda: pd.Series(held, index=pd.Index(list("ab" * 6))),
        lambda: flags.astype(draw(st.sampled_from(DTYPES))),
        lambda: cast(flags, draw(st.sampled_from(EXTENSIONS))),
        lambda: pd.Categorical.from_codes(flags, ["a", b"a"]),
        lambda: pd.Categorical.from_codes(flags, [1.5, "\ud800"]),
    ]
    try:
        return draw(st.sampled_from(forms))()
    except UnicodeEncodeError:  # pyarrow has no place for half a character
        reject()


@st.composite
def rows(draw: Any) -> Any:
    """N rows of two predictors of any kind, named in any way; or anything."""
    if draw(st.integers(0, 4)) == 0:
        return draw(ANYTHING)
    X = np.random.default_rng(draw(st.integers(0, 9))).normal(size=(N, 2)).round(3)
    kind = draw(st.sampled_from(["array", "far", "frame", "sparse", "list", "view"]))
    if kind == "array":
        with np.errstate(all="ignore"):
            return np.abs(X * 9).astype(int).astype(draw(st.sampled_from(DTYPES)))
    if kind == "far":
        X[draw(st.integers(0, N - 1)), 1] = draw(st.sampled_from(EXTREMES))
        return draw(st.sampled_from([X, sp.csr_array(X), pd.DataFrame(X)]))
    if kind == "sparse":
        made = draw(st.sampled_from([sp.csr_array, sp.csc_matrix, sp.coo_array]))
        number = draw(st.sampled_from(["f4", "f8", "i1", "bool", "longdouble"]))
        return made(np.abs(X * 9).astype(number))
    if kind == "list":
        cells = [list(row) for row in X.tolist()]
        cells[draw(st.integers(0, N - 1))][0] = draw(SCALARS | HOSTILE)
        return cells
    if kind == "view":
        wide = np.asfortranarray(np.repeat(X, 2, axis=1))
        return draw(st.sampled_from([wide[::-1, ::2], wide[:, :2], X[::-1]]))
    try:
        return draw(frames(X))
    except UnicodeEncodeError:  # pyarrow has no place for half a character
        reject()


@st.composite
def frames(draw: Any, X: Any) -> Any:
    """A frame of two columns, of odd values, types, names or row labels."""
    odd = np.empty(N, dtype=object)
    odd[:] = X[:, 0].tolist()
    odd[draw(st.integers(0, N - 1))] = draw(SCALARS | HOSTILE)
    whole = np.arange(N)
    kinds: list[Callable[[], Any]] = [
        lambda: pd.Series(X[:, 1]),
        lambda: pd.Series(odd),
        lambda: cast(whole, draw(st.sampled_from(EXTENSIONS))),
        lambda: pd.Series(whole.astype(draw(st.sampled_from(DTYPES[:-2])))),
    ]
    frame = pd.concat([draw(st.sampled_from(kinds))() for _ in range(2)], axis=1)
    names = draw(st.lists(NAMES, min_size=2, max_size=2))
    if draw(st.booleans()):
        frame.columns = pd.Index(names, dtype=object, tupleize_cols=draw(st.booleans()))
    indexes = [pd.RangeIndex(N), pd.Index(["\ud800"] * N), pd.Index([None] * N)]
    indexes += [pd.date_range("2020", periods=N)]
    indexes += [pd.MultiIndex.from_product([range(N // 2), ["a", None]])]
    frame.index = draw(st.sampled_from(indexes))
    return Frame(frame) if draw(st.booleans()) else frame

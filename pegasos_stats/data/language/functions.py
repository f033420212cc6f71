"""What a formula may call: R's and numpy's vocabulary, as plain tables.

A name in a formula is looked up here and nowhere else. Formulaic's transformations
keep what they find at fit in a state, and so do the summaries of a column, such as
`mean`: new data are coded by the numbers of the fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np
import pandas as pd

from pegasos_stats.data.language import vocabulary as words
from pegasos_stats.data.language.arithmetic import Compute, Value
from pegasos_stats.data.language.splines import natural_spline
from pegasos_stats.foreign_names import suggestion

ANY = 1_000_000


@dataclass(frozen=True)
class Function:
    """How a function is called.

    Attributes
    ----------
    call : callable or str
        Text is the name of one of formulaic's transformations.
    parameters : tuple of str
        Names of its parameters, in order.
    columns : int
        How many of these, from the first, may be columns; the others are constants.
    state : str
        Name of the argument that takes its state; empty if it has none.
    elementwise : bool
        Whether it takes all its parameters by position, and numbers only.
    open : bool
        Whether it takes any number of arguments.
    """

    call: Compute | str
    parameters: tuple[str, ...] = ("x",)
    columns: int = 1
    state: str = ""
    elementwise: bool = False
    open: bool = False

    @classmethod
    def given(cls, call: Compute) -> "Function":
        """A function of the caller, who knows its arguments."""
        return cls(call, columns=ANY, open=True)

    def mismatch(self, positional: int, keywords: Sequence[str]) -> str:
        """What is wrong with the number and names of arguments; empty if nothing.

        Examples
        --------
        >>> FUNCTIONS["log"].mismatch(3, [])
        'takes at most 2 arguments: x, base'
        """
        names = ", ".join(self.parameters)
        if self.open:
            return ""
        if self.elementwise and (keywords or positional != len(self.parameters)):
            return f"takes {len(self.parameters)} numbers or columns, without names"
        if positional > len(self.parameters):
            return f"takes at most {len(self.parameters)} arguments: {names}"
        left = self.parameters[positional:]
        wrong = [word for word in keywords if word not in left]
        if wrong or len(set(keywords)) < len(keywords):
            other = (wrong or list(keywords))[0]
            instead = suggestion(other, ("options", str(self.call)))
            return f"cannot be given {other!r}; {instead or f'it takes {names}'}"
        return ""

    @property
    def resolved(self) -> Compute:
        """The function itself."""
        if not isinstance(self.call, str):
            return self.call
        from formulaic.transforms import TRANSFORMS, ContrastsRegistry

        if self.call.startswith("contr."):
            found: Compute = vars(ContrastsRegistry)[self.call[6:]]
            return found
        transform: Compute = TRANSFORMS[self.call]
        return transform


UFUNCS: tuple[np.ufunc, ...] = (
    np.absolute, np.add, np.arccos, np.arccosh, np.arcsin, np.arcsinh, np.arctan,
    np.arctan2, np.arctanh, np.cbrt, np.ceil, np.copysign, np.cos, np.cosh, np.deg2rad,
    np.degrees, np.divide, np.equal, np.exp, np.exp2, np.expm1, np.fabs,
    np.float_power, np.floor, np.floor_divide, np.fmax, np.fmin, np.fmod, np.greater,
    np.greater_equal, np.heaviside, np.hypot, np.isfinite, np.isinf, np.isnan, np.less,
    np.less_equal, np.log, np.log10, np.log1p, np.log2, np.logaddexp, np.logaddexp2,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.maximum,
    np.minimum, np.multiply, np.negative, np.not_equal, np.positive, np.power,
    np.rad2deg, np.radians, np.remainder, np.rint, np.sign, np.signbit,
    np.sin, np.sinh, np.sqrt, np.square, np.subtract, np.tan, np.tanh, np.trunc,
)  # fmt: skip
BARE = (
    "abs", "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "log10", "log1p",
    "log2", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
OF_R = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "ceiling": "ceil",
}
NUMPYS = {
    "abs": "absolute",
    "mod": "remainder",
    "pow": "power",
    "true_divide": "divide",
}


def _summary(compute: Compute, *options: str) -> Function:
    return Function(words.summary(compute), ("x", *options), state="state")


def _summaries(ddof: int) -> dict[str, Function]:
    """Numbers about a column; numpy divides by n where R and pandas take n - 1."""
    return {
        "max": _summary(lambda x: x.max()),
        "mean": _summary(lambda x: x.mean()),
        "median": _summary(lambda x: x.median()),
        "min": _summary(lambda x: x.min()),
        "quantile": _summary(lambda x, q=0.5: x.quantile(q), "q"),
        "std": _summary(lambda x: x.std(ddof=ddof)),
        "sum": _summary(lambda x: x.sum()),
        "var": _summary(lambda x: x.var(ddof=ddof)),
    }


ELEMENTWISE = {
    ufunc.__name__: Function(
        ufunc, ("x", "y")[: ufunc.nin], columns=ufunc.nin, elementwise=True
    )
    for ufunc in UFUNCS
}
ELEMENTWISE |= {name: ELEMENTWISE[known] for name, known in NUMPYS.items()}
ELEMENTWISE["reciprocal"] = Function(partial(np.divide, 1.0), elementwise=True)

TRANSFORMED = {
    "I": Function(lambda x: x),
    "C": Function("C", ("data", "contrasts", "levels", "spans_intercept")),
    "Q": Function(lambda x: x),
    "bs": Function(
        "bs",
        ("x", "df", "knots", "degree", "include_intercept", "lower_bound",
         "upper_bound", "extrapolation"),
        state="_state",
    ),
    "center": Function("center", ("data",), state="_state"),
    "cut": Function(
        words.cut,
        ("x", "breaks", "labels", "right", "include_lowest"),
        state="state",
    ),
    "hashed": Function("hashed", ("data", "levels", "contrasts", "spans_intercept")),
    "lag": Function(words.lagged, ("x", "k")),
    "ns": Function(
        natural_spline,
        ("x", "df", "knots", "intercept", "Boundary_knots"),
        state="state",
    ),
    "poly": Function("poly", ("x", "degree", "raw"), state="_state"),
    "relevel": Function(words.releveled, ("x", "ref")),
    "scale": Function("scale", ("data", "center", "scale", "ddof"), state="_state"),
    "standardize": Function(
        "standardize", ("x", "center", "rescale", "ddof"), state="_state"
    ),
}  # fmt: skip
SPLINE = (
    "x", "df", "knots", "lower_bound", "upper_bound", "constraints", "extrapolation",
)  # fmt: skip
for _name in ("cc", "cr", "cs"):
    TRANSFORMED[_name] = Function(_name, SPLINE, state="_state")

# Contrasts may stand without brackets, as in C(g, contr.sum).
CONTRASTS: dict[str, Function] = {
    "contr.SAS": Function("contr.SAS", ()),
    "contr.custom": Function("contr.custom", ("contrasts", "names"), columns=0),
    "contr.diff": Function("contr.diff", ("backward",), columns=0),
    "contr.helmert": Function("contr.helmert", ("reverse", "scale"), columns=0),
    "contr.poly": Function("contr.poly", ("scores",), columns=0),
    "contr.sum": Function("contr.sum", ()),
    "contr.treatment": Function("contr.treatment", ("base",), columns=0),
    "Diff": Function("Diff", ("backward",), columns=0),
    "Helmert": Function("Helmert", ("reverse", "scale"), columns=0),
    "Poly": Function("Poly", ("scores",), columns=0),
    "Sum": Function("Sum", ()),
    "Treatment": Function("Treatment", ("reference",), columns=0),
}
FUNCTIONS: dict[str, Function] = {
    **{f"np.{name}": function for name, function in ELEMENTWISE.items()},
    **{name: ELEMENTWISE[name] for name in BARE},
    **{name: ELEMENTWISE[known] for name, known in OF_R.items()},
    **TRANSFORMED,
    **CONTRASTS,
    **{f"np.{name}": function for name, function in _summaries(0).items()},
    **_summaries(1),
    "sd": _summary(lambda x: x.std(ddof=1)),
    "log": Function(words.log, ("x", "base"), columns=2),
    "round": Function(words.rounded, ("x", "digits")),
    "np.round": Function(words.rounded, ("x", "digits")),
    "np.around": Function(words.rounded, ("x", "digits")),
    "np.nan_to_num": Function(words.replaced_nan, ("x", "nan", "posinf", "neginf")),
    "np.clip": Function(np.clip, ("x", "a_min", "a_max"), columns=3),
    "np.where": Function(words.one_of, ("test", "yes", "no"), columns=3),
    "ifelse": Function(words.one_of, ("test", "yes", "no"), columns=3),
    "is_na": Function(words.is_missing),
    "pd.isna": Function(words.is_missing),
    "pd.isnull": Function(words.is_missing),
    "pd.notna": Function(words.is_there),
    "pd.notnull": Function(words.is_there),
    "coalesce": Function(words.first_there, columns=ANY, open=True),
    "addNA": Function(words.with_level_of_missing),
    "pmin": Function(words.smallest, columns=ANY, open=True),
    "pmax": Function(words.largest, columns=ANY, open=True),
    "as_numeric": Function(words.as_numeric),
    "as_integer": Function(words.as_integer),
    "as_logical": Function(words.as_logical),
    "as_character": Function(words.as_character),
    "nchar": Function(lambda x: words.column_of(x).str.len()),
    "toupper": Function(lambda x: words.column_of(x).str.upper()),
    "tolower": Function(lambda x: words.column_of(x).str.lower()),
    "trimws": Function(lambda x: words.column_of(x).str.strip()),
    "substr": Function(words.substring, ("x", "start", "stop")),
    "startsWith": Function(words.starts_with, ("x", "prefix")),
    "endsWith": Function(words.ends_with, ("x", "suffix")),
}

# Methods and attributes of a column: x.clip(0, 1), x.str.len(), x.dt.year.
METHODS: dict[str, Function] = {
    **_summaries(1),
    "abs": Function(pd.Series.abs),
    "astype": Function(words.as_type, ("x", "dtype")),
    "between": Function(
        pd.Series.between, ("x", "left", "right", "inclusive"), columns=3
    ),
    "clip": Function(pd.Series.clip, ("x", "lower", "upper"), columns=3),
    "fillna": Function(words.filled, ("x", "value"), columns=2),
    "isin": Function(pd.Series.isin, ("x", "values")),
    "isna": Function(words.is_missing),
    "isnull": Function(words.is_missing),
    "notna": Function(words.is_there),
    "notnull": Function(words.is_there),
    "round": Function(words.rounded, ("x", "decimals")),
    "str.len": Function(lambda x: x.str.len()),
    "str.lower": Function(lambda x: x.str.lower()),
    "str.upper": Function(lambda x: x.str.upper()),
    "str.strip": Function(lambda x: x.str.strip()),
    "str.title": Function(lambda x: x.str.title()),
    "str.capitalize": Function(lambda x: x.str.capitalize()),
    "str.slice": Function(words.sliced, ("x", "start", "stop")),
    "str.startswith": Function(words.starts_with, ("x", "pat")),
    "str.endswith": Function(words.ends_with, ("x", "pat")),
    "str.contains": Function(words.contains, ("x", "pat")),
}
ATTRIBUTES: dict[str, Function] = {
    f"dt.{name}": Function(attrgetter(f"dt.{name}"))
    for name in ("year", "month", "day", "hour", "minute", "second", "quarter")
}
# Under their earlier names too, of which pandas warns.
for _name, _now in {
    "dayofweek": "day_of_week",
    "weekday": "day_of_week",
    "dayofyear": "day_of_year",
}.items():
    ATTRIBUTES[f"dt.{_name}"] = Function(attrgetter(f"dt.{_now}"))
CONSTANTS: dict[str, Value] = {
    "np.pi": np.pi,
    "np.e": np.e,
    "np.inf": np.inf,
    "np.nan": np.nan,
    "np.euler_gamma": np.euler_gamma,
    "pi": np.pi,
    "Inf": np.inf,
    "NaN": np.nan,
    "NA": np.nan,
    "TRUE": True,
    "FALSE": False,
    "NULL": None,
}

KNOWN = {name.partition(".")[0] for name in (*FUNCTIONS, *CONSTANTS)} | {
    "c",
    "factor",
    "offset",
}

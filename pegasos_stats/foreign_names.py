"""Suggestions for users who write the names of other packages.

``foreign_names.toml`` lists functions, classes, attributes, options of calls, and words
of the command line, with the names that this package uses instead. It is read when a
name is missing. Modules use `missing_in_module`, classes `suggest_names`, and functions
with data or options `suggest_arguments`.
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from functools import cache, wraps
from pathlib import Path
from types import MethodType, TracebackType
from typing import Any, TypeVar, cast

from pegasos_stats import errors

Call = TypeVar("Call", bound=Callable[..., object])
Class = TypeVar("Class", bound=type)

PACKAGE = __name__.partition(".")[0]
TABLE = Path(__file__).with_suffix(".toml")
FRAMES = 3  # maximum number of frames of the package in the traceback of an error
SIMILAR_NAME = 0.8  # minimum similarity of a misspelt name and the correct one
# Suggestions that start with these words are not code.
BARE = ("omit it", "not available", "import it")
NOTHING = "not available; see dir({}), or use statsmodels or R"
SHOWN = ["__str__", "__repr__", "as_text", "to_html"]
SHOWN += ["_repr_html_", "_repr_markdown_", "_repr_latex_"]
_OWN = ("self", "cls")
RESULT_OF = {  # replacements that adapt a suggestion for a result to another object
    "confusion": ("result.confusion(data)", "confusion"),
    "classifier": ("result.", "classifier.result_."),
    "calibrated": ("result.", "calibrated.result."),
}


@cache
def table() -> dict[str, Any]:
    """Return the content of ``foreign_names.toml``."""
    with TABLE.open("rb") as handle:
        return tomllib.load(handle)


def folded(name: str) -> str:
    """Remove underscores, dots, dashes and capitals from a name of several letters.

    Examples
    --------
    >>> folded("confusionMatrix"), folded("cv.glmnet"), folded("coef_"), folded("C")
    ('confusionmatrix', 'cvglmnet', 'coef', 'C')
    """
    bare = name.translate({ord(mark): None for mark in "_.-"})
    return bare if len(bare) == 1 else bare.casefold()


@cache
def suggestions(*section: str) -> dict[str, str]:
    """Return the suggestions of a section of the table, by folded name.

    Examples
    --------
    >>> suggestions("names")["vcov"], suggestions("options", "fit")["lambda"]
    ('result.cov_params()', "the model's lam=: ps.svm(formula, data, lam=...)")
    """
    tables = [table()]
    for part in section:
        tables = [
            inner
            for outer in tables
            for key, inner in outer.items()
            if isinstance(inner, dict) and part in key.split()
        ]
    return {
        folded(name): instead
        for inner in reversed(tables)  # the first section with a name is used
        for instead, names in inner.items()
        if isinstance(names, str)
        for name in names.split()
    }


def suggestion(name: str, *sections: tuple[str, ...]) -> str:
    """Return the suggestion for a name from the first section that lists it, or empty.

    Examples
    --------
    >>> suggestion("logit_reg", ("names",))
    'write ps.logit(formula, data)'
    >>> suggestion("copy_X", ("options",))
    'omit it'
    """
    for section in sections:
        instead = suggestions(*section).get(folded(name), "")
        if instead:
            return instead if instead.startswith(BARE) else f"write {instead}"
    return ""


def own_value(name: str, value: object) -> object:
    """Translate the value of an option if it is a synonym from another package.

    Examples
    --------
    >>> own_value("kernel", "rbf"), own_value("loss", "logistic"), own_value("lam", 1)
    ('gaussian', 'log', 1)
    """
    if not isinstance(value, str):
        return value
    return suggestions("synonyms", name).get(folded(value), value)


def foreign_value(name: str, value: object) -> str:
    """Return the suggestion for an option's value from another package, or empty.

    Examples
    --------
    >>> foreign_value("kernel", "quadratic"), foreign_value("kernel", "nosuch")
    ("is 'polynomial' here; use kernel='polynomial'.", '')
    """
    here = suggestions("values", name).get(folded(value)) if type(value) is str else ""
    if not here or here == value:
        return ""
    own = f"is {here!r} here; use {name}={here!r}"
    return f"{own if here.isidentifier() else f'is not known; {here}'}."


# ----------------------------------------------------------- functions and classes


def _alike(name: str, own: Iterable[str]) -> str:
    """Return the public name with a similar spelling; empty if there is none."""
    public = {folded(entry): entry for entry in own if not entry.startswith("_")}
    return public.get(folded(name)) or errors.nearest(
        name, public.values(), SIMILAR_NAME
    )


def missing_in_module(
    module: str, name: str, own: Iterable[str], section: str = ""
) -> errors.MissingAttributeError:
    """Return the error for a name that a module lacks.

    Examples
    --------
    >>> print(missing_in_module("pegasos_stats", "vcov", []))
    module 'pegasos_stats' has no attribute 'vcov'; write result.cov_params().
    """
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):
        return errors.MissingAttributeError(text)
    instead = suggestion(name, ("names", section), ("names",))
    if not instead and (near := _alike(name, own)):
        instead = f"write {near}"
    instead = instead or NOTHING.format(module if "." in module else "ps")
    return errors.MissingAttributeError(f"{text}; {instead}.")


def suggest_names(called: str, section: str = "") -> Callable[[Class], Class]:
    """Let a class suggest names for attributes and arguments that it lacks.

    Parameters
    ----------
    called : str
        Variable name that suggestions use for an object of the class, such as
        ``result``.
    section : str, optional
        Section of the names that is searched first; `called` by default.

    Examples
    --------
    >>> @suggest_names("result")
    ... class Fit:
    ...     params = 1.0
    >>> Fit().coefs
    Traceback (most recent call last):
    pegasos_stats.errors.MissingAttributeError: 'Fit' object has no attribute 'coefs';
    write result.params.
    """

    def of_class(owner: Class) -> Class:
        def __getattr__(self: object, name: str) -> object:  # noqa: N807
            own = "names", section or called
            if hasattr(type(self), name) and not suggestion(name, own):
                return object.__getattribute__(self, name)  # raises its own error
            raise missing_attribute(self, name, called, own)

        owner.__getattr__ = __getattr__  # type: ignore[attr-defined]
        owner._called = called  # type: ignore[attr-defined]
        return with_visible_text(owner)

    return of_class


def with_visible_text(owner: Class) -> Class:
    r"""Let a class escape control characters in its texts, see `errors.visible`.

    Examples
    --------
    >>> @with_visible_text
    ... class Fit:
    ...     def __repr__(self):
    ...         return "\x07"
    >>> Fit()
    \u0007
    """

    def shown_by(method: Callable[..., str]) -> Callable[..., str]:
        @wraps(method)
        def show(self: object, *args: object, **options: object) -> str:
            return errors.visible(method(self, *args, **options))

        return show

    for name in SHOWN:
        member = inspect.getattr_static(owner, name, None)
        if inspect.isfunction(member):
            setattr(owner, name, shown_by(member))
    return owner


def missing_attribute(
    owner: object, name: str, called: str, section: tuple[str, ...]
) -> errors.MissingAttributeError:
    """Return the error for an attribute that an object lacks."""
    text = f"{type(owner).__name__!r} object has no attribute {name!r}"
    if name.startswith("_"):
        return errors.MissingAttributeError(text)
    own_names = {*dir(type(owner)), *vars(owner)}
    instead, near = suggestion(name, section), _alike(name, own_names)
    if "fit(X, y) first" in instead and "result_" in vars(owner):
        instead = suggestion(name, ("names", "fitted"))
    named = re.compile(rf"(?<![\w.]){re.escape(called)}\.(\w+)")
    lacks = not own_names.issuperset(named.findall(instead))
    if lacks and called not in ("result", "classifier"):
        instead = ""  # applies to another class that uses this section
    if not instead and near:
        instead = f"write {called}.{near}"
    elif not instead and name in sys.modules[PACKAGE].__all__:
        instead = f"write ps.{name}(...)"
    elif not instead:
        of_result = suggestion(name, ("names",)) or NOTHING.format(called)
        instead = of_result.replace(*RESULT_OF.get(called, ("", "")))
    if called == "result" and not own_names.issuperset(named.findall(instead)):
        instead = f"fits of ps.logit() and ps.svm() have it: {instead}"
    return errors.MissingAttributeError(f"{text}; {instead}.")


def missing_key(key: object, statistics: Iterable[str]) -> errors.MissingKeyError:
    """Return the error for an unknown statistic."""
    name, statistics = str(key).replace(" ", "_"), list(statistics)
    near = _alike(name, statistics)
    instead = f"write {near!r}" if near else suggestion(name, ("names", "statistic"))
    instead = instead or f"use one of {errors.listing(statistics, len(statistics))}"
    return errors.MissingKeyError(f"{errors.shown(key)} is not a statistic; {instead}.")


# ------------------------------------------------------------------------ arguments


def suggest_arguments(call: Call) -> Call:
    """Let a function, method or class suggest names for arguments that it lacks.

    Frames and columns of other libraries are converted to pandas, and resulting frames
    and columns to the library of ``data``, see `pegasos_stats.other_frames`.

    Raises
    ------
    CallError
        When the decorated function is called with an unknown argument, or without a
        required one.
    PegasosStatsError
        If the function raises it; only the last frames of its traceback remain.

    Examples
    --------
    >>> @suggest_arguments
    ... def svm(formula, data, *, lam=1.0):
    ...     return lam
    >>> svm("y ~ x", None, C=2.0)
    Traceback (most recent call last):
    pegasos_stats.errors.CallError: svm() has no argument C; write lam=1/(n*C), ...
    """
    if isinstance(call, type):
        call.__init__ = suggest_arguments(call.__init__)  # type: ignore[misc]
        return call

    @wraps(call)
    def checked(*args: object, **options: object) -> object:
        from pegasos_stats.other_frames import are_among, called  # loads pandas

        try:
            if are_among((*args, *options.values())):
                return called(call, inspect.signature(call).bind(*args, **options))
            return call(*args, **options)
        except errors.PegasosStatsError as error:
            error.__traceback__ = _last_of(error.__traceback__)
            raise
        except TypeError:
            signature = inspect.signature(call)
            refusal = _refusal(signature, args, options)
            if refusal is None:  # the arguments fit; the error is from the function
                raise
            name, section = _names_of(checked, args)
            answer = _answer(name, section, signature, options, refusal)
            raise errors.CallError(answer) from None

    return cast(Call, checked)


def _refusal(
    signature: inspect.Signature, args: tuple[object, ...], options: dict[str, object]
) -> TypeError | None:
    """Return the error if the arguments do not fit a signature, and None otherwise."""
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        return error
    return None


def _last_of(traceback: TracebackType | None) -> TracebackType | None:
    """Return the last `FRAMES` frames of a traceback, without its first."""
    frames = []
    while traceback is not None and (traceback := traceback.tb_next) is not None:
        frames.append(traceback)
    return frames[-FRAMES:][0] if frames else None


def as_function(name: str, method: Call, opening: str) -> Call:
    """Return a bound method as a function with another name, also in its errors.

    `opening` replaces the first line of its docstring.
    """
    owner, undecorated = cast(MethodType, method).__self__, inspect.unwrap(method)

    @wraps(method)
    def function(*args: object, **options: object) -> object:
        return undecorated(owner, *args, **options)

    function.__name__ = function.__qualname__ = name
    _, _, rest = (method.__doc__ or "").partition("\n")
    function.__doc__ = f"{opening.rstrip()}\n{rest}".replace("ps.svm(", f"ps.{name}(")
    function.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return suggest_arguments(cast(Call, function))


def unknown_option(
    call: str, name: str, options: Iterable[str], section: str = ""
) -> str:
    """Return the sentence for an option that a call lacks.

    Examples
    --------
    >>> unknown_option("predict", "newdata", ["data"])
    'predict() has no argument newdata; write data=.'
    """
    options = list(options)
    text = f"{call}() has no argument {errors.shown(name)[1:-1]}"
    calls = section or call, call, call.split(".")[-1]
    instead = suggestion(name, *(("options", part) for part in calls), ("options",))
    if not instead and (near := _alike(name, options)):
        instead = f"write {near}="
    if not instead:
        return f"{text}; it takes {', '.join(options) or 'none'}."
    return f"{text}; {instead}."


def _names_of(call: Callable[..., object], args: tuple[object, ...]) -> tuple[str, str]:
    """Return the name of a call as the user writes it, and its section of the table."""
    name, owner = call.__name__, args[0] if args else None
    if name == "__init__":
        return type(owner).__name__, ""
    first = next(iter(inspect.signature(call).parameters), "")
    if first == "cls" and isinstance(owner, type):
        return f"{owner.__name__}.{name}", ""
    called = getattr(type(owner), "_called", "") if first == "self" else ""
    return name, f"{called}.{name}" if called else ""


def _answer(
    name: str,
    section: str,
    signature: inspect.Signature,
    options: dict[str, object],
    refusal: TypeError,
) -> str:
    """Return the error message of a call in one sentence."""
    every = [p for p in signature.parameters.values() if p.name not in _OWN]
    names = [p.name for p in every if p.kind is not p.VAR_KEYWORD]
    for other in options:
        if other not in names:
            return unknown_option(name, other, names, section)
    needed = [p.name for p in every if p.default is p.empty]
    cure = f"pass {' and '.join(needed)}"
    if str(refusal).startswith("too many"):
        by_name = "pass others by name, not by position"
        cure = suggestion("by_place", ("options", name)) or by_name
    return f"{name}(): {refusal}; {cure}."

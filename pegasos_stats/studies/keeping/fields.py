"""Values as the fields of dataclasses declare them, as JSON and arrays, and back.

What a field may hold is read from its type, and from nothing in the file: a number,
text, an array, a frame, a fit, a model, or a dataclass with fields of its own.
"""

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd

from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.models.base import Model
from pegasos_stats.models.persist.header import Json, items, record, text
from pegasos_stats.models.persist.values import (
    cannot_hold,
    packed,
    packed_coding,
    restored,
    unpacked_coding,
)
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.keeping import parts
from pegasos_stats.studies.keeping.checks import CHECKS
from pegasos_stats.studies.keeping.frames import frame_in, frame_out
from pegasos_stats.studies.keeping.shelves import Emptying, Filling
from pegasos_stats.studies.selection.fold_metrics import Metric

NUMBERS = {float: (float, np.floating), int: (int, np.integer), bool: (bool, np.bool_)}


class Form(NamedTuple):
    """How values of a type are written, and how they are read."""

    out: Callable[[Any, Filling], Json]
    back: Callable[[Json, Emptying], Any]


@cache
def form_of(hint: Any) -> Form:
    """The form of the values of a field of this type.

    Raises
    ------
    TypeError
        If fields of this type have none.
    """
    hint = meant_by(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if hint in FORMS:
        return FORMS[hint]
    if origin in (Union, types.UnionType):
        return _one_of_several(inner)
    if origin is Literal or hint in (str, *NUMBERS):
        return _single(hint)
    if origin is np.ndarray:
        return _array(hint)
    if origin is tuple or hint is tuple:
        return _tuple(inner)
    if origin in (list, Sequence):
        return _sequence(inner[0], origin)
    if origin in (dict, Mapping):
        return _pairs(*inner)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or _is_named(hint)):
        return _fields(hint)
    raise TypeError(f"no form is known for {hint}")


def meant_by(hint: Any) -> Any:
    """The type that an alias stands for; `NDArray` is one from numpy 2.5 on.

    Examples
    --------
    >>> from numpy.typing import NDArray
    >>> get_origin(meant_by(NDArray[np.float64])) is np.ndarray
    True
    """
    value = getattr(get_origin(hint) or hint, "__value__", None)
    if value is None:
        return hint
    return value[get_args(hint)] if get_args(hint) else value


def _is_named(hint: type) -> bool:
    return issubclass(hint, tuple) and hasattr(hint, "_fields")


def _single(hint: Any) -> Form:
    """A number, text, or one of some words."""

    def back(stored: Json, emptying: Emptying) -> Any:
        found = restored(stored)
        if get_origin(hint) is Literal:
            good = isinstance(found, str) and found in get_args(hint)
        elif hint is str:
            good = type(found) is str
        else:
            also_flags = hint is bool or not isinstance(found, bool)
            good = isinstance(found, NUMBERS[hint]) and also_flags
        if not good:
            raise ValueError(f"{stored!r} is not {hint}")
        return found

    def out(value: Any, filling: Filling) -> Json:
        stored = packed(value)
        if hint is float and isinstance(value, int):  # where a whole number was given
            raise cannot_hold(value)
        return stored

    return Form(out, back)


def _array(hint: Any) -> Form:
    """An array of numbers of one type."""
    (declared,) = get_args(get_args(hint)[1])

    def back(stored: Json, emptying: Emptying) -> Any:
        found = emptying.take(stored)
        if not np.issubdtype(found.dtype, declared):
            raise ValueError(f"an array is of type {found.dtype}")
        return found

    return Form(lambda value, filling: filling.put(value), back)


def _one_of_several(hints: tuple[Any, ...]) -> Form:
    """One of several types, or None; which one it is, is written beside it."""
    kinds = [hint for hint in hints if hint is not types.NoneType]
    if set(kinds) == {Pegasos, SDCA}:
        inner = FORMS[Pegasos]
    elif len(kinds) == 1:
        inner = form_of(kinds[0])
    else:
        inner = _chosen(kinds)
    if len(kinds) == len(hints):
        return inner
    return Form(
        lambda value, filling: None if value is None else [inner.out(value, filling)],
        lambda stored, emptying: (
            None
            if stored is None
            else inner.back(items(stored, "a value", 1)[0], emptying)
        ),
    )


def _chosen(hints: list[Any]) -> Form:
    """One of several types that are not None."""
    kinds = [meant_by(hint) for hint in hints]

    def fits(value: Any, hint: Any) -> bool:
        if get_origin(hint) is np.ndarray:
            (declared,) = get_args(get_args(hint)[1])
            return isinstance(value, np.ndarray) and np.issubdtype(
                value.dtype, declared
            )
        if get_origin(hint) is Literal:
            return value in get_args(hint)
        return type(value) is (get_origin(hint) or hint)

    def out(value: Any, filling: Filling) -> Json:
        for place, hint in enumerate(kinds):
            if fits(value, hint):
                return [place, form_of(hint).out(value, filling)]
        raise cannot_hold(value)

    def back(stored: Json, emptying: Emptying) -> Any:
        place, value = items(stored, "a value", 2)
        if type(place) is not int or not 0 <= place < len(kinds):
            raise ValueError(f"{place!r} is none of {len(kinds)} types")
        return form_of(kinds[place]).back(value, emptying)

    return Form(out, back)


def _tuple(hints: tuple[Any, ...]) -> Form:
    """A tuple: of values of one type, or of some types in their order."""
    several = len(hints) == 2 and hints[1] is Ellipsis

    def of(length: int) -> list[Form]:
        return [form_of(h) for h in ([hints[0]] * length if several else hints)]

    def out(value: Any, filling: Filling) -> Json:
        each = zip(of(len(value)), value, strict=True)
        return [form.out(item, filling) for form, item in each]

    def back(stored: Json, emptying: Emptying) -> Any:
        given = items(stored, "a tuple", None if several else len(hints))
        each = zip(of(len(given)), given, strict=True)
        return tuple(form.back(item, emptying) for form, item in each)

    return Form(out, back)


def _sequence(hint: Any, origin: Any) -> Form:
    """A list; a sequence may be a tuple as well."""
    inner = _tuple((hint, Ellipsis))

    def out(value: Any, filling: Filling) -> Json:
        if type(value) not in (list, tuple) or (origin is list) > (type(value) is list):
            raise cannot_hold(value)
        return [type(value) is list, inner.out(value, filling)]

    def back(stored: Json, emptying: Emptying) -> Any:
        is_list, values = items(stored, "a list", 2)
        if is_list is not True and (is_list is not False or origin is list):
            raise ValueError(f"{is_list!r} is no kind of list")
        found = inner.back(values, emptying)
        return list(found) if is_list else found

    return Form(out, back)


def _pairs(key: Any, value: Any) -> Form:
    """A dictionary, in its order."""
    inner = _tuple((tuple[key, value], Ellipsis))

    def back(stored: Json, emptying: Emptying) -> Any:
        pairs = inner.back(stored, emptying)
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a dictionary has one name twice")
        return found

    return Form(lambda given, filling: inner.out(tuple(given.items()), filling), back)


def _fields(kind: Any) -> Form:
    """A dataclass or a named tuple, field by field."""
    hints = {k: h for k, h in get_type_hints(kind).items() if k in _names(kind)}

    def out(value: Any, filling: Filling) -> Json:
        if type(value) is not kind:
            raise cannot_hold(value)
        each = hints.items()
        return {k: form_of(h).out(getattr(value, k), filling) for k, h in each}

    def back(stored: Json, emptying: Emptying) -> Any:
        given = record(stored, f"a {kind.__name__}", list(hints))
        each = given.items()  # arrays stand in the order of the fields
        found = kind(**{k: form_of(hints[k]).back(v, emptying) for k, v in each})
        if kind in CHECKS:
            CHECKS[kind](found)
        return found

    return Form(out, back)


def _names(kind: Any) -> Sequence[str]:
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    names: Sequence[str] = kind._fields
    return names


def _any_out(value: Any, filling: Filling) -> Json:
    """Write a label or the like, which may be an array of numbers."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return ["array", filling.put(value)]
    return ["value", packed(value)]


def _any_in(stored: Json, emptying: Emptying) -> Any:
    """Undo `_any_out`."""
    form, value = items(stored, "a value", 2)
    if text(form, "a value") == "array":
        return emptying.take(value)
    if form != "value":
        raise ValueError(f"a value is of the form {form!r}")
    return restored(value)


FORMS: dict[Any, Form] = {
    Any: Form(_any_out, _any_in),
    object: Form(_any_out, _any_in),
    pd.DataFrame: Form(frame_out, frame_in),
    Results: Form(parts.fit_out, parts.fit_in),
    Model: Form(parts.model_out, parts.model_in),
    Pegasos: Form(parts.solver_out, parts.solver_in_object),
    SDCA: Form(parts.solver_out, parts.solver_in_object),
    Metric: Form(parts.metric_out, parts.metric_in),
    LabelCoding: Form(
        lambda value, filling: packed_coding(value),
        lambda stored, emptying: unpacked_coding(stored),
    ),
}

"""Dataclasses as JSON and arrays, and back, by the type hints of their fields.

A dataclass is described once, where it is declared. What hints alone do not say stands
in two tables: `FORMS` has types that are written in a way of their own, `RULES` what a
class has beside its fields. Fields that computed properties keep are of the types that
these properties return.
"""

import dataclasses
import types
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from inspect import getattr_static
from typing import (
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import pandas as pd

from pegasos_stats.data.labels import Dtype
from pegasos_stats.persist.archive import Json, Value
from pegasos_stats.persist.values import (
    LARGEST,
    ArrayReader,
    ArrayWriter,
    Form,
    any_back,
    any_out,
    cannot_hold,
    dtype_back,
    dtype_out,
    frame_back,
    frame_out,
    index_back,
    index_out,
    items,
)

ANY = Form(any_out, any_back)
FORMS: dict[object, Form] = {
    Any: ANY,
    object: ANY,
    Hashable: ANY,
    Dtype: Form(dtype_out, dtype_back),
    pd.DataFrame: Form(frame_out, frame_back),
    pd.Index: Form(index_out, index_back),
}
CONCRETE: dict[object, tuple[type, ...]] = {}  # classes in the place of an abstract one
NAMES: dict[str, object] = {}  # that hints have and their modules import for mypy alone
NUMBERS = {
    float: (float, int, np.floating),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}


class Rule(NamedTuple):
    """What a class has beside its fields.

    Attributes
    ----------
    check : callable, optional
        Conditions for the fields to go together.
    shapes : str
        Arrays and their shapes, such as ``"beta p, X np"``: a letter for each
        dimension, the same letter for the same size.
    bounds : dict of (float, float) to str
        The least and the largest number that fields of these names, or their items,
        may be.
    prepared : callable, optional
        Makes what is written of an object.
    computed : tuple of str
        Computed properties whose values are written, where there are any.
    hints : dict of str to type
        Types, or forms, of fields that are not as declared.
    later, gone : tuples of str
        Fields with a default that files of earlier versions do not have, and fields
        that they have and the class no more.
    """

    check: Callable[[Value], Iterable[object]] = lambda found: ()
    shapes: str = ""
    bounds: Mapping[tuple[float, float], str] = {}
    prepared: Callable[[Value], Value] = lambda found: found
    computed: tuple[str, ...] = ()
    hints: Mapping[str, object] = {}
    later: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def verify(self, found: Value) -> None:
        """Raise ValueError for an object that is not good."""
        sizes: dict[str, int] = {}
        for name, letters in map(str.split, filter(None, self.shapes.split(", "))):
            array = getattr(found, name)
            if array is None:
                continue
            each = zip(letters, array.shape, strict=array.ndim == len(letters))
            if array.ndim != len(letters) or any(
                sizes.setdefault(letter, size) != size for letter, size in each
            ):
                raise ValueError(f"{name} has the shape {array.shape}")
        for (low, high), names in self.bounds.items():
            for name in names.split():
                value = getattr(found, name)
                numbers = np.asarray([] if value is None else value)
                if not ((numbers >= low) & (numbers <= high)).all():
                    raise ValueError(f"{name} is not from {low:g} to {high:g}")
        if not all(self.check(found)):
            raise ValueError(f"a {type(found).__name__} does not hold together")


RULES: dict[type, Rule] = {}


@cache
def form_of(hint: object) -> Form:
    """The form of the values of a field of this type.

    Raises
    ------
    TypeError
        If fields of this type have none.

    Examples
    --------
    >>> form_of(tuple[int, ...]).out((1, 2), ArrayWriter())
    [1, 2]
    """
    if isinstance(hint, Form):
        return hint
    hint = meant_by(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if hint in FORMS:
        return FORMS[hint]
    if hint in CONCRETE:
        return _one_of(CONCRETE[hint])
    if origin in (Union, types.UnionType):
        return _union(inner)
    if origin is Literal or hint in (str, *NUMBERS):
        return _single(hint)
    if origin is np.ndarray:
        return _array(hint)
    if origin is tuple:
        return _items(inner, tuple)
    if origin is list:
        return _items((inner[0], Ellipsis), list)
    if origin is Sequence:
        of_list = types.GenericAlias(list, inner)
        return _one_of((of_list, types.GenericAlias(tuple, (*inner, Ellipsis))))
    if origin in (dict, Mapping):
        return _functions() if get_origin(inner[1]) is Callable else _pairs(*inner)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or _is_named(hint)):
        return _fields(hint)
    raise TypeError(f"no form is known for {hint}")


def meant_by(hint: object) -> Any:
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


def _is_of(value: object, hint: Any) -> bool:
    """Whether a value is of a type; of a container, whether it is one."""
    hint = meant_by(hint)
    origin = get_origin(hint) or hint
    if origin is Literal:
        return any(type(value) is type(a) and value == a for a in get_args(hint))
    if origin in NUMBERS:
        is_flag = isinstance(value, bool) and hint is not bool
        return isinstance(value, NUMBERS[hint]) and not is_flag
    if origin is np.ndarray:
        (declared,) = get_args(get_args(hint)[1])
        return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, declared)
    if origin in (Sequence, Mapping):
        return type(value) in ((list, tuple) if origin is Sequence else (dict,))
    if origin in CONCRETE:
        return type(value) in CONCRETE[origin]
    return type(value) is origin


def _single(hint: object) -> Form:
    """A number, text, or one of some words."""

    def back(stored: Json, reader: ArrayReader) -> Value:
        found = any_back(stored, reader)
        is_huge = isinstance(found, int) and abs(found) > LARGEST
        if not _is_of(found, hint) or is_huge:
            raise ValueError(f"{stored!r} is not {hint}")
        return found

    return Form(any_out, back)


def _array(hint: object) -> Form:
    """An array of numbers of one type."""

    def back(stored: Json, reader: ArrayReader) -> Value:
        found = reader.take(stored)
        if not _is_of(found, hint):
            raise ValueError(f"an array is of type {found.dtype}")
        return found

    return Form(lambda value, writer: writer.put(value), back)


def _union(hints: tuple[object, ...]) -> Form:
    """One of several types, or None."""
    if Any in hints:
        return ANY
    others = tuple(hint for hint in hints if hint is not types.NoneType)
    form = form_of(others[0]) if len(others) == 1 else _one_of(others)
    if len(others) == len(hints):
        return form
    return Form(
        lambda value, writer: None if value is None else form.out(value, writer),
        lambda stored, reader: None if stored is None else form.back(stored, reader),
    )


def _one_of(hints: tuple[object, ...]) -> Form:
    """One of several types, whose name is written beside it."""
    named = {_name_of(hint): hint for hint in hints}

    def out(value: Value, writer: ArrayWriter) -> Json:
        for name, hint in named.items():
            if _is_of(value, hint):
                return {name: form_of(hint).out(value, writer)}
        raise cannot_hold(value)

    def back(stored: Json, reader: ArrayReader) -> Value:
        ((name, value),) = stored.items()
        return form_of(named[name]).back(value, reader)

    return Form(out, back)


def _name_of(hint: object) -> str:
    """The name of a type; of arrays that of their numbers."""
    hint = meant_by(hint)
    origin = get_origin(hint) or hint
    if origin is Literal:
        return "Literal"
    of: Any = get_args(get_args(hint)[1])[0] if origin is np.ndarray else origin
    name: str = of.__name__
    return name


def _items(hints: tuple[object, ...], kind: Callable[[list[Value]], Value]) -> Form:
    """A tuple or list: of values of one type, or of some types in their order."""
    several = len(hints) == 2 and hints[1] is Ellipsis

    def of(length: int) -> list[Form]:
        return [form_of(h) for h in ([hints[0]] * length if several else hints)]

    def out(value: Value, writer: ArrayWriter) -> Json:
        each = zip(of(len(value)), value, strict=True)
        return [form.out(item, writer) for form, item in each]

    def back(stored: Json, reader: ArrayReader) -> Value:
        given = items(stored, "a list", None if several else len(hints))
        each = zip(of(len(given)), given, strict=True)
        return kind([form.back(item, reader) for form, item in each])

    return Form(out, back)


def _pairs(key: object, value: object) -> Form:
    """A dictionary, in its order."""
    inner = _items((types.GenericAlias(tuple, (key, value)), Ellipsis), list)

    def back(stored: Json, reader: ArrayReader) -> Value:
        pairs = inner.back(stored, reader)
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a dictionary has one name twice")
        return found

    return Form(lambda given, writer: inner.out(list(given.items()), writer), back)


def _functions() -> Form:
    """Functions of the user, of which a file has the names."""

    def out(given: Mapping[str, Callable[..., object]], writer: ArrayWriter) -> Json:
        for name, function in given.items():
            writer.use(name, function)
        return sorted(given)

    def back(stored: Json, reader: ArrayReader) -> Value:
        return {name: reader.function(name) for name in items(stored, "functions")}

    return Form(out, back)


def _fields(kind: type) -> Form:
    """A dataclass or a named tuple, field by field."""
    rule = RULES.get(kind, Rule())
    is_class = dataclasses.is_dataclass(kind)
    fields = (
        [f.name for f in dataclasses.fields(kind)]
        if is_class
        else [*getattr(kind, "_fields", ())]
    )
    declared = {**get_type_hints(kind, localns=NAMES), **rule.hints}
    hints = {name: declared[name] for name in fields}
    computed = {name: _returned(kind, name) for name in rule.computed}

    def out(value: Value, writer: ArrayWriter) -> Json:
        if type(value) is not kind:
            raise cannot_hold(value)
        value = rule.prepared(value)
        stored = {
            name: form_of(hint).out(getattr(value, name), writer)
            for name, hint in hints.items()
        }
        known = vars(value) if computed else {}
        for name, hint in computed.items():
            if name in known:
                stored[name] = form_of(hint).out(known[name], writer)
        return stored

    def back(stored: Json, reader: ArrayReader) -> Value:
        every = hints | computed
        if type(stored) is dict:
            stored = {k: v for k, v in stored.items() if k not in rule.gone}
        if (
            type(stored) is not dict
            or not hints.keys() - rule.later <= stored.keys() <= every.keys()
        ):
            raise ValueError(f"a {kind.__name__} has not its fields")
        # Arrays stand in the order of the file.
        values = {k: form_of(every[k]).back(v, reader) for k, v in stored.items()}
        found = kind(**{name: values.pop(name) for name in hints if name in values})
        if computed:
            vars(found).update(values)
        rule.verify(found)
        return found

    return Form(out, back)


def _returned(kind: type, name: str) -> object:
    """The type of a computed property."""
    function = getattr_static(kind, name).func
    found: object = get_type_hints(function, localns=NAMES)["return"]
    return found

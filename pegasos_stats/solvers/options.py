"""Options, each declared once: as a field of the dataclass that has them.

Name, type, allowed values and default are those of the field; `option` says the rest.
Checks, summaries, saved models and the lines that repeat a fit read them from there;
what the command line says of them is in its own list.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from pegasos_stats.checks import check_choice, check_flag

Value = TypeVar("Value")
Check = Callable[[str, Any], object]


@dataclass(frozen=True)
class Option:
    """An option as its field declares it.

    Attributes
    ----------
    name : str
    kind : type
        Of its values, None apart.
    choices : tuple of str
        Values by name that are allowed; empty if there are none.
    optional : bool
        Whether None is allowed.
    default : object
    check, form, said, in_r
        As for `option`.
    """

    name: str
    kind: object
    choices: tuple[str, ...] = ()
    optional: bool = True
    default: object = None
    check: Check | None = None
    form: str = ""
    said: str = ""
    in_r: bool = False

    def checked(self, value: object) -> object:
        """Return the value to keep, or raise `OptionError` if it is not allowed."""
        if value is None and self.optional:
            return None
        if self.check is not None:
            return self.check(self.name, value)
        if self.kind is bool:
            check_flag(self.name, value)
        else:
            check_choice(self.name, value, self.choices)
        return value


def option(
    default: Value,
    *,
    check: Check | None = None,
    form: str = "",
    said: str = "",
    in_r: bool = False,
) -> Value:
    """Declare a field that is an option.

    Parameters
    ----------
    default : object
    check : callable, optional
        Takes name and value; returns the value to keep, or raises `OptionError`. Flags
        and choices by name need none.
    form, said : str
        What the option makes of a fit where it is not at its default, in the header of
        a summary and, where that is not the same, in the line of the command line;
        ``{}`` stands for the value.
    in_r : bool
        Whether the function of the R reference has an argument of this name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Jump:
    ...     way: Literal["high", "far"] = option("high")
    >>> declared(Jump)["way"].choices
    ('high', 'far')
    """
    told = {
        "check": check,
        "form": form,
        "said": said or form,
        "in_r": in_r,
    }
    return field(default=default, metadata=told)


def declared(owner: type) -> dict[str, Option]:
    """Options of a dataclass by name, in their order."""
    if owner not in _READ:
        hints = get_type_hints(owner)
        _READ[owner] = {
            f.name: Option(f.name, *_kind(hints[f.name]), f.default, **f.metadata)
            for f in fields(owner)
        }
    return _READ[owner]


# By hand: for mypy a type is no key of functools.cache.
_READ: dict[type, dict[str, Option]] = {}


def _kind(hint: object) -> tuple[object, tuple[str, ...], bool]:
    """Type without None, choices by name, and whether None is one of the values."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    some = tuple(kind for kind in kinds if kind is not NoneType)
    named = [get_args(kind) for kind in some if get_origin(kind) is Literal]
    return Union[some], sum(named, ()), NoneType in kinds  # noqa: UP007


def check_option(owner: object, name: str) -> None:
    """Check an option of a dataclass, and keep it as its check gives it back."""
    checked = declared(type(owner))[name].checked(getattr(owner, name))
    object.__setattr__(owner, name, checked)


def values_of(owner: object) -> dict[str, Any]:
    """Values of all options of a dataclass."""
    return {name: getattr(owner, name) for name in declared(type(owner))}


def given(owner: object) -> dict[str, Any]:
    """Values of the options that are not at their default."""
    options = declared(type(owner))
    return {
        name: value
        for name, value in values_of(owner).items()
        if isinstance(value, np.ndarray) or value != options[name].default
    }

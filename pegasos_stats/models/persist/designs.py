"""Designs as JSON, and back: how new data become a matrix."""

import re
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.doubtful import Doubtful
from pegasos_stats.data.factor_levels import factored
from pegasos_stats.data.formula import read_outcome
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.language.expressions import Functions, columns_in
from pegasos_stats.data.language.reading import read_expression
from pegasos_stats.data.language.syntax import is_word, shown
from pegasos_stats.data.offset import Offset
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.errors import DataError, FormulaError, PegasosStatsError, listing
from pegasos_stats.models.persist import header
from pegasos_stats.models.persist.header import Json, items
from pegasos_stats.models.persist.values import packed, unpacked

if TYPE_CHECKING:
    from formulaic import ModelSpec

NUMBER = re.compile(r"\d+\.?\d*|\.\d+", re.ASCII)
ADVICE = "compute these columns in the data before the fit."


def packed_design(design: Design) -> dict[str, Json]:
    """Write a design as JSON.

    Raises
    ------
    DataError
        If its terms have no such form.
    """
    if isinstance(design, ScaledDesign):
        return {
            "kind": "scaled",
            "design": packed_design(design.design),
            "centre": packed(design.scaling.centre.tolist()),
            "scale": packed(design.scaling.scale.tolist()),
        }
    if isinstance(design, FrameDesign):
        return {
            "kind": "frame",
            "columns": packed(list(design.columns)),
            "named": design.named,
            "formula": design.formula,
            **_names_of(design.functions),
        }
    if not isinstance(design, FormulaDesign):
        raise DataError(f"A {type(design).__name__} cannot be saved.")
    return {
        "kind": "formula",
        "formula": design.formula,
        "names": list(design.names),
        "variables": list(design.variables),
        "numeric": list(design.numeric),
        **_names_of(design.functions),
        **_doubtful_of(design),
        "spec": packed_spec(design.spec),
    }


def unpacked_design(
    stored: dict[str, Json], functions: Functions | None = None
) -> Design:
    """Undo `packed_design`.

    Parameters
    ----------
    stored : dict
    functions : dict of str to callable, optional
        The functions of the caller that the formula calls.

    Raises
    ------
    DataError
        If the formula does more than compute with columns, or calls a function that is
        not given.
    """
    if stored["kind"] == "scaled":
        numbers = (unpacked(stored[name]) for name in ("centre", "scale"))
        scaling = Scaling(*(np.array(each, dtype=np.float64) for each in numbers))
        return ScaledDesign(unpacked_design(stored["design"], functions), scaling)
    own = functions_of(stored.get("functions", []), functions or {})
    if stored["kind"] == "frame":
        columns = tuple(unpacked(stored["columns"]))
        _check_outcome(stored["formula"], columns, own)
        return FrameDesign(columns, stored["named"], stored["formula"], own)
    names, variables, numeric = (
        tuple(stored[field]) for field in ("names", "variables", "numeric")
    )
    _check_outcome(stored["formula"], variables, own)
    _check_terms(stored, set(variables), own)
    spec = unpacked_spec(stored["spec"])
    found = [str(name) for part in spec.structure or [] for name in part.columns]
    if list(names) != [name for name in found if name != "Intercept"]:
        raise ValueError("its coefficients are not the columns of its terms")
    doubtful = tuple(Doubtful(*each) for each in unpacked(stored.get("doubtful", [])))
    given = names, variables, numeric, own, doubtful
    return FormulaDesign(stored["formula"], spec, *given)


def packed_spec(spec: "ModelSpec") -> dict[str, Json]:
    """Terms, the state of transformations, levels, and which columns they give."""
    terms, structure = list(spec.formula), spec.structure or []
    if [part.term for part in structure] != terms:
        raise DataError(f"The terms of this formula cannot be saved; {ADVICE}")
    levels = []
    for expr, (kind, state) in spec.encoder_state.items():
        # The contrasts follow from the expression.
        kept = {key: value for key, value in state.items() if key != "contrasts"}
        levels.append([expr, kind.value, packed(kept)])
    columns = []
    for part in structure:
        scopes = [
            [packed(scope.scale), [[f.factor.expr, f.reduced] for f in scope.factors]]
            for scope in part.scoped_terms
        ]
        columns.append([list(part.columns), scopes])
    return {
        "materializer": spec.materializer,
        "terms": [
            [[f.expr, f.eval_method.value, f.kind.value] for f in term.factors]
            for term in terms
        ],
        "transforms": packed(dict(spec.transform_state)),
        "levels": levels,
        "columns": columns,
    }


def unpacked_spec(stored: dict[str, Json]) -> "ModelSpec":
    """Undo `packed_spec`."""
    from formulaic import ModelSpec, SimpleFormula
    from formulaic.materializers.base import EncodedTermStructure
    from formulaic.materializers.types import EvaluatedFactor, ScopedFactor, ScopedTerm
    from formulaic.parser.types import Factor, Term

    terms = [
        Term([Factor(e, eval_method=m, kind=k) for e, m, k in factors])
        for factors in stored["terms"]
    ]
    known = {f.expr: EvaluatedFactor(f, None) for t in terms for f in t.factors}
    structure = []
    for term, (columns, scopes) in zip(terms, stored["columns"], strict=True):
        scoped = [
            ScopedTerm([ScopedFactor(known[e], r) for e, r in parts], unpacked(scale))
            for scale, parts in scopes
        ]
        structure.append(EncodedTermStructure(term, scoped, columns))
    return ModelSpec(
        formula=SimpleFormula(terms, _ordering="none"),
        materializer=stored["materializer"],
        materializer_params={},
        na_action="ignore",
        output="pandas",
        structure=structure,
        transform_state=unpacked(stored["transforms"]),
        encoder_state={
            expr: (Factor.Kind(kind), unpacked(state))
            for expr, kind, state in stored["levels"]
        },
    )


def check_same(design: Design, rebuilt: Design) -> None:
    """Raise `DataError` unless both give the same matrix for rows made up here."""
    if not np.array_equal(replayed(design), replayed(rebuilt), equal_nan=True):
        raise DataError(
            f"The formula {design.formula!r} cannot be saved: rebuilt from a file it "
            f"would give other columns; {ADVICE}"
        )


def replayed(design: Design) -> NDArray[np.float64]:
    """Compute the matrix of rows made up here; none if a term does not allow them."""
    if isinstance(design, ScaledDesign):
        return replayed(design.design)
    if isinstance(design, FormulaDesign):
        with suppress(PegasosStatsError):
            return np.asarray(design.matrix(_probe(design)).values)
    return np.empty((0, 0))


def _probe(design: FormulaDesign) -> pd.DataFrame:
    """Rows with every level that the design knows."""
    levels: dict[str, list[object]] = {}
    for factor, (_, state) in design.spec.encoder_state.items():
        if "categories" in state:
            name = factored(factor, design.variables)
            levels.setdefault(name, list(state["categories"]))
    n, numeric = max([4, *map(len, levels.values())]), set(design.numeric)
    numbers = np.linspace(0.25, 0.75, n)
    columns = {}
    for variable in design.variables:
        default = list(numbers) if variable in numeric else ["a"]
        known = levels.get(variable, default)
        columns[variable] = [known[i % len(known)] for i in range(n)]
    return pd.DataFrame(columns)


def _names_of(functions: Functions) -> dict[str, list[str]]:
    """Names of the functions of the caller, where there are any."""
    return {"functions": sorted(functions)} if functions else {}


def _doubtful_of(design: FormulaDesign) -> dict[str, Json]:
    """Columns that were hardly meant as factors, where there are any."""
    found = [list(vars(column).values()) for column in design.doubtful]
    return {"doubtful": packed(found)} if found else {}


def functions_of(names: list[str], given: Functions) -> Functions:
    """Functions that a formula calls, of those that the caller gives."""
    if not isinstance(names, list) or not all(map(is_word, names)):
        raise ValueError(f"functions have the names {names!r}")
    missing = [name for name in names if name not in given]
    if missing:
        word = "function" if len(missing) == 1 else "functions"
        pairs = ", ".join(f"{name!r}: {name}" for name in missing)
        raise DataError(
            f"The formula of the model calls the {word} {listing(missing)}, which no "
            f"file holds; give load(path, functions={{{pairs}}})."
        )
    return {name: given[name] for name in names}


def _check_outcome(
    formula: str | None, columns: Collection[str], functions: Functions
) -> None:
    """Raise `DataError` for an outcome that does more than compute with columns."""
    if formula is None:
        return
    try:
        read_outcome(formula, columns, functions)
    except FormulaError as error:
        raise _not_in_a_file(f"The formula {shown(formula)}", error) from None


def check_offset(term: str, functions: Functions) -> None:
    """Raise `DataError` for an offset that does more than compute with columns."""
    try:
        read_expression(term, (), term, functions)
    except FormulaError as error:
        raise _not_in_a_file(f"The offset {shown(term)}", error) from None


def _check_terms(
    stored: dict[str, Json], variables: set[str], functions: Functions
) -> None:
    """Raise `DataError` for terms that are no columns, numbers or known functions."""
    for factors in stored["spec"]["terms"]:
        for expr, method, _ in factors:
            if method == "literal" and NUMBER.fullmatch(expr):
                continue
            used = {expr}
            if method != "lookup":
                try:
                    tree = read_expression(expr, variables, expr, functions)
                except FormulaError as error:
                    raise _not_in_a_file(f"The term {shown(expr)}", error) from None
                used = columns_in(tree)
            if unknown := used - variables:
                raise DataError(
                    f"The term {shown(expr)} cannot be part of a saved model: it uses "
                    f"{listing(sorted(unknown))}, which is no column of the model."
                )


def _not_in_a_file(what: str, error: FormulaError) -> DataError:
    return DataError(f"{what} cannot be part of a saved model: it {error.reason}")


def packed_offset(offset: Offset) -> list[Json]:
    """Column, whether numbers were given, expressions, and functions they may call."""
    names = sorted(offset.functions) if offset.terms else []
    return [offset.column, offset.given, list(offset.terms), names]


def unpacked_offset(stored: Json, functions: Functions) -> Offset | None:
    """Undo `packed_offset`; None of fits without one.

    Raises
    ------
    ValueError
        If it is not as it was written.
    DataError
        If an expression does more than compute with columns.
    """
    if stored is None:
        return None
    column, given, terms, names = items(stored, "the offset", 4)
    column, given = header.text(column, "a name"), header.flag(given, "the offset")
    terms = tuple(header.text(term, "an offset") for term in items(terms, "offsets"))
    own = functions_of(names, functions)
    for term in terms:
        check_offset(term, own)
    if (bool(column) and given) or not (column or given or terms):
        raise ValueError("the offset is from nowhere, or from two places")
    return Offset(column, given, terms, own)

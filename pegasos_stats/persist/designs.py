"""Designs as JSON, and back: how new data become a matrix."""

import ast
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.design import Design, FrameDesign
from pegasos_stats.errors import DataError, PegasosStatsError
from pegasos_stats.formula import split_formula, unwrapped
from pegasos_stats.formula_design import FormulaDesign
from pegasos_stats.persist.values import packed, unpacked
from pegasos_stats.scaling import ScaledDesign, Scaling

if TYPE_CHECKING:
    from formulaic import ModelSpec

ADVICE = "compute these columns in the data before the fit."
ELEMENTWISE = ("where", "clip", "round", "around", "nan_to_num")
OF_COLUMNS = (
    "abs",
    "astype",
    "between",
    "clip",
    "dt",
    "fillna",
    "isin",
    "round",
    "str",
)


def packed_design(design: Design) -> dict[str, Any]:
    """Write a design as JSON, made sure that it can be rebuilt.

    Raises
    ------
    DataError
        If it cannot.
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
        }
    if not isinstance(design, FormulaDesign):
        raise DataError(f"A {type(design).__name__} cannot be saved.")
    stored = _packed_formula(design)
    _check_replay(design, unpacked_design(json.loads(json.dumps(stored))))
    return stored


def unpacked_design(stored: dict[str, Any]) -> Design:
    """Undo `packed_design`."""
    if stored["kind"] == "scaled":
        numbers = (unpacked(stored[name]) for name in ("centre", "scale"))
        scaling = Scaling(*(np.array(each, dtype=np.float64) for each in numbers))
        return ScaledDesign(unpacked_design(stored["design"]), scaling)
    if stored["kind"] == "frame":
        columns = tuple(unpacked(stored["columns"]))
        return FrameDesign(columns, stored["named"], stored["formula"])
    names, variables, numeric = (
        tuple(stored[field]) for field in ("names", "variables", "numeric")
    )
    _check_expressions(stored)
    spec = _unpacked_spec(stored["spec"])
    return FormulaDesign(stored["formula"], spec, names, variables, numeric)


def _packed_formula(design: FormulaDesign) -> dict[str, Any]:
    return {
        "kind": "formula",
        "formula": design.formula,
        "names": list(design.names),
        "variables": list(design.variables),
        "numeric": list(design.numeric),
        "spec": _packed_spec(design.spec),
    }


def _packed_spec(spec: "ModelSpec") -> dict[str, Any]:
    """Terms, the state of transformations, levels, and which columns they give."""
    terms = list(spec.formula)
    structure = spec.structure or []
    if [part.term for part in structure] != terms:
        raise DataError(f"The terms of this formula cannot be saved; {ADVICE}")
    return {
        "materializer": spec.materializer,
        "terms": [[_packed_factor(f) for f in term.factors] for term in terms],
        "transforms": packed(dict(spec.transform_state)),
        "levels": [_packed_encoder(*item) for item in spec.encoder_state.items()],
        "columns": [[list(s.columns), _packed_scopes(s)] for s in structure],
    }


def _packed_factor(factor: Any) -> list[str]:
    return [factor.expr, factor.eval_method.value, factor.kind.value]


def _packed_encoder(expr: str, state: Any) -> list[Any]:
    """Kind and levels of a factor; the contrasts follow from its expression."""
    kind, found = state
    kept = {key: value for key, value in found.items() if key != "contrasts"}
    return [expr, kind.value, packed(kept)]


def _packed_scopes(part: Any) -> list[Any]:
    return [
        [packed(scope.scale), [[f.factor.expr, f.reduced] for f in scope.factors]]
        for scope in part.scoped_terms
    ]


def _unpacked_spec(stored: dict[str, Any]) -> "ModelSpec":
    from formulaic import ModelSpec, SimpleFormula
    from formulaic.parser.types import Factor, Term

    terms = [
        Term([Factor(e, eval_method=m, kind=k) for e, m, k in factors])
        for factors in stored["terms"]
    ]
    return ModelSpec(
        formula=SimpleFormula(terms, _ordering="none"),
        materializer=stored["materializer"],
        materializer_params={},
        na_action="ignore",
        output="pandas",
        structure=_unpacked_structure(stored["columns"], terms),
        transform_state=unpacked(stored["transforms"]),
        encoder_state={
            expr: (Factor.Kind(kind), unpacked(state))
            for expr, kind, state in stored["levels"]
        },
    )


def _unpacked_structure(stored: list[Any], terms: list[Any]) -> list[Any]:
    from formulaic.materializers.base import EncodedTermStructure
    from formulaic.materializers.types import (
        EvaluatedFactor,
        ScopedFactor,
        ScopedTerm,
    )

    factors = {f.expr: EvaluatedFactor(f, None) for t in terms for f in t.factors}
    return [
        EncodedTermStructure(
            term,
            [
                ScopedTerm(
                    [ScopedFactor(factors[expr], reduced) for expr, reduced in scoped],
                    unpacked(scale),
                )
                for scale, scoped in scopes
            ],
            columns,
        )
        for term, (columns, scopes) in zip(terms, stored, strict=True)
    ]


def _check_replay(design: FormulaDesign, rebuilt: Any) -> None:
    """Raise `DataError` unless both give the same matrix for rows made up here."""
    try:
        probe = _probe(design)
        expected = design.matrix(probe).values
    except PegasosStatsError:  # made-up numbers may be outside of what a term allows
        return
    if not np.array_equal(rebuilt.matrix(probe).values, expected):
        raise DataError(
            f"The formula {design.formula!r} cannot be saved: rebuilt from a file it "
            f"would give other columns; {ADVICE}"
        )


def _probe(design: FormulaDesign) -> pd.DataFrame:
    """Rows with every level that the design knows."""
    levels: dict[str, list[Any]] = {}
    for factor, (_, state) in design.spec.encoder_state.items():
        if "categories" in state:
            levels.setdefault(unwrapped(factor), list(state["categories"]))
    n = max([4, *map(len, levels.values())])
    numbers = np.linspace(0.25, 0.75, n)
    columns = {}
    for variable in design.variables:
        default = list(numbers) if variable in design.numeric else ["a"]
        known = levels.get(variable, default)
        columns[variable] = [known[i % len(known)] for i in range(n)]
    return pd.DataFrame(columns)


def _check_expressions(stored: dict[str, Any]) -> None:
    """Raise `DataError` for terms that do more than compute with columns."""
    if "@" in split_formula(stored["formula"])[0]:
        raise DataError(f"The outcome of {stored['formula']!r} cannot be saved.")
    for factors in stored["spec"]["terms"]:
        for expr, method, _ in factors:
            if method == "python":
                _check_expression(expr, set(stored["variables"]))


def _check_expression(expr: str, variables: set[str]) -> None:
    from formulaic.utils.code import sanitize_variable_names

    aliases: dict[str, str] = {}
    code = sanitize_variable_names(expr, dict.fromkeys(variables), aliases)
    for node in ast.walk(ast.parse(code, mode="eval")):
        if not _harmless(node, variables | set(aliases)):
            raise DataError(
                f"The term {expr!r} cannot be part of a saved model, where formulaic's "
                "functions, numpy's elementwise functions and "
                f"{', '.join(ELEMENTWISE)} are allowed; {ADVICE}"
            )


def _harmless(node: ast.AST, variables: set[str]) -> bool:
    """Whether a piece of an expression only computes, and opens no way out."""
    from formulaic.transforms import TRANSFORMS

    if isinstance(node, ast.Name):
        return node.id in variables or node.id in TRANSFORMS
    if isinstance(node, ast.Attribute):
        return _harmless_attribute(node, variables)
    return not isinstance(node, ast.Lambda | ast.GeneratorExp | ast.ListComp)


def _harmless_attribute(node: ast.Attribute, variables: set[str]) -> bool:
    """Whether ``np.name``, ``contr.name``, ``column.name`` or ``column.str.name``."""
    owner, name = node.value, node.attr
    if name.startswith(("_", "to_")):
        return False
    if isinstance(owner, ast.Attribute):
        return owner.attr in ("dt", "str")
    if not isinstance(owner, ast.Name):
        return False
    if owner.id == "np":
        found = getattr(np, name, None)
        return isinstance(found, np.ufunc | float) or name in ELEMENTWISE
    return owner.id not in variables or name in OF_COLUMNS

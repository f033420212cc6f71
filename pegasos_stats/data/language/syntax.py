"""Pieces of Python's syntax: operators that formulas have, and what they refuse."""

import ast

REFUSED = {
    ast.Lambda: "defines a function (lambda)",
    ast.GeneratorExp: "loops (for)",
    ast.ListComp: "loops (for)",
    ast.SetComp: "loops (for)",
    ast.DictComp: "loops (for)",
    ast.NamedExpr: "assigns (:=)",
    ast.Await: "waits (await)",
    ast.Yield: "yields",
    ast.YieldFrom: "yields",
    ast.JoinedStr: "formats text (f'...')",
    ast.Subscript: "takes items, x[...]",
    ast.Starred: "spreads values (*)",
    ast.IfExp: "chooses (if ... else), which is written ifelse(test, yes, no)",
}
OPERATOR_NAMES = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.And: "&",
    ast.Or: "|",
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Invert: "not",
    ast.Not: "not",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}

"""Small changes of a module, of the kind that a tired or a hostile hand would make.

Docstrings, annotations, imports, ``__repr__`` and plain text are left alone.
"""

import ast
import copy
import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Pow: ast.Mult,
}
PAIRS = ["min max", "minimum maximum", "argmin argmax", "any all", "floor ceil"]
PAIRS += ["zeros ones", "zeros_like ones_like", "mean sum", "exp expm1", "log log1p"]
PAIRS += ["nanmin nanmax", "amin amax", "cumsum cumprod", "left right", "lower upper"]
TWINS = {a: b for pair in map(str.split, PAIRS) for a, b in (pair, pair[::-1])}
DROPPED = {"abs", "fabs", "sqrt", "square", "exp", "log", "sorted", "reversed"}
COSMETIC = {"stacklevel", "strict", "encoding", "dtype", "category"}
INDICES = {"i", "j", "k", "n", "t", "row", "column", "place", "start", "stop"}
TINY = 1e-3  # a number below is a tolerance: it is made 10 or 512 times as large
LEFT_ALONE = {"__repr__", "_repr_html_", "_repr_pretty_"}


@dataclass(frozen=True)
class Place:
    """One change: bytes ``start`` to ``end`` of the source become ``text``."""

    line: int
    function: str
    change: str
    start: int
    end: int
    text: str

    def applied(self, source: bytes) -> bytes:
        """Return the source with this change."""
        return source[: self.start] + self.text.encode() + source[self.end :]


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    place: Place

    def diff(self, source: bytes) -> str:
        """Lines taken out and put in."""
        old, new = (
            text.decode().splitlines() for text in (source, self.place.applied(source))
        )
        lines = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
        return "\n".join(f"    {line}" for line in lines if not line.startswith("@@"))


@dataclass(frozen=True)
class _Seen:
    """A node, the function that it is in, and the nearest node with a place."""

    node: ast.AST
    function: str
    anchor: ast.AST
    inside: ast.AST | None  # the function's own node


def places(source: bytes) -> list[Place]:
    """All changes of a module, in order of their place."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = {
        place
        for seen in _nodes(tree)
        for change, old, new in _changes(seen)
        if (place := _place(starts, seen, change, old, new)) is not None
    }
    return sorted(found, key=lambda place: (place.start, place.change, place.text))


def _place(
    starts: list[int], seen: _Seen, change: str, old: Any, new: ast.AST
) -> Place | None:
    """Put the new node into the place of the old one; None if that changes nothing."""
    at: Any = seen.anchor if isinstance(seen.anchor, ast.JoinedStr) else old
    if at is not old:
        new = _Replaced(old, new).visit(copy.copy(at))
    text = _text(new)
    if ast.unparse(at) in (text, text[1:-1]):
        return None
    start = starts[at.lineno - 1] + at.col_offset
    end = starts[at.end_lineno - 1] + at.end_col_offset
    line = old.lineno if old.lineno >= at.lineno else at.lineno
    return Place(line, seen.function, change, start, end, text)


def _nodes(tree: ast.Module) -> Iterator[_Seen]:
    todo: list[_Seen] = [_Seen(tree, "", tree, None)]
    while todo:
        seen = todo.pop()
        node = seen.node
        if not isinstance(node, ast.Module):
            yield seen
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        function = f"{seen.function}.{node.name}".strip(".") if named else seen.function
        inside = node if isinstance(node, ast.FunctionDef) else seen.inside
        for child in _children(node):
            anchor = seen.anchor if isinstance(seen.anchor, ast.JoinedStr) else child
            todo.append(_Seen(child, function, anchor, inside))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.FunctionDef) and node.name in LEFT_ALONE:
        return
    for field, value in ast.iter_fields(node):
        if isinstance(node, ast.keyword) and node.arg in COSMETIC:
            return
        if field in ("annotation", "returns", "decorator_list", "format_spec", "ctx"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and hasattr(child, "lineno"):
                if not (_is_text(child) or _is_for_types(child)):
                    yield child
            elif isinstance(child, ast.arguments | ast.comprehension):
                yield from _children(child)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _changes(seen: _Seen) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """What could be another node: the change, the old node and the new one."""
    node = seen.node
    if isinstance(node, ast.stmt) and _may_be_left_out(node, seen.inside):
        yield "statement left out", node, ast.Pass()
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        for value in (False,) if isinstance(node, ast.While) else (False, True):
            yield f"condition always {value}", node.test, ast.Constant(value)
    for kind, change in EXPRESSIONS.items():
        if isinstance(node, kind):
            for name, new in change(node):
                yield name, node, new


def _text(new: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(new))
    alone = ast.stmt | ast.Constant | ast.Name | ast.Call | ast.JoinedStr
    return text if isinstance(new, alone) else f"({text})"


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return a copy, with the new node for the old one."""
        return self.new if node is self.old else self.generic_visit(copy.copy(node))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Leave the lists of the original as they are."""
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, field, [self.visit(v) for v in value])
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node


def _with(node: ast.AST, field: str, value: object) -> ast.AST:
    changed = copy.copy(node)
    setattr(changed, field, value)
    return changed


def _may_be_left_out(node: ast.stmt, inside: ast.AST | None) -> bool:
    """Tell whether the absence of a statement is no error by itself."""
    if inside is None:
        return False
    if isinstance(node, ast.Assign):
        return _set_before(node, inside)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, ast.Raise | ast.Continue | ast.Break | ast.AugAssign)


def _set_before(node: ast.Assign, inside: ast.AST) -> bool:
    target = node.targets[0]
    if not isinstance(target, ast.Name):
        return isinstance(target, ast.Subscript | ast.Attribute)
    names = [n for n in ast.walk(inside) if isinstance(n, ast.Name | ast.arg)]
    return any(
        (name.arg if isinstance(name, ast.arg) else name.id) == target.id
        and name.lineno < node.lineno
        for name in names
    )


def _compare(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for i, op in enumerate(node.ops):
        for new in COMPARISONS[type(op)]:
            ops = [*node.ops[:i], new(), *node.ops[i + 1 :]]
            yield "comparison", _with(node, "ops", ops)


def _binary(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    text = any(
        _is_text(v) or isinstance(v, ast.JoinedStr) for v in (node.left, node.right)
    )
    if not text and type(node.op) in ARITHMETIC:
        yield "operator", _with(node, "op", ARITHMETIC[type(node.op)]())
    if isinstance(node.op, ast.Pow):
        more = ast.BinOp(node.right, ast.Add(), ast.Constant(1))
        yield "exponent", _with(node, "right", more)
    if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        yield "operand dropped", node.left


def _constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
        if value > 0:
            yield "constant", ast.Constant(value - 1)
    elif isinstance(value, float):
        factors = (10.0, 512.0) if 0.0 < value < TINY else (2.0, 0.5)
        for factor in factors if value else ():
            yield "constant", ast.Constant(value * factor)
        if not value:
            yield "constant", ast.Constant(1.0)


def _call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else ""
    name = function.id if isinstance(function, ast.Name) else name
    if name in DROPPED and node.args:
        yield "call dropped", node.args[0]
    if name in TWINS and isinstance(function, ast.Name | ast.Attribute):
        field = "id" if isinstance(function, ast.Name) else "attr"
        yield "twin function", _with(node, "func", _with(function, field, TWINS[name]))
    if len(node.args) > 1 and type(node.args[0]) is type(node.args[1]):
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield "arguments swapped", _with(node, "args", swapped)
    for keyword in node.keywords:
        if keyword.arg not in COSMETIC:
            rest = [other for other in node.keywords if other is not keyword]
            yield "argument left out", _with(node, "keywords", rest)


def _unary(node: ast.UnaryOp) -> Iterator[tuple[str, ast.AST]]:
    yield "sign or not dropped", node.operand


def _boolean(node: ast.BoolOp) -> Iterator[tuple[str, ast.AST]]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "and, or", _with(node, "op", other)
    for i in range(len(node.values)):
        rest = node.values[:i] + node.values[i + 1 :]
        yield (
            "operand dropped",
            rest[0] if len(rest) == 1 else _with(node, "values", rest),
        )


def _augmented(node: ast.AugAssign) -> Iterator[tuple[str, ast.AST]]:
    if type(node.op) in ARITHMETIC:
        yield "operator", _with(node, "op", ARITHMETIC[type(node.op)]())


def _joined(node: ast.JoinedStr) -> Iterator[tuple[str, ast.AST]]:
    for i, part in enumerate(node.values):
        if isinstance(part, ast.FormattedValue):
            rest = node.values[:i] + node.values[i + 1 :]
            yield "field of a text left out", ast.JoinedStr(rest)


def _subscript(node: ast.Subscript) -> Iterator[tuple[str, ast.AST]]:
    index = node.slice
    if isinstance(index, ast.Name) and index.id in INDICES:
        more = ast.BinOp(index, ast.Add(), ast.Constant(1))
        yield "index", _with(node, "slice", more)
    if isinstance(index, ast.Slice):
        for field in ("lower", "upper", "step"):
            if getattr(index, field) is not None:
                yield "slice", _with(node, "slice", _with(index, field, None))


EXPRESSIONS: dict[type[ast.AST], Callable[..., Iterator[tuple[str, ast.AST]]]] = {
    ast.Compare: _compare,
    ast.BinOp: _binary,
    ast.Constant: _constant,
    ast.Call: _call,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.AugAssign: _augmented,
    ast.JoinedStr: _joined,
    ast.Subscript: _subscript,
}

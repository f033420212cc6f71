"""How compiled code does what ``lanes.py`` says, in vector instructions.

Nothing here is about Pegasos. Every entry names the Python function, its types, and
emits the LLVM instructions that replace it.
"""

import operator
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder
from llvmlite.ir import Value
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext as Context
from numba.core.datamodel import DataModelManager, models, register_default
from numba.core.typing import Signature, signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin
from numba.np.arrayobj import make_array, populate_array

from pegasos_stats.compiled.arithmetic import lanes
from pegasos_stats.compiled.arithmetic.lanes import LANES

INT32 = ir.IntType(32)
INT64 = ir.IntType(64)
DOUBLE = ir.DoubleType()
VECTOR = ir.VectorType(DOUBLE, LANES)
V: TypeAlias = Value
Values: TypeAlias = Sequence[Value]
Emitter = TypeVar("Emitter", bound=Callable[..., Value])

INTO_L2 = 2  # the locality hint of llvm.prefetch: not the first-level cache


class LanesType(types.Type):  # type: ignore[misc]
    """The numba type of lanes."""


@register_default(LanesType)
class LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    """Lanes are one LLVM vector."""

    def __init__(self, manager: DataModelManager, fe_type: types.Type) -> None:
        super().__init__(manager, fe_type, VECTOR)


L = LanesType("lanes")
F = types.float64
N = types.intp
A = types.Array  # any array: stands for the type of the argument itself


def emits(
    function: Callable[..., object], result: types.Type, *arguments: types.Type
) -> Callable[[Emitter], Emitter]:
    """Register the decorated emitter as the compiled form of ``function``."""

    class Template(AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, args: Sequence[types.Type], kws: object) -> Signature:
            pairs = zip(args, arguments, strict=True)
            return signature(
                result, *(got if want is A else want for got, want in pairs)
            )

    infer_global(function, types.Function(Template))
    emitter: Callable[[Emitter], Emitter] = lower_builtin(function, *arguments)
    return emitter


def call(builder: Builder, name: str, result: ir.Type, *values: Value) -> Value:
    """Call an LLVM intrinsic."""
    kind = ir.FunctionType(result, [value.type for value in values])
    return builder.call(
        cgutils.get_or_insert_function(builder.module, kind, name), values
    )


def shuffle(builder: Builder, a: Value, b: Value, *order: int) -> Value:
    """Pick lanes of ``a`` (0 to 3) and ``b`` (4 to 7)."""
    mask = ir.Constant(ir.VectorType(INT32, len(order)), list(order))
    return builder.shuffle_vector(a, b, mask)


def splat(builder: Builder, value: Value) -> Value:
    """Copy one number to every lane."""
    empty = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    one = builder.insert_element(empty, value, INT32(0))
    return shuffle(builder, one, empty, *[0] * LANES)


def address(
    context: Context, builder: Builder, kind: types.Array, array: Value, j: Value
) -> Value:
    """Return the address of ``array[j]`` in a contiguous one-dimensional array."""
    data = make_array(kind)(context, builder, array).data
    return builder.gep(data, [j], inbounds=True)


class _Visited(AbstractTemplate):  # type: ignore[misc]
    key = lanes.visited

    def generic(self, args: Sequence[types.Type], kws: object) -> Signature:
        X = args[0]
        row = types.Array(X.dtype, 1, "C", readonly=not X.mutable, aligned=X.aligned)
        return signature(row, *args[:2], N)


infer_global(lanes.visited, types.Function(_Visited))


@lower_builtin(lanes.visited, A, A, N)
def _visited(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    X = make_array(sig.args[0])(context, builder, args[0])
    p = cgutils.unpack_tuple(builder, X.shape, 2)[1]
    i = builder.load(address(context, builder, sig.args[1], *args[1:]))
    row = make_array(sig.return_type)(context, builder)
    start = builder.gep(X.data, [builder.mul(i, p)], inbounds=True)
    populate_array(row, start, [p], [X.itemsize], X.itemsize, X.meminfo)
    return row._getvalue()


@emits(lanes.load, L, A, N)
def _load(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    start = address(context, builder, sig.args[0], *args)
    kind = ir.VectorType(start.type.pointee, LANES)
    size = sig.args[0].dtype.bitwidth // 8
    value = builder.load(builder.bitcast(start, kind.as_pointer()), align=size)
    return builder.fpext(value, VECTOR) if size == 4 else value


@emits(lanes.load_part, L, A, N, N)
def _load_part(
    context: Context, builder: Builder, sig: Signature, args: Values
) -> Value:
    start = address(context, builder, sig.args[0], *args[:2])
    kind = ir.VectorType(start.type.pointee, LANES)
    size = sig.args[0].dtype.bitwidth // 8
    places = ir.Constant(ir.VectorType(INT64, LANES), list(range(LANES)))
    wanted = builder.icmp_signed("<", places, splat(builder, args[2]))
    pointer = builder.bitcast(start, kind.as_pointer())
    zeros = ir.Constant(kind, [0.0] * LANES)
    name = f"llvm.masked.load.v{LANES}f{8 * size}.p0"
    value = call(builder, name, kind, pointer, INT32(size), wanted, zeros)
    return builder.fpext(value, VECTOR) if size == 4 else value


@emits(lanes.store, types.none, A, N, L)
def _store(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    start = address(context, builder, sig.args[0], *args[:2])
    builder.store(args[2], builder.bitcast(start, VECTOR.as_pointer()), align=8)
    return context.get_dummy_value()


@emits(lanes.prefetch, types.none, A, N)
def _prefetch(
    context: Context, builder: Builder, sig: Signature, args: Values
) -> Value:
    start = address(context, builder, sig.args[0], *args)
    place = builder.bitcast(start, ir.IntType(8).as_pointer())
    read, data = INT32(0), INT32(1)
    call(builder, "llvm.prefetch.p0", ir.VoidType(), place, read, INT32(INTO_L2), data)
    return context.get_dummy_value()


@emits(lanes.lanes, L, F, F, F, F)
def _lanes(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    value = ir.Constant(VECTOR, ir.Undefined)
    for i, arg in enumerate(args):
        value = builder.insert_element(value, arg, INT32(i))
    return value


@emits(lanes.lane, F, L, N)
def _lane(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    return builder.extract_element(*args)


@emits(lanes.every, L, L, N)
def _every(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    return splat(builder, builder.extract_element(*args))


@emits(lanes.shifted, L, F, L)
def _shifted(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    moved = shuffle(builder, args[1], args[1], 0, 0, 1, 2)
    return builder.insert_element(moved, args[0], INT32(0))


@emits(lanes.fused, L, L, L, L)
def _fused(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    return call(builder, f"llvm.fmuladd.v{LANES}f64", VECTOR, *args)


@emits(lanes.below, L, L, F)
def _below(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    is_below = builder.fcmp_ordered("<", args[0], splat(builder, args[1]))
    one, zero = (ir.Constant(VECTOR, [value] * LANES) for value in (1.0, 0.0))
    return builder.select(is_below, one, zero)


@emits(lanes.where_below, L, L, F, L)
def _where_below(
    context: Context, builder: Builder, sig: Signature, args: Values
) -> Value:
    is_below = builder.fcmp_ordered("<", args[0], splat(builder, args[1]))
    return builder.select(is_below, args[2], ir.Constant(VECTOR, [0.0] * LANES))


@emits(lanes.all_apart, types.boolean, L, F, F)
def _all_apart(
    context: Context, builder: Builder, sig: Signature, args: Values
) -> Value:
    a, centre, distance = args
    gap = builder.fsub(a, splat(builder, centre))
    gap = call(builder, f"llvm.fabs.v{LANES}f64", VECTOR, gap)
    apart = builder.fcmp_ordered(">", gap, splat(builder, distance))
    bits = builder.bitcast(apart, ir.IntType(LANES))
    return builder.icmp_unsigned("==", bits, ir.IntType(LANES)(2**LANES - 1))


@emits(lanes.total, F, L)
def _total(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    value = _totals(context, builder, sig, [args[0]] * LANES)
    return builder.extract_element(value, INT32(0))


@emits(lanes.totals, L, L, L, L, L)
def _totals(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
    a, b, c, d = args
    ab = _add(builder, a, b, (0, 4, 2, 6), (1, 5, 3, 7))
    cd = _add(builder, c, d, (0, 4, 2, 6), (1, 5, 3, 7))
    return _add(builder, ab, cd, (0, 1, 4, 5), (2, 3, 6, 7))


def _add(
    builder: Builder, a: Value, b: Value, one: Sequence[int], other: Sequence[int]
) -> Value:
    """Add two choices of lanes."""
    return builder.fadd(shuffle(builder, a, b, *one), shuffle(builder, a, b, *other))


def _arithmetic(symbol: Callable[..., object], instruction: str) -> None:
    """Let ``symbol`` work between lanes, and between lanes and a number."""

    class Template(AbstractTemplate):  # type: ignore[misc]
        key = symbol

        def generic(self, args: Sequence[types.Type], kws: object) -> Signature:
            if len(args) == 2 and L in args:
                return signature(L, *(L if arg == L else F for arg in args))
            return None

    def emit(context: Context, builder: Builder, sig: Signature, args: Values) -> V:
        pairs = zip(args, sig.args, strict=True)
        a, b = (arg if kind == L else splat(builder, arg) for arg, kind in pairs)
        return getattr(builder, instruction)(a, b)

    infer_global(symbol)(Template)
    for kinds in ((L, L), (L, F), (F, L)):
        lower_builtin(symbol, *kinds)(emit)


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")
_arithmetic(operator.truediv, "fdiv")

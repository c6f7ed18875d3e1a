"""What the lowering of expressions asks of their shapes and types."""

from __future__ import annotations

import operator

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.cells import cell
from opi_xform.ir.comparisons import COMPARISONS
from opi_xform.ir.lowering.truths import is_null, negated
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.types import INT, LONG, SIZE_T, Type
from opi_xform.ir.walk import within


def whole(address: ins.Operand) -> ins.Operand:
    """``&b[0][0]`` is commonly the whole array, not its first row: the subscripts' bounds are dropped."""
    parts: list[ins.PtrAdd] = []
    base = address
    while isinstance(base, ins.PtrAdd) and zero_constant(base.index):
        parts.append(base)
        base = base.base
    if isinstance(base, ins.PtrAdd) or not parts:
        return address
    return base


def callee(e: ast.Expr) -> ast.Expr:
    """``(*f)(…)`` and ``(&f)(…)`` call ``f``."""
    while isinstance(e, (ast.Deref, ast.AddrOf)) and isinstance(e.operand, (ast.FuncRef, ast.VarRef)):
        if isinstance(e, ast.Deref) and isinstance(e.operand, ast.VarRef) and not e.operand.type.is_pointer:
            break
        e = e.operand
    return e


def compares(operand: ins.Operand) -> bool:
    """Somewhere in the operand a number is made that may come from an address: a comparison, a difference, a cast."""
    work = [operand]
    while work:
        item = work.pop()
        if isinstance(item, ins.Op):
            if (
                item.op in COMPARISONS
                or item.op in ("not", "ptrdiff")
                or (item.op == "cast" and item.type.kind == "int")
            ):
                return True
            work.extend(item.args)
    return False


def read_again(e: ast.Assign) -> bool:
    """Reading what a pointer was assigned to gives the value of the assignment, and does nothing else."""
    if e.op or not e.target.type.is_pointer:
        return False
    work: list[ast.Expr] = [e.target]
    while work:
        item = work.pop()
        if item.type.volatile or item.type.atomic:
            return False
        match item:
            case ast.VarRef() | ast.IntLit():
                pass
            case ast.Member(base=inner) | ast.Deref(operand=inner) | ast.Cast(operand=inner):
                work.append(inner)
            case ast.Index():
                work += [item.base, item.index]
            case _:
                return False
    return True


def or_null(e: ast.Expr) -> ast.Conditional | None:
    """``c ? malloc(n) : NULL``, either way round and behind casts of pointers."""
    while isinstance(e, ast.Cast) and e.type.is_pointer:
        e = e.operand
    if isinstance(e, ast.Conditional) and e.type.is_pointer and is_null(e.then) != is_null(e.other):
        return e
    return None


def decayed(t: Type) -> Type:
    return Type("pointer", t.spelling, 8, elem=t.elem) if t.is_array else t


def view(address: ins.Operand, to: Type) -> ins.Operand:
    """The address, seen from here on as that of bytes or numbers."""
    return ins.Op("cast", (address,), Type("pointer", to.spelling, 8, elem=to.elem or to), view=True)


def steps_over_rows(t: Type) -> bool:
    """An address of arrays of variable length."""
    to = decayed(t)
    return to.is_pointer and to.elem is not None and to.elem.vla


def is_union(type_: Type | None) -> bool:
    return type_ is not None and type_.kind == "record" and any(word in type_.record for word in ("@U@", "@UA@"))


def is_member(e: ast.Expr) -> bool:
    """A number that is a member of a struct, or an element of an array that is one, and in no union with an address."""
    while isinstance(e, ast.Index) and e.base.type.is_array:
        e = e.base
    return isinstance(e, ast.Member) and not e.punned


def params(callee: Type) -> tuple[Type, ...]:
    """The parameters of what is called, a function or a pointer to one."""
    while callee.is_pointer and callee.elem is not None:
        callee = callee.elem
    return callee.params or ()


def pointee_size(t: Type) -> int:
    if t.elem is None or t.elem.kind in ("void", "function"):
        return 1
    return t.elem.size or 0


def unary(e: ast.Unary, inner: ins.Operand) -> ins.Operand:
    if e.op == "+":
        return inner
    if isinstance(inner, ins.Const) and e.op == "-" and inner.name != ast.PROC_NULL:
        return ins.Const(-inner.value)
    if e.op == "!" and e.operand.type.kind == "float":
        return ins.Nondet("floating arithmetic", (inner,))
    flipped = negated(inner) if e.op == "!" else None
    if flipped is not None:
        return flipped
    unsigned = e.type.kind == "int" and not e.type.signed
    return ins.Op({"-": "neg", "!": "not", "~": "~"}[e.op], (inner,), e.type, unsigned)


def calls(e: ast.Expr) -> bool:
    """A function is called where it is evaluated, which may change any variable that others can reach."""
    return any(isinstance(x, (ast.Call, ast.Opaque)) for x in within(e))


def converted(inner: ins.Operand, source: Type, to: Type) -> ins.Operand:
    """A value of one type as one of another."""
    wider = source.kind == "int" and not source.signed and (source.size or 0) < (to.size or 0)
    return ins.Op("cast", (inner,), to, unsigned=wider)


def operands_of_compound(e: ast.Assign, old: ins.Operand, value: ins.Operand) -> tuple[Type, ins.Operand, ins.Operand]:
    """The type in which C computes ``target op= value`` (6.5.16.2p3), and both operands.

    What is added, multiplied or masked is the same in the target's type, however wide it was computed: so the operands
    stay what they are, and only the result tells that it may lose bits.  What is divided is not: -6 / 8u is no -1.
    """
    target, given = e.target.type, decayed(e.value.type)
    if target.kind != "int" or given.kind != "int":
        return target, old, value
    left, right = _promoted(target), _promoted(given)
    if e.op in ("<<", ">>"):
        common = left
    elif (left.size or 0) != (right.size or 0):
        common = max(left, right, key=lambda t: t.size or 0)
    else:
        common = right if left.signed else left
    if e.op in ("/", "%", ">>"):
        if common != left:
            old = converted(old, target, common)
        if common != right and e.op != ">>":
            value = converted(value, given, common)
        return common, old, value
    if target.size == 4 and common.size == 8:
        return LONG if target.signed else SIZE_T, old, value
    return target, old, value


def _promoted(type_: Type) -> Type:
    """The type in which an integer is computed with (6.3.1.1p2); a bit-field is taken for an int."""
    return INT if type_.boolean or (type_.size or 0) < 4 else type_


def all_of(own: Type, type_: Type) -> bool:
    """An access of this type is to all of a variable of type ``own``, which is a scalar: no ``*(char *)&n``.

    ``*(volatile int *)&n`` is none of the variable as everybody else sees it.
    """
    steady = own.volatile or own.atomic or not (type_.volatile or type_.atomic)
    return own.is_scalar and own.size == type_.size and steady


def whole_cell(address: ins.Operand, function: ast.Function) -> ins.Operand:
    """The address of the variable that the number at a constant place of another counts as (``ir/cells.py``)."""
    offset, at = 0, address
    while isinstance(at, ins.PtrAdd) and isinstance(at.index, ins.Const):
        offset, at = offset + at.index.value * at.scale, at.base
    if not isinstance(at, ins.AddrVar) or (key := cell(at.key, offset)) not in function.variables:
        return address
    return ins.AddrVar(key, at.span)


def decided(e: ast.Expr) -> bool | None:
    """Whether the size of a floating type is this number, or that of another; None: it is no such comparison.

    ``sizeof(real) == 4`` is decided where the text is compiled (premise 5).  Other types may be an MPI's handles, whose
    sizes are the MPI's affair.
    """
    if not isinstance(e, ast.Binary) or e.op not in _COMPARED:
        return None
    sides = []
    for side in (e.left, e.right):
        while isinstance(side, ast.Cast):
            if side.type.kind != "int":
                return None
            side = side.operand
        match side:
            case ast.SizeOf(value=int(value), operand_type=Type(kind="float")):
                sides.append(value)
            case ast.IntLit(value=value, name="") if 0 <= value < _MOST:
                sides.append(value)
            case _:
                return None
    if not any(isinstance(x, ast.SizeOf) for side in (e.left, e.right) for x in within(side)):
        return None
    return bool(_COMPARED[e.op](*sides))


_MOST = 1 << 7  # a number that every integer type holds
_COMPARED = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

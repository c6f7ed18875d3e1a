"""What holds of an expression wherever it is written: how far its subscripts go, whether its value is fixed."""

from __future__ import annotations

from opi_xform.ir import ast

OPEN = 1 << 40  # bytes to the end of an object, whatever its size


def bound(array: ast.Expr) -> int:
    """Bytes that a subscript of an array stays inside (C 6.5.6), or ``OPEN``; 0 when nothing is known.

    An array at the end of a struct may go on after it (the "struct hack"), unless the struct is a declared variable;
    one in a union may go on as far as the union.
    """
    at, ends = array, False
    while True:
        match at:
            case ast.Member(last=False):
                break
            case ast.Member():
                if at.offset + (at.type.size or 0) + at.padding < (at.base.type.size or 0):
                    return OPEN
                at, ends = at.base, True
            case ast.Index() if at.base.type.is_array:
                at = at.base
            case ast.Cast() if not at.explicit:
                at = at.operand
            case ast.VarRef():
                break
            case _:
                if ends:
                    return OPEN
                break
    return array.type.size or 0


def bound_of_sum(e: ast.Binary) -> int:
    """The same of an array and a number, ``s->list + i``, which is the place of an element as ``&s->list[i]`` is.

    Only of an array of a struct, with one dimension: 0 for others.
    """
    for side in (e.left, e.right):
        while isinstance(side, ast.Cast) and not side.explicit:
            side = side.operand
        elem = side.type.elem if side.type.is_array else None
        if isinstance(side, ast.Member) and elem is not None and not elem.is_array and e.op == "+":
            return bound(side)
    return 0


def is_fixed(e: ast.Expr | None) -> bool:
    """Nothing is read or called for the value, so it is the same wherever it is written: numbers and addresses.

    A name of the library's may look like a constant and be none: ``errno`` calls a function and reads memory.
    """
    work = [e] if e is not None else []
    while work:
        at = work.pop()
        match at:
            case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.FuncRef():
                pass
            case ast.SizeOf():
                if at.value is None:
                    return False
            case ast.MacroConst(operand=inner):
                work += [] if inner is None else [inner]
            case ast.Cast(operand=inner) | ast.Unary(operand=inner) | ast.CompoundLit(init=inner):
                work.append(inner)
            case ast.Binary(left=left, right=right):
                work += (left, right)
            case ast.InitList(items=items):
                work += items
            case ast.VarRef() | ast.Member() | ast.Index() | ast.AddrOf():
                if not isinstance(at, ast.AddrOf) and not at.type.is_array:
                    return False
                place = at.operand if isinstance(at, ast.AddrOf) else at
                while not isinstance(place, ast.VarRef):
                    if isinstance(place, ast.Member):
                        place = place.base
                    elif isinstance(place, ast.Index) and place.base.type.is_array:
                        work.append(place.index)
                        place = place.base
                    else:
                        return False
            case _:
                return False
    return True

"""Kinds of numbers in memory, as ``taint`` follows them: a value that was stored as one kind may be read as another.

A whole number may travel in a floating one, as its bytes (``union { double d; long i; }``, ``memcpy``), and a floating
one as characters or words.  Its bytes are followed then, and it is a value again where it is read as what it was.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.ir.walk import children, expressions, within
from opi_xform.memory.poly import Poly
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program

Stretch = tuple[int, int]  # first byte, bytes
Kind = str  # of a number in memory: one that was stored as a floating number is none as its bytes are
WHOLE, FLOAT = "whole", "float"
EITHER: tuple[Kind, ...] = (WHOLE, FLOAT)
Marks = frozenset[str]
"""What a value may be: ``VALUE``: one itself; a kind: its bytes are those of one that was stored as the other kind of
number (an address of a neighbour that travels in a double, the bytes of a double as characters)."""
VALUE = "value"
NO_MARKS: Marks = frozenset()
ALL: Marks = frozenset({VALUE, *EITHER})


def kinds_of(type_: Type) -> tuple[Kind, ...]:
    """Of numbers in a place of this type."""
    if type_.kind in ("record", "array", "unknown"):
        return EITHER
    return (FLOAT,) if type_.kind == "float" else (WHOLE,)


def is_floating(type_: Type | None) -> bool:
    """Floating numbers and arrays of them."""
    while type_ is not None and type_.is_array:
        type_ = type_.elem
    return type_ is not None and type_.kind == "float"


def passes_over(program: Program) -> bool:
    """Whether there are calls of functions that are not looked at where they are called (``relevance``)."""
    graph = program.graph
    entered = {frame.call for frame in graph.frames}
    for n in graph.followed - entered:
        call = graph.nodes[n].action
        if (
            isinstance(call, ins.CallInstr)
            and isinstance(call.callee, ins.AddrFunc)
            and call.callee.key in graph.lowered
        ):
            return True
    return False


def puns(program: Program) -> bool:
    """Whether the source has bytes of a floating number as those of another: a cast of a pointer, a copy, a union."""
    members: dict[tuple[str, int], set[bool]] = {}
    for function in program.functions.values():
        for whole in expressions(function.body):
            for e in within(whole):
                match e:
                    case ast.Cast(operand=inner) if e.type.is_pointer and _differ(e.type, inner.type):
                        if not (_is_void(e.type) or _is_void(inner.type)):
                            return True
                    case ast.Call(callee=ast.FuncRef(name=name), args=args) if name in program.effects:
                        given = [_written(a).type for a in args]
                        copied = ((flow.target, flow.source) for flow in program.effects[name].flows)
                        if any(_differ(*(given[i] for i in two if i is not None and i < len(given))) for two in copied):
                            return True
                    case ast.Member(base=base, offset=offset) if base.type.record:
                        members.setdefault((base.type.record, offset), set()).add(is_floating(e.type))
                    case _:
                        pass
    return any(len(found) > 1 for found in members.values())


def _differ(*types: Type) -> bool:
    """One of two pointers leads to floating numbers, the other does not."""
    both = [t for t in types if t.is_pointer or t.is_array]
    return len(both) == 2 and is_floating(both[0].elem) != is_floating(both[1].elem)


def _is_void(type_: Type) -> bool:
    return type_.elem is not None and type_.elem.kind == "void"


def _written(e: ast.Expr) -> ast.Expr:
    while isinstance(e, ast.Cast) and e.type.is_pointer and (e.operand.type.is_pointer or e.operand.type.is_array):
        e = e.operand
    return e


def tag_offset(program: Program) -> int | None:
    """Where in a status its tag is, if the program ever looks at one."""
    for function in program.functions.values():
        for whole in expressions(function.body):
            for e in within(whole):
                if isinstance(e, ast.Member) and e.field == "MPI_TAG":
                    return e.offset
    return None


def kinds_for(marks: Marks, type_: Type) -> tuple[Kind, ...]:
    """Of what a place of this type is given."""
    mine = kinds_of(type_) if VALUE in marks else ()
    return tuple(kind for kind in EITHER if kind in mine or kind in marks)


def meet(one: Stretch | None, other: Stretch | None) -> bool:
    """Whether two stretches of an object have a byte in common."""
    return one is None or other is None or (one[0] < sum(other) and other[0] < sum(one))


def stands_for(value: int, null: int | None) -> bool:
    """A constant is MPI_PROC_NULL's number, or becomes it in an integer type: ``UINT_MAX``, or 65535 in a short.

    null: the number, where that counts.
    """
    return null is not None and (value - null) % 256 == 0  # of the fewest bits: what is so in more is so in these


def begins_as(variable: ast.Variable, null: int | None) -> bool:
    """A static object whose initialiser may hold MPI_PROC_NULL (null: its number, where that counts)."""
    stack = [] if variable.init is None else [variable.init]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.IntLit):
            if item.name == ast.PROC_NULL or stands_for(item.value, null):
                return True
        elif isinstance(item, ast.Opaque) or _negative(item, null) or _has_numbers(item):
            return True
        stack.extend(children(item))
    return False


def _has_numbers(item: ast.Expr) -> bool:
    """A text with characters that are written as numbers, or that no keyboard has."""
    if not isinstance(item, ast.StringLit):
        return False
    text = item.text
    return text is None or not text.isascii() or len(re.sub(r"\\[^0-7xuU]", " ", text)) != item.length - 1


def _negative(item: ast.Expr, null: int | None) -> bool:
    """A floating number with a minus sign that may be its number."""
    if null is None or not isinstance(item, ast.Unary) or item.op != "-":
        return False
    signed = [x.value for x in within(item.operand) if isinstance(x, ast.FloatLit)]
    plain = isinstance(item.operand, ast.FloatLit)
    return any(value is None or not plain or -value == null for value in signed)


@once
def floating_sources(program: Program) -> tuple[tuple[ast.Expr, ...], tuple[ast.FloatLit, ...]]:
    """What is made a floating number anywhere in a program, and the floating constants written with a minus sign."""
    casts: list[ast.Expr] = []
    signed: list[ast.FloatLit] = []
    inits = [v.init for v in program.variables.values() if v.init is not None]
    bodies = [e for f in program.functions.values() for e in expressions(f.body)]
    for whole in (*bodies, *inits):
        for item in within(whole):
            if isinstance(item, ast.Cast) and item.type.kind == "float" and item.operand.type.kind != "float":
                casts.append(item.operand)
            elif isinstance(item, ast.Unary) and item.op == "-" and isinstance(item.operand, ast.FloatLit):
                signed.append(item.operand)
    return tuple(casts), tuple(signed)


def has_one(source: ast.Expr, null: int | None, suspects: Collection[str | None], known: bool) -> bool:
    """Whether MPI_PROC_NULL may be in an expression.  suspects: variables that may hold it.  known: some place does."""
    for item in within(source):
        match item:
            case ast.IntLit(value=value, name=name):
                if name == ast.PROC_NULL or stands_for(value, null):
                    return True
            case ast.VarRef(var=key):
                if key in suspects:
                    return True
            case ast.Index() | ast.Member() | ast.Deref() | ast.Call() | ast.Opaque():
                if known:
                    return True
            case _:
                pass
    return False


def given_as_pointer(operand: ins.Operand) -> bool:
    """A number, cast."""
    return isinstance(operand, ins.Op) and operand.op == "cast"


def zeroes(values: Sequence[Poly], call: ins.CallInstr) -> bool:
    """A call reads nothing, and the numbers given to it are known: zeros, and how many (``memset``)."""
    numbers = [v for v, a in zip(values, call.call.args, strict=False) if a.type.kind == "int" and a.type.signed]
    return bool(numbers) and all(v.constant == 0 for v in numbers)

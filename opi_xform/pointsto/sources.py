"""Of what a value is made, as far as addresses go."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import instr as ins
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.pointsto.inclusions import BYTES, NO_OBJECT, OUTSIDE, Name

COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!=", "not"})


def sources(
    objects: Objects, frame: int, operand: ins.Operand, differences: bool = True
) -> Iterator[tuple[str, int | Name | ins.Operand]]:
    """``addr`` of objects, ``copy`` of what names hold, ``seen``: an operand whose value is seen as bytes.

    differences: an address may be made of the distance between two.
    """
    stack = [operand]
    exact = True  # not a part of a number that is computed
    while stack:
        item = stack.pop()
        match item:
            case ins.Const() | ins.AddrString() | ins.AddrFunc():
                if exact:
                    yield "addr", NO_OBJECT
            case ins.AddrVar(key=key):
                yield "addr", objects.variable(frame, key)
            case ins.Var(key=key):
                yield "copy", ("c", objects.variable(frame, key))
            case ins.Temp(number=n):
                yield "copy", ("t", frame, n)
            case ins.PtrAdd(base=base):
                stack.append(base)
            case ins.Op(op="cast", args=(inner,), type=type_, view=view) if type_.is_pointer:
                yield from sources(objects, frame, inner)
                if view:
                    yield "seen", inner
                elif not isinstance(inner, ins.Const):
                    yield "copy", BYTES  # a number became an address
            case ins.Op(args=args, op=op):
                exact = False
                if op not in COMPARISONS and (differences or op != "ptrdiff"):
                    stack.extend(args)
            case ins.Nondet(reason="floating constant"):
                pass
            case ins.Nondet(reason="floating arithmetic"):
                yield "copy", BYTES  # an address became a floating number when it was cast to one
            case ins.Nondet():
                yield "addr", UNKNOWN
                yield "copy", OUTSIDE
            case _:
                pass

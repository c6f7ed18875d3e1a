"""What the words of a call's argument say of where its message lies."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.walk import uncast
from opi_xform.ownership.model.buffers import Refusal, Use
from opi_xform.ownership.model.lvalues import UNSPELLED, in_same_words, spelling
from opi_xform.ownership.model.roots import base_of, leftmost

POINTER = "a message needs a pointer to a buffer of its own"
BEGINS_INSIDE = "the call begins inside"


def by_its_arguments(use: Use) -> Refusal | None:
    """What the arguments of a call alone tell of its message, whatever else keeps it."""
    argument = use.call.args[use.argument]
    found = pointers_themselves(argument) or in_a_number(argument) or one_of_two(argument)
    return found or sent_and_received(use)


def sent_and_received(use: Use) -> Refusal | None:
    """A call sends from the very place at which it receives, and is none that replaces what it sends."""
    sent, received = use.op.send, use.op.recv
    if sent is None or received is None or use.op.replaces or use.op.kind != "sendrecv" or sent.buf == received.buf:
        return None
    e, at = use.call.args[sent.buf], use.call.args[received.buf]
    if not same_place(e, at) or (name := spelling(base_of(e))) == UNSPELLED:
        return None
    types = [use.call.args[one.type] for one in (sent, received) if one.type is not None]
    if len(types) == 2 and not _same_constant(*types) and not in_same_words(*types):  # they may pick other elements
        return None
    message = f"the call sends from the same place in `{name}` at which it receives, which MPI does not allow"
    return Refusal(Reason.PENDING, f"{message}; `MPI_Sendrecv_replace` does both by one buffer")


def _same_constant(a: ast.Expr, b: ast.Expr) -> bool:
    return isinstance(a, ast.MacroConst) and isinstance(b, ast.MacroConst) and a.name == b.name


def pointers_themselves(argument: ast.Expr) -> Refusal | None:
    """The argument is the address of a pointer, `&p[k]`, where what that points to may have been meant."""
    e = uncast(argument)
    place = uncast(e.operand) if isinstance(e, ast.AddrOf) else e
    if not isinstance(e, ast.AddrOf) or not place.type.is_pointer or (name := spelling(place)) == UNSPELLED:
        return None
    message = f"the message begins at the pointer `{name}` itself, not in the memory that it points to"
    return Refusal(Reason.CARRIER, message)


def in_a_number(argument: ast.Expr) -> Refusal | None:
    """The argument is an integer variable, in which an address was put."""
    e = uncast(argument)
    named = isinstance(e, (ast.VarRef, ast.Member, ast.Index)) and e.type.kind == "int"
    if not named or (name := spelling(e)) == UNSPELLED:
        return None
    return Refusal(Reason.CARRIER, f"`{name}` is an integer, and the message begins at the address in it; {POINTER}")


def row_of_arrays(argument: ast.Expr) -> bool:
    """It names a row of an array of arrays: `x[0]`, `&x[0][0]`."""
    e = uncast(argument)
    if isinstance(e, ast.AddrOf) and isinstance(e.operand, ast.Index):
        e = uncast(e.operand.base)
    return isinstance(e, ast.Index) and e.type.is_array and e.base.type.elem is not None


def one_of_two(argument: ast.Expr) -> Refusal | None:
    """The argument is a choice between two pointers: ``first ? all : part``."""
    e = uncast(argument)
    if not isinstance(e, ast.Conditional):
        return None
    names = [spelling(uncast(part)) for part in (e.then, e.other)]
    if UNSPELLED in names or names[0] == names[1]:
        return None
    message = f"the call names `{names[0]}` or `{names[1]}`, by a condition; a message needs one pointer to its buffer"
    return Refusal(Reason.SEVERAL_BUFFERS, message)


def begins_inside(argument: ast.Expr) -> Refusal | None:
    """It names a place after the one that a pointer points to: `&p[k]`, `p + k`."""
    match uncast(argument):
        case ast.AddrOf(operand=ast.Index(base=base, index=step)) | ast.Binary(op="+", left=base, right=step):
            pass
        case _:
            return None
    step, base = uncast(step), uncast(base)
    elem = base.type.elem
    name = spelling(base) if not isinstance(base, ast.Binary) else spelling(leftmost(argument))
    if elem is None or elem.kind in ("pointer", "array") or step.type.kind != "int":
        return None
    where = "at a place that the program computes"
    if isinstance(step, (ast.IntLit, ast.SizeOf)) and step.value is not None and not isinstance(base, ast.Binary):
        if step.value == 0 or elem.size is None:
            return None
        where = f"at its byte {step.value * elem.size}"
    if name == UNSPELLED:
        return None
    return Refusal(Reason.CARRIER, f"{BEGINS_INSIDE} `{name}`, {where}; a message needs a buffer of its own")


def further_in(use: Use, other: Use) -> str:
    """What is said of another call whose message begins further on in the same buffer; '' of others."""
    mine, its = use.call.args[use.argument], other.call.args[other.argument]
    return ", from another place in it on" if begins_inside(its) and not same_place(mine, its) else ""


def begins_behind(use: Use, argument: ast.Expr) -> bool:
    """Another message begins where one ends that begins with its buffer, by the words of its count: `&p[n]`."""
    match uncast(argument):
        case ast.AddrOf(operand=ast.Index(index=step)) | ast.Binary(op="+", right=step):
            count = use.call.args[use.buffer.count] if use.buffer.count is not None else None
            return count is not None and in_same_words(uncast(count), uncast(step))
    return False


def same_place(e: ast.Expr, other: ast.Expr) -> bool:
    """Two arguments that are written alike."""
    e, other = uncast(e), uncast(other)
    if isinstance(e, ast.AddrOf) and isinstance(other, ast.AddrOf):
        return in_same_words(e.operand, other.operand)
    return in_same_words(e, other)


def is_text(argument: ast.Expr) -> bool:
    e = argument
    while isinstance(e, (ast.Cast, ast.AddrOf)):
        e = e.operand
    return isinstance(e, ast.StringLit)

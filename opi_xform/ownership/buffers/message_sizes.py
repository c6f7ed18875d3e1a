"""How many bytes the messages of a call have: whether it is worth passing ownership.

With at most ``INLINE_LIMIT`` nothing would be gained.  ``--min-bytes`` says from how many on a user wants it.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.codes import Reason
from opi_xform.effects.datatypes import load_datatypes
from opi_xform.effects.model import MpiBuffer
from opi_xform.ir import ast
from opi_xform.ir.walk import uncast
from opi_xform.ownership.model.buffers import Program, Refusal, Use

INLINE_LIMIT = 40
"""Bytes that travel in a message's envelope, whatever is done (docs/supported.md)."""
EMPTY = "the message is empty: there is nothing to hand over"


def how_small(uses: Sequence[Use]) -> str:
    """What is told of a call with small messages: how many bytes they have, or that they never have any."""
    lengths = {u.length.constant for u in uses if u.length is not None}
    most = max((n for n in lengths if n is not None), default=INLINE_LIMIT)
    return _of_bytes(most, len(lengths) == 1)


def how_small_as_written(call: ast.Call, buffer: MpiBuffer) -> str:
    """The same of a call that is not in the graph."""
    count = uncast(call.args[buffer.count]) if buffer.count is not None else None
    if isinstance(count, ast.IntLit) and count.value == 0:
        return EMPTY
    size = _size_as_written(call, buffer)
    return _of_bytes(_room_as_written(call, buffer) or INLINE_LIMIT if size is None else size, size is not None)


def _of_bytes(most: int, always: bool) -> str:
    if most == 0:
        return EMPTY
    many = f"{most} byte, which travels" if most == 1 else f"{most} bytes, which travel"
    return f"the message has {'' if always else 'at most '}{many} in its envelope"


def small(uses: Sequence[Use]) -> bool:
    """Every copy of the call has a message that travels in its envelope."""
    return all(u.length is not None and (c := u.length.constant) is not None and c <= INLINE_LIMIT for u in uses)


def small_as_written(call: ast.Call, buffer: MpiBuffer) -> bool:
    """The same of a call that is not in the graph, by its text: elements of a basic type, or a small variable."""
    if 0 < _room_as_written(call, buffer) <= INLINE_LIMIT:
        return True
    size = _size_as_written(call, buffer)
    return size is not None and 0 <= size <= INLINE_LIMIT


def _room_as_written(call: ast.Call, buffer: MpiBuffer) -> int:
    """Bytes of the variable whose address is given; 0: of none.

    For a number of a type that is no basic one it is none: displacements may lead to other variables from there.
    """
    whole = uncast(call.args[buffer.buf]) if buffer.buf < len(call.args) else None
    variable = whole.operand if isinstance(whole, ast.AddrOf) else None
    if not isinstance(variable, ast.VarRef):
        return 0
    alone = buffer.type is None or variable.type.kind == "record" or _element_as_written(call, buffer) is not None
    return (variable.type.size or 0) if alone else 0


def _size_as_written(call: ast.Call, buffer: MpiBuffer) -> int | None:
    """Bytes of a message of so many elements of a basic type."""
    if buffer.count is None or buffer.type is None or buffer.vector or buffer.type_vector or buffer.per_rank:
        return None
    if max(buffer.count, buffer.type) >= len(call.args):
        return None
    count, size = uncast(call.args[buffer.count]), _element_as_written(call, buffer)
    if not isinstance(count, ast.IntLit) or (size is None and count.value):
        return None
    return count.value * (size or 0)


def _element_as_written(call: ast.Call, buffer: MpiBuffer) -> int | None:
    """Bytes of the basic type that a call names."""
    if buffer.type is None or buffer.type >= len(call.args):
        return None
    datatype = uncast(call.args[buffer.type])
    known = load_datatypes().get(datatype.name if isinstance(datatype, (ast.IntLit, ast.MacroConst)) else "")
    return None if known is None else known.size


def too_small(program: Program, uses: Sequence[Use], least: int) -> Refusal | None:
    """Why a call stays whose messages have fewer bytes than is asked for (``least``), in every copy of it."""
    most = [_most(program, u) for u in uses] if least else [None]
    largest = max((size for size in most if size is not None), default=0)
    if None in most or largest >= least:
        return None
    return Refusal(Reason.FEW_BYTES, f"a message has at most {largest} bytes, fewer than the {least} of --min-bytes")


def _most(program: Program, use: Use) -> int | None:
    """Bytes that no message of a call exceeds: its length, else the whole variable; None: not known."""
    if use.length is not None and use.length.constant is not None:
        return use.length.constant
    info = program.values.objects.table[use.object] if use.object >= 0 else None
    whole = info.type.size if info is not None and info.kind == "variable" and info.type is not None else None
    return whole or None

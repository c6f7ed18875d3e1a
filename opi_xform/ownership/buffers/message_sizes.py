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
SMALL = f"at most {INLINE_LIMIT} bytes, which travel in the message's envelope"
EMPTY = "the message is empty: there is nothing to hand over"


def how_small(uses: Sequence[Use]) -> str:
    """What is told of a call with small messages: that they have nothing in them, where no copy's ever has."""
    return EMPTY if all(u.length is not None and u.length.constant == 0 for u in uses) else SMALL


def how_small_as_written(call: ast.Call, buffer: MpiBuffer) -> str:
    """The same of a call that is not in the graph."""
    count = uncast(call.args[buffer.count]) if buffer.count is not None else None
    return EMPTY if isinstance(count, ast.IntLit) and count.value == 0 else SMALL


def small(uses: Sequence[Use]) -> bool:
    """Every copy of the call has a message that travels in its envelope."""
    return all(u.length is not None and (c := u.length.constant) is not None and c <= INLINE_LIMIT for u in uses)


def small_as_written(call: ast.Call, buffer: MpiBuffer) -> bool:
    """The same of a call that is not in the graph, by its text: elements of a basic type, or a small variable."""
    whole = uncast(call.args[buffer.buf]) if buffer.buf < len(call.args) else None
    variable = whole.operand if isinstance(whole, ast.AddrOf) else None
    if isinstance(variable, ast.VarRef) and 0 < (variable.type.size or 0) <= INLINE_LIMIT:
        return True
    if buffer.count is None or buffer.type is None or buffer.vector or buffer.type_vector or buffer.per_rank:
        return False
    if max(buffer.count, buffer.type) >= len(call.args):
        return False
    count, datatype = (uncast(call.args[i]) for i in (buffer.count, buffer.type))
    name = datatype.name if isinstance(datatype, (ast.IntLit, ast.MacroConst)) else ""
    known = load_datatypes().get(name)
    if not isinstance(count, ast.IntLit) or (known is None and count.value):
        return False
    return 0 <= count.value * (0 if known is None else known.size) <= INLINE_LIMIT


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

"""Which messages can bring what others took along, where values are followed through messages without regard to order.

A receive takes no message that was sent with another tag, and none of a collective; numbers of a basic type come as
numbers of that kind.  Messages of bytes, of packed data and of types that a program makes may be of any kind.
"""

from __future__ import annotations

from opi_xform.effects.datatypes import load_datatypes
from opi_xform.effects.model import FunctionEffect, MpiBuffer
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.record import dataclass

COLLECTIVE = "collective"
_BYTES = frozenset({"MPI_BYTE", "MPI_PACKED", "MPI_CHAR", "MPI_SIGNED_CHAR", "MPI_UNSIGNED_CHAR"})
_FLOATING = ("float", "double", "long double")
_WHOLE = ("int", "long", "short", "unsigned", "signed", "MPI_", "size_t", "ptrdiff_t", "wchar_t", "_Bool", "bool")


@dataclass(frozen=True, slots=True)
class Channel:
    """tag: None: any, also that of a collective.  kind: ``float``, ``whole``, or ``any``."""

    tag: int | str | None = None
    kind: str = "any"

    def meets(self, other: Channel) -> bool:
        """What is sent by one may be received by the other."""
        tags, kinds = {self.tag, other.tag}, {self.kind, other.kind}
        return (None in tags or len(tags) == 1) and ("any" in kinds or len(kinds) == 1)


ANY = Channel()
LENGTH = Channel("length", "length")  # how long a message is: told by MPI_Get_count and kin, and in no message


def channel(effect: FunctionEffect, buffer: MpiBuffer | None, call: ins.CallInstr, values: tuple[Poly, ...]) -> Channel:
    """Of the messages that a call sends from a buffer, or receives into it."""
    if effect.mpi is None or buffer is None or effect.mpi.kind not in ("send", "recv", "sendrecv", "collective"):
        return ANY
    tag: int | str | None = None
    at = buffer.tag if buffer.tag is not None else effect.mpi.tag
    if effect.mpi.kind == "collective":
        tag = COLLECTIVE
    elif at is not None and at < len(values):
        tag = values[at].constant
        if tag is not None and tag < 0:  # MPI_ANY_TAG
            tag = None
    datatype = call.args[buffer.type] if buffer.type is not None and buffer.type < len(call.args) else None
    if tag == COLLECTIVE and not _alike(effect, call):  # MPI_IN_PLACE is sent as the other datatype says
        return Channel(tag)
    return Channel(tag, "any" if buffer.type_vector else _kind(datatype))


def _alike(effect: FunctionEffect, call: ins.CallInstr) -> bool:
    """What a collective sends and what it receives have datatypes of one kind."""
    op = effect.mpi
    types = [b.type for b in (op.send, op.recv) if b is not None and b.type is not None] if op is not None else []
    return len({_kind(call.args[t]) for t in types if t < len(call.args)}) < 2


def _kind(datatype: ins.Operand | None) -> str:
    if not isinstance(datatype, ins.Const) or datatype.name in _BYTES or datatype.name not in load_datatypes():
        return "any"
    c = load_datatypes()[datatype.name].c
    if c.startswith(_FLOATING):
        return "float"
    return "whole" if c.startswith(_WHOLE) or (c.endswith("_t") and c.startswith(("int", "uint"))) else "any"

"""Instructions: what lowering makes of expressions.  One effect each, operands without side effects.

Operands are small trees, evaluated when their instruction runs.  Addresses are byte addresses: ``PtrAdd`` has its scale
explicit, so nothing after lowering needs C's pointer arithmetic.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from opi_xform.ir import ast
from opi_xform.ir.span import NOWHERE, Span
from opi_xform.ir.types import INT, Type

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from opi_xform.ir.record import dataclass


@dataclass(frozen=True, slots=True)
class Const:
    value: int
    name: str = ""  # the macro it is written as (MPI_PROC_NULL), else ''


@dataclass(frozen=True, slots=True)
class Var:
    """The current value of a scalar variable.  ``span``: where it is written, if it is; it counts for nothing else."""

    key: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Temp:
    number: int


@dataclass(frozen=True, slots=True)
class AddrVar:
    """The address of a variable: ``&x``, and what an array decays to."""

    key: str
    span: Span


@dataclass(frozen=True, slots=True)
class AddrFunc:
    key: str


@dataclass(frozen=True, slots=True)
class AddrHeap:
    """The address that the call at a node of the program graph allocated: not of the source, made by the analysis."""

    node: int


@dataclass(frozen=True, slots=True)
class AddrLocal:
    """The address of a local variable of one frame of the program graph, whoever names it: made by the analysis."""

    key: str
    frame: int


@dataclass(frozen=True, slots=True)
class AddrString:
    """The address of a string literal (read-only storage no message lands in)."""

    length: int


@dataclass(frozen=True, slots=True)
class Op:
    """Integer, floating or comparison arithmetic on operands.  ``op``: C's operator, ``neg``, ``not``, ``cast``.

    ``type`` is the result's; ``unsigned`` tells that C computes it modulo 2**width (of a cast: that an unsigned number
    is made wider).  ``view``: a cast of an address: from here on what may hold addresses is seen as bytes or numbers.
    """

    op: str
    args: tuple[Operand, ...]
    type: Type
    unsigned: bool = False
    view: bool = False


@dataclass(frozen=True, slots=True)
class PtrAdd:
    """``base + index * scale`` in bytes (scale 0: the element's size is not known).

    ``row``: size of the array that a subscript must stay inside (``fixed.OPEN``: to the object's end; 0: none known).
    """

    base: Operand
    index: Operand
    scale: int
    row: int = 0


@dataclass(frozen=True, slots=True)
class Nondet:
    """A value nothing is known about (floating constants, what the front end did not understand).

    args: of floating arithmetic, what it is made of, for those who ask where a number may come from; nobody else looks.
    quotient: the type in which the first of them is divided by the second.  Then they are no variables, but what these
    were: temporaries, and such values.
    """

    reason: str = ""
    args: tuple[Operand, ...] = ()
    quotient: Type | None = None


Operand = Const | Var | Temp | AddrVar | AddrFunc | AddrHeap | AddrLocal | AddrString | Op | PtrAdd | Nondet


@dataclass(frozen=True, slots=True)
class Instr:
    """``stmt``: index into ``Lowered.stmts`` of the statement it belongs to; ``span`` is that of the expression."""

    span: Span
    stmt: int


@dataclass(frozen=True, slots=True)
class Define(Instr):
    """``target`` (a scalar variable or a temporary) becomes ``value``."""

    target: Var | Temp
    value: Operand
    type: Type


def passing(span: Span, stmt: int, unused: Temp) -> Define:
    """Where a statement is executed that has no other instruction there: with it, no way leads past it unseen."""
    return Define(span, stmt, unused, Const(0), INT)


@dataclass(frozen=True, slots=True)
class Load(Instr):
    """``member``: the place is written as a member of a struct that has this type, and no other one."""

    target: Temp
    address: Operand
    type: Type
    member: bool = False


@dataclass(frozen=True, slots=True)
class Store(Instr):
    """``padding``: bytes of a struct after the member that is stored, which belong to no member.

    ``member``: as of a ``Load``.
    """

    address: Operand
    value: Operand
    type: Type
    padding: int = 0
    member: bool = False


@dataclass(frozen=True, slots=True)
class CopyBytes(Instr):
    """A struct or union assignment: ``size`` bytes from one address to another."""

    target: Operand
    source: Operand
    size: int | None


@dataclass(frozen=True, slots=True)
class Birth(Instr):
    """A local variable's declaration is reached: its old contents are gone.

    ``zeroed``: what the initialiser does not mention is zero.  ``length``: bytes of an array of variable length, where
    they are known.
    """

    var: str
    zeroed: bool
    length: Temp | None = None


@dataclass(frozen=True, slots=True)
class CallInstr(Instr):
    """``callee`` is an ``AddrFunc`` for direct calls.  ``call`` is the expression as written."""

    target: Temp | None
    callee: Operand
    args: tuple[Operand, ...]
    call: ast.Call


@dataclass(frozen=True, slots=True)
class Escape(Instr):
    """Something not understood happens to these values: everything reachable from them is lost.

    ``brief``: while it runs.  Nothing is kept, and what is in memory is not taken for an address; the values themselves
    may become text.  ``printed``: the program's own functions read what they lead to as text, and nothing else.
    """

    reason: str
    values: tuple[Operand, ...]
    brief: bool = False
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Branch(Instr):
    """Ends a block: to the first successor when ``cond`` is not zero, else to the second."""

    cond: Operand


@dataclass(frozen=True, slots=True)
class SwitchOn(Instr):
    """Ends a block.  ``cases[i]`` are the (low, high) ranges of successor i; None is the default."""

    value: Operand
    cases: tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class ReturnInstr(Instr):
    value: Operand | None


@dataclass(frozen=True, slots=True)
class StmtInfo:
    """A statement and its place: ``parent`` is the index of the enclosing one (-1: none).

    ``in_block``: it stands between braces, so another can be put before or after it; else it is the whole body of an
    if or a loop.  ``role``: ``body``, ``then``, ``else``, ``init`` (of a for) or ``item`` of a block.
    """

    stmt: ast.Stmt
    parent: int
    in_block: bool
    role: str


@dataclass(frozen=True, slots=True)
class Lowered:
    """A function as basic blocks.  ``blocks[0]`` is the entry; ``succs[b]`` the successors of block b in order.

    A block that ends in ``ReturnInstr`` (or falls off the end) has no successors.
    """

    function: ast.Function
    blocks: tuple[tuple[Instr, ...], ...]
    succs: tuple[tuple[int, ...], ...]
    stmts: tuple[StmtInfo, ...]
    refused: str = ""
    temps: int = field(default=0)

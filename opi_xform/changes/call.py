"""An MPI call that is a statement: the texts of its arguments, and text put around it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opi_xform.changes.ground import Ground
from opi_xform.effects.datatypes import load_datatypes
from opi_xform.frontend.clang.source import find_top
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import uncast
from opi_xform.ownership.allocation.repeated import repeatable, steady
from opi_xform.ownership.buffers.uses import datatype_of
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.procnull.sources import proc_null
from opi_xform.ownership.spelling.mentions import walk
from opi_xform.ownership.spelling.scopes import PASTED, expanded, has_macro, may_fall_apart, words
from opi_xform.text.edit import ByteEdit

_BYTES = ("MPI_BYTE", "MPI_PACKED")
_MOVING = frozenset(("__LINE__", "__COUNTER__", PASTED))
"""What is another number at each place, and names that stand nowhere."""


class CallText:
    """One call that stands as a statement of its own, as ``MPI_Send(…);`` or ``e = MPI_Send(…);``."""

    def __init__(
        self,
        program: Program,
        statement: ins.StmtInfo,
        use: Use,
        ground: Ground,
        arguments: tuple[tuple[int, int], ...],
        target: ast.VarRef | None,
    ) -> None:
        """Use ``of``.  arguments: where each is written.  target: the variable that the result goes to."""
        self.program = program
        self.span = statement.stmt.span
        self.in_block = statement.in_block
        self.use = use
        self.ground = ground
        self.source = ground.source
        self.arguments = arguments
        self.target = target
        self.taken: set[str] = set()

    @classmethod
    def of(cls, program: Program, use: Use, ground: Ground) -> CallText | None:
        """None where the call is part of something else, or written by a macro, or across a directive."""
        statement = program.graph.statement(program.graph.nodes[use.node])
        if isinstance(use.call.callee, ast.FuncRef) and use.call.callee.name.endswith("_c"):
            return None  # its counts are no ``int``
        if statement is None or statement.role == "init" or not isinstance(statement.stmt, ast.ExprStmt):
            return None
        span, call = statement.stmt.span, use.call
        e = uncast(statement.stmt.expr)
        target = None
        if isinstance(e, ast.Assign) and not e.op and isinstance(e.target, ast.VarRef):
            target, e = e.target, e.value
        e = uncast(e)
        if e is not call or not all(s.editable and s.macro is None for s in (span, call.span, call.callee_span)):
            return None
        data = ground.source.data
        if not data[: span.end].endswith(b";") or re.search(rb"\\\r?\n|^[ \t]*#", data[span.begin : span.end], re.M):
            return None
        arguments = _arguments(data, call)
        return None if arguments is None else cls(program, statement, use, ground, arguments, target)

    def text(self, index: int) -> str:
        """An argument as it is written."""
        begin, end = self.arguments[index]
        return self.source.data[begin:end].decode("utf-8", "surrogateescape")

    def again(self, *indices: int) -> bool:
        """These arguments may be evaluated once more: that does nothing, and gives the same."""
        frame = self.program.graph.nodes[self.use.node].frame
        return all(self.moves(i) and steady(self.program, frame, self.use.call.args[i]) for i in indices)

    def alone(self, index: int) -> bool:
        """The argument does nothing, and gives the same before the other arguments."""
        return self.moves(index) and repeatable(self.use.call.args[index])

    def moves(self, index: int) -> bool:
        """The argument's text says the same on another line."""
        return _MOVING.isdisjoint(expanded(self.program, words(self.text(index))))

    def operand(self, index: int) -> str:
        """An argument as an operand: in parentheses, unless it is a name or a number as the compiler sees it, too."""
        text, e = self.text(index), self.use.call.args[index]
        e = uncast(e)
        name = isinstance(e, ast.VarRef) and self.program.variables[e.var].name == text
        part = re.fullmatch(r"\w+(?:(?:\.|->)\w+|\[\w+\])+", text) and not has_macro(self.program, text)
        return text if name or part or not may_fall_apart(self.program, text) else f"({text})"

    def somebody(self, peer: int) -> str:
        """The test that the partner is not MPI_PROC_NULL."""
        return f"{self.operand(peer)} != MPI_PROC_NULL"

    def number(self, index: int) -> str:
        """An argument that the call takes as an ``int``, as an operand that is one."""
        e = uncast(self.use.call.args[index])
        narrow = e.type.kind == "int" and e.type.size is not None and e.type.size + (not e.type.signed) <= 4
        return self.operand(index) if narrow else f"(int)({self.text(index)})"

    def name(self, ending: str) -> str:
        """A name that no text has that is read with the file: that of the buffer with an ending."""
        base, number = f"{_root(self.use.call.args[self.use.argument]) or 'message'}{ending}", 1
        found = base
        while found in self.taken or self.ground.knows(found):
            number += 1
            found = f"{base}{number}"
        self.taken.add(found)
        return found

    def around(
        self, before: Sequence[str], after: Sequence[str], other: Sequence[tuple[int, str]] = (), only_if: str = ""
    ) -> tuple[ByteEdit, ...]:
        """The statement in braces, with lines before and after it in them.

        other: arguments that become another text.  only_if: the condition of all of it.
        """
        source, span = self.source, self.span
        eol, indent = source.eol.decode(), source.indent(span.begin).decode()
        step = "\t" if "\t" in indent else "    "
        deep = step * 2 if only_if and not self.in_block else step
        opening, closing = [f"if ({only_if}) {{" if only_if else "{"], ["}"]
        if deep != step:  # an `else` that follows belongs to another test
            opening, closing = ["{", f"{indent}{step}{opening[0]}"], [f"{step}}}", "}"]
        first = eol.join([*opening, *(f"{indent}{deep}{line}" for line in before), f"{indent}{deep}"])
        last = "".join(f"{eol}{indent}{line}" for line in (*(f"{deep}{line}" for line in after), *closing))
        edits = [_insert(span.begin, first), _insert(span.end, last)]
        parts = [(self.arguments[i], text) for i, text in other]
        edits += [ByteEdit(a, b, (1,), _bytes(text)) for (a, b), text in parts]
        at = source.data.find(b"\n", span.begin, span.end) + 1
        while at > 0:  # the statement's further lines go in as well
            if not any(a < at < b for (a, b), _ in parts):
                edits.append(_insert(at, deep))
            at = source.data.find(b"\n", at, span.end) + 1
        return tuple(edits)


def may_be_nobody(program: Program, uses: Sequence[Use]) -> bool:
    """The partner of one of these uses of one call may be MPI_PROC_NULL."""
    null, peer = proc_null(program), uses[0].buffer.peer
    return peer is not None and any(null.possible(use.node, peer) for use in uses)


def element(program: Program, uses: Sequence[Use]) -> str:
    """The C type of which a message of a basic datatype consists; '' for any other."""
    found = {datatype_of(program, use) for use in uses}
    operand = next(iter(found))
    known = load_datatypes().get(operand.name) if len(found) == 1 and isinstance(operand, ins.Const) else None
    if known is None:
        return ""
    return "char" if known.name in _BYTES else known.c


def _root(argument: ast.Expr) -> str:
    """The name that an address is written by."""
    for e in walk(argument):
        if isinstance(e, ast.Member):
            return e.field
        if isinstance(e, ast.VarRef):
            return re.sub(r".*/|@.*|.*:", "", e.var)
    return ""


def _arguments(data: bytes, call: ast.Call) -> tuple[tuple[int, int], ...] | None:
    """Where each argument of a call is written, without the space around it; None where a macro writes several."""
    opened = data.find(b"(", call.callee_span.end, call.span.end)
    if opened < 0 or data[call.callee_span.end : opened].strip() or data[call.span.end - 1 : call.span.end] != b")":
        return None
    at, end = opened + 1, call.span.end - 1
    found = []
    while True:
        comma = find_top(data, at, end, b",")
        stop = end if comma is None else comma
        text = data[at:stop]
        begin = at + len(text) - len(text.lstrip())
        found.append((begin, max(begin, at + len(text.rstrip()))))
        if comma is None:
            break
        at = comma + 1
    return tuple(found) if len(found) == len(call.args) and b"//" not in data[opened:end] else None


def _insert(at: int, text: str) -> ByteEdit:
    return ByteEdit(at, at, (0,), _bytes(text))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

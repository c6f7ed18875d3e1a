"""A placement as edits of the source: calls, declarations, sizes and inserted statements."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import sha256

from opi_xform.graph.statements import Level
from opi_xform.ir import ast
from opi_xform.ir.instr import CallInstr, Lowered, StmtInfo
from opi_xform.ir.walk import within
from opi_xform.ownership.allocation.allocations import Allocation
from opi_xform.ownership.allocation.deallocations import Deallocation
from opi_xform.ownership.allocation.freed_rows import row_of_given
from opi_xform.ownership.allocation.repeated import has_effect
from opi_xform.ownership.allocation.sizes import array_size, dimensions
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.pointers.second_names import called_by
from opi_xform.ownership.model.buffers import Place, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import address_of, settable
from opi_xform.ownership.model.plan import (
    Edit,
    Guard,
    InsertStatement,
    LinkName,
    PointerDeclaration,
    ReplaceCall,
    ReplaceText,
)
from opi_xform.ownership.model.roots import is_zero
from opi_xform.ownership.placement.allocation_edits import AllocationEdits, Problem
from opi_xform.ownership.placement.events import EventList
from opi_xform.ownership.placement.leftovers import loop_goes_too
from opi_xform.ownership.placement.states import Insertion
from opi_xform.ownership.spelling.mentions import plain
from opi_xform.ownership.spelling.scopes import declared, expanded, fresh, pieces, words
from opi_xform.ownership.spelling.scopes import hidden as hidden_names
from opi_xform.record import dataclass
from opi_xform.text.lex import on_one_line

RESULT = "opi_result"
_READS = (
    ast.VarRef, ast.Index, ast.Member, ast.Deref, ast.IntLit, ast.FloatLit, ast.MacroConst, ast.Binary, ast.Unary,
    ast.Cast, ast.Conditional, ast.Logical, ast.SizeOf, ast.AddrOf,
)  # fmt: skip
_PLAIN_SUFFIX = re.compile(r"(\s|\)|\[[^]]*\]|\[[^][]*\[[^]]*\][^]]*\])*")
"""Dimensions, and parentheses around the name."""


@dataclass(frozen=True, slots=True)
class Written:
    """The edits of one buffer, and the files that call OPI functions."""

    edits: tuple[Edit, ...]
    files: tuple[str, ...]


def call_name(use: Use, replacing: Collection[Place] = ()) -> str:
    """The OPI call for one converted side."""
    if use.side == "recv" and use.place in replacing:
        return use.op.opi_recv_replace
    return use.op.opi_send if use.side == "send" else use.op.opi_recv


class Builder:
    """One use: ``build``.  made: the edits of its allocations; edits and files of both are the same lists."""

    def __init__(self, made: AllocationEdits) -> None:
        self.made = made
        self.program, self.flow, self.buffer, self.texts = made.program, made.flow, made.buffer, made.texts
        self.anchors, self.variable, self.member = made.anchors, made.variable, made.member
        self.edits, self.files = made.edits, made.files

    def build(
        self,
        converted: frozenset[tuple[str, int, str, int]],
        insertions: Sequence[Insertion],
        allocations: Sequence[Allocation],
        in_place: bool,
        events: EventList,
        freed: set[int],
        raw: bool,
        unset: Sequence[Insertion],
        held_leaving: set[int],
    ) -> Written | str:
        """freed: deallocations at which something may be held.  held_leaving: nodes after which a scope is left so.

        raw: the pointer need not be set where it is freed; unset: calls to put in of which that is so.
        """
        self.held_leaving = held_leaving
        self.length = ""  # of an array of variable length: the variable that has its bytes
        try:
            self.calls([u for u in self.buffer.uses if u.place in converted])
            if self.buffer.carrier.kind == "array":
                self.declarations()
            elif raw:
                self.null_declaration(allocations, events, unset)
            if self.variable.kind == "extern" and self.member is None:
                self.link_name(converted)
            self.frees(events, freed)
            mark = len(self.edits)
            size, per_row = self.made.sizes(insertions, allocations, in_place, events.tests_of_allocations)
            allocating = self.edits[mark:]
            # What is taken out of a condition (`if (!(v = malloc(n)))`) comes after all that is put before the `if`.
            last = [e for e in allocating if isinstance(e, InsertStatement) and e.where == "before"]
            self.edits[mark:] = [e for e in allocating if e not in last]
            self.statements(insertions, size, per_row)
            self.edits += last
        except Problem as problem:
            return str(problem)
        return Written(tuple(dict.fromkeys(self.edits)), tuple(sorted(self.files)))

    # --- calls -----------------------------------------------------------------------------------------------------

    def calls(self, uses: Sequence[Use]) -> None:
        sites: dict[tuple[str, int], list[Use]] = {}
        for use in uses:
            sites.setdefault((use.call.span.file, use.call.span.begin), []).append(use)
        for found in sites.values():
            sides = {u.side: u for u in found}
            first = found[0]
            name = first.op.opi_both if len(sides) == 2 else call_name(first, self.buffer.replacing)
            if not name:
                raise Problem("there is no call that passes ownership in its place")
            arguments = []
            for use in sides.values():
                argument = use.call.args[use.argument]
                if self.forwarded(argument):
                    name = f"({name.strip('()')})"
                if not argument.span.editable:
                    raise Problem("the call's buffer argument is written by a macro")
                arguments.append((argument.span, self.address(argument)))
            if not first.call.callee_span.editable:
                raise Problem("the call is written by a macro")
            behind = replace(first.call.span, begin=first.call.callee_span.end)
            if pieces(self.texts.of(behind)) != len(first.call.args):  # the checking macros would be given others
                name = f"({name.strip('()')})"
            self.edits.append(ReplaceCall(first.call.callee_span, name, tuple(dict.fromkeys(arguments))))
            self.files.add(first.call.callee_span.file)

    def forwarded(self, argument: ast.Expr) -> bool:
        """The carrier's address comes in a ``void *``, which the checking macros of opi.h refuse."""
        e = plain(argument)
        if not isinstance(e, ast.VarRef) or e.var not in self.buffer.lifted:
            return False
        elem = self.program.variables[e.var].type.elem
        return elem is not None and elem.kind == "void"

    def address(self, argument: ast.Expr) -> str:
        """The carrier's address, for an argument that names the start of its buffer."""
        e = plain(argument)
        rows = self.buffer.carrier.rows
        while True:
            if isinstance(e, ast.AddrOf):
                inner = plain(e.operand)
                if isinstance(inner, ast.Index) and is_zero(inner.index):
                    e = plain(inner.base)
                    continue
                if isinstance(inner, (ast.VarRef, ast.Index)) and inner.type.is_array:
                    e = inner
                    continue
                if isinstance(inner, ast.Deref):
                    e = plain(inner.operand)  # `&*p` (C 6.5.3.2p3)
                    continue
            if isinstance(e, ast.Binary) and e.op == "+":
                if is_zero(e.right):
                    e = plain(e.left)
                    continue
                if is_zero(e.left):
                    e = plain(e.right)
                    continue
            if isinstance(e, ast.Index) and is_zero(e.index) and e.type.is_array and not self.is_row(e):
                e = plain(e.base)  # the first row of several dimensions
                continue
            if isinstance(e, ast.Deref) and e.type.is_array and rows == 0:
                e = plain(e.operand)  # the same, as `*a`
                continue
            break
        if isinstance(e, ast.VarRef) and e.var in self.buffer.lifted:
            return self.program.variables[e.var].name
        if self.member is not None and self.program.names(e, self.member.key) and e.span.editable:
            text = settable(e, self.texts.of(e.span), self.member.cast)
            if text is not None:
                return address_of(text)
        if rows == 0 and isinstance(e, ast.VarRef) and e.var in {self.buffer.carrier.variable, *self.buffer.named}:
            return f"&{self.variable.name}"
        if rows == 1:
            if isinstance(e, ast.Index) and self.is_row(e):
                if e.index.span.editable:
                    return f"&{self.variable.name}[{self.texts.of(e.index.span)}]"
                if e.span.editable:
                    return f"&{self.texts.of(e.span)}"
            if isinstance(e, ast.VarRef) and e.var == self.buffer.carrier.variable:
                return f"&{self.variable.name}[0]"
            if e.span.editable and row_of_given(self.program, self.buffer.carrier, e):
                return f"&{self.texts.of(e.span)}"
        second = called_by(self.program, self.buffer, e)
        raise Problem(second or f"the call does not name `{self.variable.name}` itself")

    def is_row(self, e: ast.Index) -> bool:
        base = plain(e.base)
        return (
            isinstance(base, ast.VarRef) and base.var == self.buffer.carrier.variable and self.buffer.carrier.rows == 1
        )

    # --- declarations ----------------------------------------------------------------------------------------------

    def declarations(self) -> None:
        if not self.variable.declarators:
            raise Problem("the buffer's declaration is not written in these files")
        null = self.variable.kind == "local"
        if self.variable.type.vla:
            self.keep_length(self.variable.declarators[0])
        for d in self.variable.declarators:
            if d.suffix is None or not d.suffix.editable or not d.name_span.editable:
                raise Problem("the buffer's declaration is written by a macro or through a typedef")
            self.edits.append(
                PointerDeclaration(
                    d.name_span, d.suffix, d.init_span, d.span, d.statement, self.buffer.carrier.rows, null
                )
            )

    def keep_length(self, d: ast.Declarator) -> None:
        """A variable for the size that an array of variable length has: its numbers may change later."""
        size = array_size(self.program, self.buffer, self.texts, d.span.file)
        frame = self.flow.frames_of[self.variable.function][0]
        stmts = self.flow.lowered(frame).stmts
        declaring = (
            s.stmt for s in stmts if isinstance(s.stmt, ast.DeclStmt) and self.variable.key in s.stmt.variables
        )
        if size is None or not d.statement.editable:
            raise Problem("the array's declaration is written by a macro or through a typedef")
        line = line_of(d.statement)
        for stmt in declaring:  # the size is asked for once more, after the statement
            later = stmt.variables[stmt.variables.index(self.variable.key) + 1 :]
            names = {self.program.variables[key].name for key in later}
            names |= declared(self.texts.of(replace(d.statement, begin=d.span.end)))
            if not expanded(self.program, words(size)).isdisjoint(names):
                raise Problem(f"{line} declares another variable by a name in the length of `{self.variable.name}`")
            if not all(_of_members(e) for _, e in stmt.sizes):
                what = f"{line} computes the length of `{self.variable.name}` from more than variables and members"
                raise Problem(f"{what}; it would need a variable that is set to it in the line before")
            inits = (self.flow.lowered(frame).function.variables[key].init for key in stmt.variables)
            if not all(_only_reads(e) for e in inits if e is not None):
                raise Problem(f"{line} does more than to declare `{self.variable.name}`")
        self.length = fresh(f"{self.variable.name}_bytes", self.program)
        self.edits.append(InsertStatement(d.statement, "after", f"size_t {self.length} = {size};"))
        self.files.add(d.statement.file)

    def link_name(self, converted: frozenset[tuple[str, int, str, int]]) -> None:
        """A name for the linker that only files of this plan use: one that was left out, or comes from another plan,
        does not link."""
        places = sorted((os.path.basename(file), *rest) for file, *rest in converted)
        digest = sha256(repr((self.variable.name, self.buffer.carrier.kind, places)).encode()).hexdigest()
        defined = [d for d in self.variable.declarators if d.definition or d.tentative]
        defining = min(defined, key=lambda d: (_in_header(d), d.name_span.file, d.name_span.begin), default=None)
        if defining is None or not defining.statement.editable:
            raise Problem("the buffer's definition is written by a macro")
        for d in self.variable.declarators:
            if not d.name_span.editable or (d.suffix is not None and not d.suffix.editable):
                raise Problem("the buffer's declaration is written by a macro")
            if d.suffix is not None and not _PLAIN_SUFFIX.fullmatch(self.texts.of(d.suffix)):
                raise Problem("the buffer's declaration has attributes after its name")
            guard = Guard(d.statement, self.variable.name, _in_header(d)) if d is defining else None
            self.edits.append(LinkName(d.name_span, d.suffix, f"{self.variable.name}_opi_{digest[:8]}", guard))

    def null_declaration(
        self, allocations: Sequence[Allocation], events: EventList, unset: Sequence[Insertion]
    ) -> None:
        """A local pointer that is freed on paths on which it was never set."""
        if self.member is not None and not self.member.named:
            frees = lines_of(node_span(self.program, d.node) for d in events.deallocations)
            made = lines_of(node_span(self.program, n) for n in self.buffer.carrier.allocations)
            set_ = f", which {made} does, " if made else " "
            where = "wherever it is sent or received" if unset else "where it would be freed"
            where = f"where {frees} frees it" if frees else where
            raise Problem(f"could not show that `{self.member.name}` has been set{set_}{where}")
        found = [self.variable] if self.member is None else [self.program.variables[key] for key in self.member.named]
        if any(a.declared and not a.local for a in allocations):
            return
        for v, d in ((local, d) for local in found if local.kind == "local" for d in local.declarators):
            if d.init_span is None:
                if not d.name_span.editable or (self.buffer.carrier.rows and d.suffix is None):
                    raise Problem("the pointer's declaration is written by a macro")
                if v.type.vla:  # it takes no initialiser
                    shown = f"could not show that all pointers of `{v.name}` have been set"
                    raise Problem(f"{shown} where its scope is left, and what is left of them would be freed")
                if self.buffer.carrier.rows and d.suffix is not None:
                    self.edits.append(ReplaceText(d.suffix, f"{self.texts.of(d.suffix)} = {{NULL}}"))
                else:
                    self.edits.append(ReplaceText(d.name_span, f"{self.texts.of(d.name_span)} = NULL"))

    # --- deallocations ---------------------------------------------------------------------------------------------

    def frees(self, events: EventList, freed: set[int]) -> None:
        places: dict[tuple[str, int], list[Deallocation]] = {}
        for found in events.deallocations:
            span = self.call(found.node).span
            places.setdefault((span.file, span.begin), []).append(found)
        for copies in places.values():
            n = copies[0].node
            call = self.call(n)
            level = (self.program.graph.nodes[n].frame, self.flow.stmt[n])
            stmt = (info := self.flow.info(level)).stmt
            alone = isinstance(stmt, ast.ExprStmt) and plain(stmt.expr) is call
            if alone and not call.callee_span.editable and stmt.span.editable:
                raise Problem("the buffer is freed by a macro")  # which may do more than that
            if copies[0].wrappers and not alone:
                raise Problem("the buffer is freed inside an expression")
            nothing = not has_effect(call.args[copies[0].argument])  # `free(b[d++])` counts on, whatever it frees
            if copies[0].stays:
                self.files.add(stmt.span.file)
                self.free_ahead(call.args[copies[0].argument], level)
                continue
            if nothing and not any(d.freeing in freed for d in copies):
                test = self.test_of(level, events)
                if test is not None:
                    stmt, info = test
                    alone = True
                if alone and stmt.span.editable and (info.in_block or loop_goes_too(self.flow, level[0], info)):
                    self.edits.append(ReplaceText(stmt.span, ""))
                    continue
            argument = call.args[copies[0].argument]
            if not call.callee_span.editable or not argument.span.editable:
                raise Problem("the buffer is freed by a macro")
            named = () if copies[0].out else ((argument.span, self.address(argument)),)
            self.edits.append(ReplaceCall(call.callee_span, "OPI_Free", named))
            self.files.add(call.callee_span.file)

    def free_ahead(self, argument: ast.Expr, level: Level) -> None:
        """The call that frees stays for what it does besides, and is given NULL: ``OPI_Free(&b); release(b);``."""
        if has_effect(argument) or not argument.span.editable or not self.anchors.usable(level, "before"):
            raise Problem("nothing can be put before the call that frees the buffer")
        text = f"{'(OPI_Free)' if self.forwarded(argument) else 'OPI_Free'}({self.address(argument)});"
        self.edits.append(InsertStatement(self.flow.info(level).stmt.span, "before", text, self.anchors.wrap(level)))

    def test_of(self, level: Level, events: EventList) -> tuple[ast.Stmt, StmtInfo] | None:
        """The ``if (buf)`` around a free, which goes with it."""
        stmts = self.flow.lowered(level[0]).stmts
        at = stmts[level[1]].parent
        while at >= 0 and isinstance(stmts[at].stmt, ast.Block):
            at = stmts[at].parent
        if (level[0], at) in events.tests_of_frees:
            return stmts[at].stmt, stmts[at]
        return None

    def call(self, n: int) -> ast.Call:
        action = self.program.graph.nodes[n].action
        assert isinstance(action, CallInstr)
        return action.call

    # --- inserted statements ---------------------------------------------------------------------------------------

    def statements(self, insertions: Sequence[Insertion], size: str, per_row: bool) -> None:
        for insertion in insertions:
            frame = self.flow.frames_of[insertion.function][0]
            level = (frame, insertion.stmt)
            stmt = self.flow.info(level).stmt
            target = insertion.target
            if self.buffer.carrier.kind == "array" and insertion.kind != "free":
                size = self.declared_size(level)
            index = target[len(self.variable.name) :] if self.member is None else f"[{insertion.index}]"
            asked = size + index if per_row else size
            if insertion.kind == "free":
                text = (
                    self.all_rows(level)
                    if self.buffer.carrier.rows and not insertion.rows
                    else f"OPI_Free({address_of(target)});"
                )
            elif insertion.kind == "alloc":
                text = self.made.acquired(target, asked)
            else:
                text = f"if (!{target})\n    {self.made.acquired(target, asked)}"
            self.files.add(stmt.span.file)
            if insertion.where == "leave":
                self.leave(level, text)
            elif insertion.where == "return":
                self.returned(level, text)
            else:
                self.edits.append(InsertStatement(stmt.span, insertion.where, text, self.anchors.wrap(level)))

    def hidden(self, level: Level) -> frozenset[str]:
        """Names that mean something else at a statement than for the carrier's declaration."""
        declared = next((d.statement for d in self.variable.declarators), None)
        return frozenset(hidden_names(self.flow.lowered(level[0]), level[1], self.texts, (), declared))

    def declared_size(self, level: Level) -> str:
        if self.length:
            return self.length
        file = self.flow.info(level).stmt.span.file
        size = array_size(self.program, self.buffer, self.texts, file, self.hidden(level))
        if size is None:
            where = f"at {line_of(self.flow.info(level).stmt.span)}, where its memory would be asked for"
            raise Problem(f"the size of `{self.variable.name}` cannot be written {where}")
        return size

    def all_rows(self, level: Level) -> str:
        """Frees what is left of an array of buffers."""
        found = None
        if self.member is None:
            file = self.flow.info(level).stmt.span.file
            found = dimensions(self.program, self.variable, self.texts, file, self.hidden(level))
        if found is None:
            where = f"at {line_of(self.flow.info(level).stmt.span)}, where what is left of them would be freed"
            raise Problem(f"could not show how many rows `{self.variable.name}` has {where}")
        return f"for (int opi_row = 0; opi_row < {found[0]}; opi_row++)\n    OPI_Free(&{self.variable.name}[opi_row]);"

    def leave(self, level: tuple[int, int], text: str) -> None:
        """On every way out of a block but its returns."""
        lowered = self.flow.lowered(level[0])
        function = lowered.function.key
        for i in self.flow.escaping(function, level[1]):
            jump = (level[0], i)
            if not self.leaves_held(function, self.around(lowered, i, level[1])):
                continue
            if not self.anchors.usable(jump, "before"):
                raise Problem("nothing can be inserted before a jump out of the buffer's block")
            self.edits.append(InsertStatement(lowered.stmts[i].stmt.span, "before", text, self.anchors.wrap(jump)))
        block = lowered.stmts[level[1]].stmt
        assert isinstance(block, ast.Block)
        last = block.body[-1] if block.body else None
        while isinstance(last, (ast.Label, ast.Case)):
            last = last.body
        if isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Goto)):
            return
        for i, info in enumerate(lowered.stmts):
            left = self.flow.escaping(function, i) or self.leaves_held(function, i)
            if info.stmt is last and not left and self.runs(function, i):
                return
        if not block.span.editable:
            raise Problem("the end of the buffer's block is written by a macro")
        self.edits.append(InsertStatement(block.span, "end", text))

    def around(self, lowered: Lowered, stmt: int, block: int) -> int:
        """The condition that decides on a jump out of ``block``: the last thing evaluated before it is inside that."""
        at = lowered.stmts[stmt].parent
        while at > block and not isinstance(lowered.stmts[at].stmt, (ast.If, ast.Switch)):
            at = lowered.stmts[at].parent
        found = lowered.stmts[at].stmt
        constant = isinstance(found, (ast.If, ast.Switch)) and isinstance(plain(found.cond), ast.IntLit)
        return block if at <= block or constant else at

    def runs(self, function: str, stmt: int) -> bool:
        """A statement does something: else the way out of its block comes from what stands before it (``out: ;``)."""
        levels = [(frame, stmt) for frame in self.flow.frames_of[function]]
        return any(self.flow.inside(level, n) for level in levels for n in self.flow.by_frame[level[0]])

    def leaves_held(self, function: str, stmt: int) -> bool:
        """A scope may be left from inside a statement while the buffer is held."""
        levels = [(frame, stmt) for frame in self.flow.frames_of[function]]
        return any(self.flow.inside(level, n) for n in self.held_leaving for level in levels)

    def returned(self, level: tuple[int, int], text: str) -> None:
        """A return whose value is made with the buffer: the value first, then the release."""
        info = self.flow.info(level)
        stmt = info.stmt
        lowered = self.flow.lowered(level[0])
        result = lowered.function.type.elem
        if not isinstance(stmt, ast.Return) or stmt.value is None or result is None or not stmt.span.editable:
            raise Problem("a return uses the buffer in a way that cannot be rewritten")
        if isinstance(plain(stmt.value), ast.Comma):  # it would part declarators
            line = line_of(stmt.span)
            raise Problem(f"{line} returns what is after a comma; what is before it may be a statement of its own")
        keyword = replace(stmt.span, end=stmt.span.begin + len("return"))
        if "(" in result.spelling or not stmt.value.span.editable or self.texts.of(keyword) != "return":
            raise Problem("a return uses the buffer in a way that cannot be rewritten")
        name = RESULT
        siblings = [i for i, other in enumerate(lowered.stmts) if isinstance(other.stmt, ast.Return)]
        if len(siblings) > 1:
            name = f"{RESULT}{siblings.index(level[1]) + 1}"
        name = fresh(name, self.program)
        declared = f"{result.spelling} {name} ="  # the value stays where it is: it may be a message that is edited
        if info.role == "item" and isinstance(lowered.stmts[info.parent].stmt, (ast.Case, ast.Label)):
            text = " ".join(on_one_line(text).split())
            self.edits.append(ReplaceText(keyword, f"{{ {declared}"))
            self.edits.append(InsertStatement(stmt.span, "after", f"{text} return {name}; }}"))
            return  # a declaration cannot stand after a label
        wrap = self.anchors.wrap(level)
        self.edits.append(ReplaceText(keyword, declared))
        self.edits.append(InsertStatement(stmt.span, "after", text, wrap))
        self.edits.append(InsertStatement(stmt.span, "after", f"return {name};", wrap))


def _in_header(d: ast.Declarator) -> bool:
    return not d.name_span.file.endswith(".c")


def _of_members(e: ast.Expr) -> bool:
    """It reads variables and members of structs by name: no memory that another buffer may be, or be led to."""
    memory = (ast.Index, ast.Deref, ast.AddrOf)
    return _only_reads(e) and not any(isinstance(x, memory) for x in within(e))


def _only_reads(e: ast.Expr) -> bool:
    """Evaluating an expression does nothing but to read what the program alone writes."""
    return all(isinstance(x, _READS) and not x.type.volatile and not x.type.atomic for x in within(e))

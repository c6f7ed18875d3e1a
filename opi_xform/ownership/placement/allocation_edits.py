"""The size that OPI_Alloc asks for, and the program's own allocations as edits of the source."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.lowering.memalign import given_memory
from opi_xform.ir.span import Span
from opi_xform.once import once
from opi_xform.ownership.allocation.allocations import Allocation, set_through
from opi_xform.ownership.allocation.repeated import has_effect
from opi_xform.ownership.allocation.sizes import (
    constant_size,
    dimensions,
    evaluated_parts,
    factors,
    requested,
    same_everywhere,
    size_name,
    size_of_member,
    sized_by,
    written,
)
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Buffer, Member, Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import address_of
from opi_xform.ownership.model.plan import Edit, InsertStatement, ReplaceCall, ReplaceText
from opi_xform.ownership.placement.anchors import Anchors
from opi_xform.ownership.placement.states import Insertion
from opi_xform.ownership.spelling.mentions import Definitions, Mentions, Texts, expressions, plain, walk
from opi_xform.ownership.spelling.scopes import PASTED, declared_by_macros, expanded, fresh, means_function, words


class Problem(Exception):
    """Something cannot be written; the message is a sentence without its full stop."""


def _unwritable_size(allocation: Allocation) -> str:
    """Why memory cannot be asked for where the program does not."""
    return f"could not tell the size of the allocation in {line_of(allocation.call.span)} in another place"


def _declares(allocation: Allocation) -> bool:
    """The carrier is declared with it."""
    return allocation.declared and allocation.condition is None and not allocation.local


def _named(e: ast.Expr) -> set[str]:
    return {x.var for x in walk(e) if isinstance(x, ast.VarRef)}


@once
def _messages(program: Program) -> frozenset[str]:
    """Arrays that are messages' buffers: they may become pointers, and what the text says of their size changes."""
    found = {program.values.objects.table[u.object].variable for u in collect(program) if u.object >= 0}
    return frozenset(key for key in found if key is not None and program.variables[key].type.is_array)


class AllocationEdits:
    """What is written where memory comes from; ``edits.Builder`` writes the rest."""

    def __init__(
        self,
        program: Program,
        flow: Flow,
        buffer: Buffer,
        mentions: Mentions,
        texts: Texts,
        defs: Definitions,
        told: bool = False,
    ) -> None:
        self.program = program
        self.flow = flow
        self.buffer = buffer
        self.mentions = mentions
        self.texts = texts
        self.defs = defs
        self.told = told
        """Where the program allocates, it looks whether there is memory: OPI_Malloc tells."""
        self.anchors = Anchors(flow)
        self.variable = program.variables[buffer.carrier.variable]
        self.member = program.members.get(buffer.carrier.variable)
        self.twins = self.member is not None and bool(self.member.twins)
        self.largest = False
        """One size for all rows, the largest, since a row's own is not found by its number."""
        self.away = False
        """The size is asked for where the carrier is written through a struct or a parameter, not by its name."""
        self.edits: list[Edit] = []
        self.files: set[str] = set()

    def sizes(
        self,
        insertions: Sequence[Insertion],
        allocations: Sequence[Allocation],
        in_place: bool,
        tests: Collection[Level],
    ) -> tuple[str, bool]:
        """The size that every OPI_Alloc asks for, and whether it has one value per row.

        Removes the allocations and keeps their sizes where needed.
        """
        allocs = [i for i in insertions if i.kind in ("alloc", "guard")]
        if self.buffer.carrier.kind == "array":
            return "", False  # as the file spells it where it is needed
        if any(self.reads_buffer(a) for a in allocations):
            raise Problem("the size of the allocation is read from the buffer")
        for allocation in allocations:
            self.known_behind(allocation)
        asked = [requested(self.program, self.flow, a, self.texts) for a in allocations]
        sizes = [s for s in asked if s is not None]
        if len(sizes) < len(allocations):
            unknown = next(a for a, size in zip(allocations, asked, strict=True) if size is None)
            raise Problem(_unwritable_size(unknown))
        variable = ""
        self.largest = self.twins or (self.member is not None and self.unnumbered(self.member, allocs, allocations))
        alone = len(allocations) == 1 and all(self.same(allocations[0], i) for i in allocs)
        done = (x for a in allocations if not a.kept for x in a.call.args)
        counted = not in_place and any(has_effect(x) for x in done)
        if (allocs and not alone) or counted:  # what the size does besides is still done once
            declared = [s for a, s in zip(allocations, sizes, strict=True) if _declares(a)]
            functions = [*(a.function for a in allocations), *(i.function for i in allocs)]
            used = {(self.program.functions[f].span.file, f) for f in functions}
            beside = any(a.local and a.function != self.variable.function for a in allocations)
            self.away = self.member is not None or beside or any(i.target.startswith("(*") for i in allocs)
            variable = self.size_variable(declared[0] if declared else "0", used)
        for allocation, size in zip(allocations, sizes, strict=True):
            always = allocation.condition is None
            if always and not in_place and not variable and not allocation.kept and self.whole_test(allocation, tests):
                continue
            self.removed(allocation, size, variable, in_place)
        per_row = bool(variable) and self.buffer.carrier.rows > 0 and not self.largest
        return variable or (sizes[0] if sizes else ""), per_row

    def known_behind(self, allocation: Allocation) -> None:
        """The size may be written after its statement.  Raises Problem."""
        function = self.program.functions[allocation.function]
        within = self.flow.info((self.flow.frames_of[allocation.function][0], allocation.stmt)).stmt
        gone = () if allocation.kept else allocation.call.args
        parts = [x for e in (*gone, *written(allocation), *expressions(function, within)) for x in walk(e)]
        asking = (x for x in parts if isinstance(x, (ast.SizeOf, ast.AddrOf)))
        arrays = _messages(self.program) - {self.buffer.carrier.variable}
        if any(not arrays.isdisjoint(_named(x)) for x in asking):
            raise Problem("the allocation asks for the size of an array that may become a pointer")
        meant = set[str]().union(*map(_named, written(allocation)))
        declared = within.variables if isinstance(within, ast.DeclStmt) else ()
        others = {self.program.variables[key].name for key in declared if key not in meant}
        said = (*sized_by(self.program, allocation), *written(allocation))
        text = expanded(self.program, set[str]().union(*(words(self.texts.of(e.span)) for e in said)))
        if others and (PASTED in text or not others.isdisjoint(text)):
            raise Problem("the words of the size of the allocation mean something else after its declaration")

    def reads_buffer(self, allocation: Allocation) -> bool:
        """The pointer is evaluated for its own new size: it would be NULL by then."""
        key = self.buffer.carrier.variable
        out = self.program.graph.out_parameters.get(allocation.wrapper)
        given = [e for parameter, e in allocation.arguments if parameter != out]
        parts = (part for argument in (*allocation.call.args, *given) for part in evaluated_parts(argument))
        return any(self.program.names(x, key) or (isinstance(x, ast.VarRef) and x.var == key) for x in parts)

    def unnumbered(self, member: Member, allocs: Sequence[Insertion], allocations: Sequence[Allocation]) -> bool:
        """Rows that are named through a pointer (`s->buf`), or that nobody knows the number of."""
        if not self.buffer.carrier.rows:
            return False
        return not member.count or any(a.index is None for a in allocations) or any(not i.index for i in allocs)

    def same(self, allocation: Allocation, insertion: Insertion) -> bool:
        if self.varies() or not (constant_size(allocation) or self.behind(insertion)):
            return False
        levels = [(frame, insertion.stmt) for frame in self.flow.frames_of[insertion.function]]
        return all(
            same_everywhere(self.program, self.flow, allocation, self.defs, level, self.texts) for level in levels
        )

    def behind(self, insertion: Insertion) -> bool:
        """The program has allocated when it comes to an insertion: else its size may have no value there, or divide by
        zero, where the program knows that it needs no memory."""
        flow, count = self.flow, len(self.program.graph.nodes)
        return all(
            v < count and any(self.program.dominates(n, v) for n in self.buffer.carrier.allocations)
            for frame in flow.frames_of[insertion.function]
            for _, v in flow.boundary((frame, insertion.stmt), flow.succs, flow.preds)[0]
        )

    def whole_test(self, allocation: Allocation, tests: Collection[Level]) -> bool:
        """``if (!b) b = malloc(n);`` goes whole."""
        frame = self.flow.frames_of[allocation.function][0]
        stmts = self.flow.lowered(frame).stmts
        at = stmts[allocation.stmt].parent
        while at >= 0 and isinstance(stmts[at].stmt, ast.Block):
            at = stmts[at].parent
        if (frame, at) not in tests or not stmts[at].in_block or not stmts[at].stmt.span.editable:
            return False
        self.edits.append(ReplaceText(stmts[at].stmt.span, ""))
        return True

    def varies(self) -> bool:
        """The memory may be of an earlier turn of a loop, for which the program asked with other numbers."""
        values = self.program.values
        if values.lazy.isdisjoint(self.buffer.objects):
            return False
        asked = [v for n in self.buffer.carrier.allocations for v in values.args.get(n, ())]
        return any(values.symbols.scope(values.symbols.resolve(v)) for v in asked)

    def size_variable(self, first: str, used: Collection[tuple[str, str]]) -> str:
        """A new variable beside the carrier that keeps what malloc was asked for.

        used: (file, function) where it is set and read.
        """
        name = fresh(size_name(self.program, self.variable, self.away), self.program)
        kind = self.variable.kind
        if self.away:
            if any(file in self.program.shared for file, _ in used):
                raise Problem("the size of the buffer cannot be kept in a header that several files include")
            dims = ""
            if self.buffer.carrier.rows and not self.largest:
                if self.member is None:
                    raise Problem(f"the sizes of the rows of `{self.variable.name}` would have to be kept beside it")
                dims = f"[{self.member.count}]"
            self.edits.extend(size_of_member(self.program, name + dims, sorted(used), self.texts))
            self.files.update(file for file, _ in used)
            return name
        for d in self.variable.declarators:
            if not d.statement.editable:
                raise Problem("the pointer's declaration is written by a macro")
            dims = ""
            if self.buffer.carrier.rows:
                found = dimensions(self.program, self.variable, self.texts, d.statement.file)
                if found is None:
                    raise Problem("the pointers' declaration is not understood")
                if self.variable.type.vla:  # nor would that of the sizes take an initialiser
                    shown = f"the sizes of `{self.variable.name}` would have to be kept row by row"
                    raise Problem(f"{shown}, and it is an array of variable length; one of a fixed length would do")
                dims, first = f"[{found[0]}]", "{0}"
            if kind == "local":
                text = f"size_t {name}{dims} = {first};"
            else:
                text = f"{d.storage} size_t {name}{dims};".strip()
            self.edits.append(InsertStatement(d.statement, "after", text))
            self.files.add(d.statement.file)
        return name

    def alignments(self, call: ast.Call) -> list[ast.Expr]:
        """The arguments of an allocation that say its alignment, of which ``OPI_Alloc`` is not told."""
        effect = self.program.effects.get(called_name(call))
        made = effect.allocates if effect is not None else None
        told = (made.alignment or ()) if made is not None else ()
        return [call.args[f.value] for f in told if f.kind == "arg" and f.value < len(call.args)]

    def removed(self, allocation: Allocation, size: str, variable: str, in_place: bool) -> None:
        frame = self.flow.frames_of[allocation.function][0]
        level = (frame, allocation.stmt)
        info = self.flow.info(level)
        name = self.variable.name
        row = ""
        if allocation.index is not None:
            if not allocation.index.span.editable:
                raise Problem("the row that is allocated is named by a macro")
            row = f"[{self.texts.of(allocation.index.span)}]"
        if not allocation.kept and any(map(has_effect, self.alignments(allocation.call))):
            raise Problem("the alignment does something, and would be asked for no more")
        if variable and self.largest and any(has_effect(x) for x in allocation.call.args):
            raise Problem("the sizes of several buffers that one expression names cannot be kept apart")
        if variable and not self.largest:
            if self.buffer.carrier.rows and not row:
                raise Problem("the row is not told where its memory is allocated")
            variable += row
        told = _declares(allocation) and not self.away
        after = [f"{variable} = {size};"] if variable and not told else []
        if self.largest:  # one size for all of them, the largest; more than malloc ever gives is not asked for
            largest = f"if ({variable} < opi_size && opi_size <= (size_t)-1 / 2)\n        {variable} = opi_size;"
            after = [f"{{\n    size_t opi_size = {size};\n    {largest}\n}}" for _ in after]
        whole = f"{name}{row}" if self.member is None else self.assigned(allocation, name)
        if allocation.local:
            whole = self.program.variables[allocation.local].name
        if in_place:
            self.files.add(info.stmt.span.file)
            stands = self.stands_for(allocation)
            if stands and allocation.wrapper < 0:
                self.in_its_place(allocation, stands, level, after, variable)
                return
            if self.brings_zeros(allocation):
                after.append(f"{whole} = OPI_Calloc({self.count_and_size(allocation)});")
            else:
                asked = size if self.largest else variable or size
                after.append(f"{whole} = OPI_Malloc({asked});" if self.told else self.acquired(whole, asked))
        if allocation.kept:
            self.besides(allocation, level, whole, after, in_place)
            return
        wrap = not info.in_block
        if allocation.condition is not None:
            after = self.under_condition(allocation, after)
        if after and not self.anchors.usable(level, "before" if allocation.inside else "after"):
            raise Problem("nothing can be put after the allocation")
        if allocation.inside is not None:  # `if (!(v = malloc(n)))`
            whole = self.assigned(allocation, f"{name}{row}")
            if not in_place or not allocation.inside.span.editable:
                raise Problem("the buffer is allocated inside a condition")
            if not info.stmt.span.editable:
                raise Problem("the buffer is allocated inside a condition in a macro")
            if given_memory(allocation.inside):
                around = self.flow.lowered(level[0]).stmts
                at = info.parent
                while at >= 0:  # what is put before such a loop would allocate, and then this does
                    if isinstance(around[at].stmt, ast.DoWhile):
                        raise Problem("the buffer is allocated inside a condition in a `do`")
                    at = around[at].parent
            for text in after:
                self.edits.append(InsertStatement(info.stmt.span, "before", text, wrap))
            assert isinstance(info.stmt, ast.If)
            place = self.in_parentheses(allocation.inside.span, info.stmt.cond.span)
            if given_memory(allocation.inside):  # `if (posix_memalign(&v, 64, n) != 0)`
                place, whole = allocation.inside.span, f"(!{whole})"
            self.edits.append(ReplaceText(place, whole))
            return
        if in_place and not allocation.declared and allocation.condition is None:
            self.edits.append(ReplaceText(info.stmt.span, after[-1]))
            if len(after) > 1:
                self.edits.append(InsertStatement(info.stmt.span, "before", after[0], wrap))
            return
        if allocation.out:
            self.edits.append(ReplaceText(info.stmt.span, f"{whole} = NULL;"))
            for text in after:
                self.edits.append(InsertStatement(info.stmt.span, "after", text, wrap))
            return
        self.edits.append(ReplaceText(allocation.value.span, "NULL"))
        for text in after:
            self.edits.append(InsertStatement(info.stmt.span, "after", text, wrap))

    def acquired(self, whole: str, size: str) -> str:
        """The statement that gives the carrier, written as ``whole``, memory of a size."""
        if self.buffer.cleared:
            return f"{whole} = OPI_Calloc(1, {size});"
        return f"OPI_Alloc({address_of(whole)}, {size});"

    def brings_zeros(self, allocation: Allocation) -> bool:
        """The zeros of the memory are read: OPI_Calloc stands where calloc stood."""
        callee = allocation.call.callee
        return self.buffer.zeros and isinstance(callee, ast.FuncRef) and callee.name == "calloc"

    def stands_for(self, allocation: Allocation) -> str:
        """What is called by the program's own text in place of malloc or calloc; empty: another call brings memory."""
        if self.brings_zeros(allocation):
            return "OPI_Calloc"
        callee = allocation.call.callee
        plainly = isinstance(callee, ast.FuncRef) and callee.name == "malloc" and not allocation.kept
        return "OPI_Malloc" if self.told and plainly and self.texts.of(allocation.call.callee_span) == "malloc" else ""

    def count_and_size(self, allocation: Allocation) -> str:
        """What a function of the program's gives to calloc, for the place where it is called."""
        found = factors(self.program, self.flow, allocation, self.texts)
        if found is None or len(found) != 2:
            raise Problem(
                f"could not tell the size of the allocation in {line_of(allocation.call.span)} in another place"
            )
        return ", ".join(text for text, _ in found)

    def in_its_place(
        self, allocation: Allocation, stands: str, level: Level, after: Sequence[str], variable: str
    ) -> None:
        """The call of calloc is one of OPI_Calloc, or malloc's of OPI_Malloc, with all that stands around it.

        after: what keeps its size, where another OPI_Alloc asks for it again.
        """
        info, call = self.flow.info(level), allocation.call
        calls = stands.lower().removeprefix("opi_")
        if not call.callee_span.editable or self.texts.of(call.callee_span) != calls:
            raise Problem(f"the call of {calls} is written by a macro")
        if variable and any(has_effect(x) for x in call.args):
            raise Problem("the size of the allocation has effects, and is needed twice")
        self.edits.append(ReplaceCall(call.callee_span, stands, ()))
        plainly = not allocation.declared and allocation.condition is None
        where = "before" if allocation.inside or plainly else "after"
        if allocation.condition is not None:
            after = self.under_condition(allocation, after)
        if after and not self.anchors.usable(level, where):
            raise Problem("nothing can be put beside the allocation")
        for text in after:
            self.edits.append(InsertStatement(info.stmt.span, where, text, not info.in_block))

    def besides(self, allocation: Allocation, level: Level, whole: str, after: Sequence[str], in_place: bool) -> None:
        """The call stays for what it does besides; its memory is freed after it, and given anew where there was some.

        whole: the carrier as it is written there.  after: what keeps its size, and (in place) the OPI_Alloc.
        """
        info = self.flow.info(level)
        if not self.frees_here(level):
            raise Problem("the memory that a function allocates cannot be freed here, where `free` is not known")
        kept = [*after[:-1]] if in_place else [*after]
        if in_place:
            inner = "\n".join(f"    {line}" for line in after[-1].split("\n"))
            kept.append(f"if ({whole}) {{\n    free({whole});\n{inner}\n}}")
        else:
            kept.append(f"free({whole});\n{whole} = NULL;")
        where = "before" if allocation.inside else "after"
        if not self.anchors.usable(level, where):
            raise Problem("nothing can be put after the allocation")
        if allocation.inside is not None:
            assert isinstance(info.stmt, ast.If)
            if not allocation.inside.span.editable:
                raise Problem("the buffer is allocated inside a condition")
            kept.insert(0, f"{self.texts.of(allocation.inside.span)};")
            place = self.in_parentheses(allocation.inside.span, info.stmt.cond.span)
            self.edits.append(ReplaceText(place, self.texts.of(allocation.inside.target.span)))
        self.edits.append(InsertStatement(info.stmt.span, where, "\n".join(kept), not info.in_block))

    def frees_here(self, level: Level) -> bool:
        """``free`` means the C library's in a function: it is declared there, and neither hidden nor a macro."""
        program, lowered = self.program, self.flow.lowered(level[0])
        if lowered.function.span.file not in program.freeing or expanded(program, ["free"]) != {"free"}:
            return False
        mine = {v.name for v in program.variables.values()} | {f.name for f in program.functions.values()}
        if "free" in mine or "free" in declared_by_macros(program, lowered.function.span):
            return False
        return means_function(lowered.function, "free", self.texts)

    def under_condition(self, allocation: Allocation, texts: Sequence[str]) -> list[str]:
        """Done where `v = c ? malloc(n) : NULL` allocates, behind `v = NULL`."""
        if not texts:
            return []
        assert allocation.condition is not None
        condition = self.texts.of(allocation.condition.span)
        lines = "\n".join(f"    {line}" for text in texts for line in text.split("\n"))
        return [f"if ({f'!({condition})' if allocation.negated else condition}) {{\n{lines}\n}}"]

    def in_parentheses(self, span: Span, whole: Span) -> Span:
        """With the parentheses around it that belong to the same expression, which a name does not need."""
        text = self.texts.of(whole).encode("utf-8", "surrogateescape")
        begin, end = span.begin - whole.begin, span.end - whole.begin
        if begin > 0 and text[begin - 1 : begin] == b"(" and text[end : end + 1] == b")":
            return replace(span, begin=span.begin - 1, end=span.end + 1, column=span.column - 1)
        return span

    def assigned(self, allocation: Allocation, name: str) -> str:
        """The carrier as the allocation writes it."""
        stmt = self.flow.info((self.flow.frames_of[allocation.function][0], allocation.stmt)).stmt
        assignment = stmt.expr if isinstance(stmt, ast.ExprStmt) else allocation.inside
        target = assignment.target if isinstance(assignment, ast.Assign) else None
        if allocation.out and assignment is not None:
            target = set_through(self.program, plain(assignment), self.buffer.carrier)
        if self.member is None or target is None:
            return name
        if not target.span.editable:
            raise Problem("the pointer that is allocated is named by a macro")
        return self.texts.of(target.span)

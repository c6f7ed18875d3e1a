"""Arrays that begin with zeros which the program reads: where it can write them itself.

OPI_Alloc brings no zeros.  ``memset(a, 0, sizeof a);`` where the array still is as it began leaves the program what it
is, and from there on its zeros are contents like others (``cli/zeroed.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import expressions
from opi_xform.ownership.anchors import Anchors
from opi_xform.ownership.flow import Flow, Level
from opi_xform.ownership.index import index_of
from opi_xform.ownership.mentions import Texts, in_scope, walk
from opi_xform.ownership.model import Program
from opi_xform.ownership.reasons import node_span
from opi_xform.ownership.words import expanded, means_function, means_variable
from opi_xform.program.graph import Lost
from opi_xform.record import dataclass

CLEARING = "memset"
LARGEST = 64 << 20
"""Bytes: of a larger array a program may never touch most, and writing its zeros would take that memory."""
_TRIES = 64


@dataclass(frozen=True, slots=True)
class Zeros:
    """``text`` before the statement at ``anchor`` writes the zeros of object ``o``, an array of variable ``key``."""

    o: int
    key: str
    anchor: Span
    text: str


class Zeroing:
    """One program: ``of``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.flow = Flow(program.graph, program.threads)
        self.anchors = Anchors(self.flow)
        self.texts = Texts()
        own = any(f.name == CLEARING for f in program.functions.values())
        self.clearing = not own and expanded(program, [CLEARING]) == {CLEARING}

    def of(self, o: int, readers: Collection[tuple[str, int, int]]) -> Zeros | None:
        """``readers``: where the zeros are read, as places of text."""
        info = self.program.values.objects.table[o]
        if info.kind != "variable" or info.variable is None or not self.clearing:
            return None
        variable = self.program.variables[info.variable]
        alone = len(self.program.values.objects.by_name.get(variable.key, ())) == 1
        fits = variable.type.is_array and 0 < (variable.type.size or 0) <= LARGEST
        if not alone or not fits or not self.begins_with_zeros(variable):
            return None
        touching = self.touching(o)
        births = frozenset(n for n in range(len(self.graph.nodes)) if self.declares(n, variable))
        touching -= births
        read = [n for n in sorted(touching) if _place(node_span(self.program, n)) in readers]
        if not read:
            return None
        for level in self.places(read[0], variable):
            if self.untouched(level, touching, births) and all(self.leads_to(level, n) for n in read):
                text = f"{CLEARING}({variable.name}, 0, sizeof {variable.name});"
                return Zeros(o, variable.key, self.flow.info(level).stmt.span, text)
        return None

    def begins_with_zeros(self, variable: ast.Variable) -> bool:
        if variable.thread_local or variable.type.vla or variable.type.volatile or variable.type.atomic:
            return False
        if variable.key in self.graph.background.named:
            return False
        if variable.init is None:
            return variable.is_global
        return variable.kind != "param" and _zero(variable.init)

    def touching(self, o: int) -> set[int]:
        """The nodes that access the array or have an address in it."""
        index = index_of(self.program)
        return {*index.accesses.get(o, ()), *index.addressed.get(o, ())}

    def declares(self, n: int, variable: ast.Variable) -> bool:
        """The node belongs to a declaration of this variable and of nothing else: each of its lives begins there."""
        if variable.is_global:
            return False
        statement = self.graph.statement(self.graph.nodes[n])
        return (
            self.graph.frames[self.graph.nodes[n].frame].function == variable.function
            and statement is not None
            and isinstance(statement.stmt, ast.DeclStmt)
            and list(statement.stmt.variables) == [variable.key]
        )

    # --- places -------------------------------------------------------------------------------------------------------

    def places(self, reader: int, variable: ast.Variable) -> Iterator[Level]:
        """The statements before a reader, and around it, at which the variable can be named: the last ones first."""
        tried = 0
        for frame, at in self.flow.chain(reader):
            lowered = self.flow.lowered(frame)
            if not self.can_hold(frame, lowered, variable):
                continue
            for stmt in range(at, -1, -1):
                if lowered.stmts[stmt].parent != lowered.stmts[at].parent or not lowered.stmts[stmt].in_block:
                    continue
                if self.anchors.usable((frame, stmt), "before") and in_scope(lowered, variable, stmt):
                    tried += 1
                    if tried > _TRIES:
                        return
                    yield frame, stmt

    def can_hold(self, frame: int, lowered: ins.Lowered, variable: ast.Variable) -> bool:
        """What is written in the function means what it says, and runs in this copy of it only."""
        function = lowered.function
        if variable.function and variable.function != function.key:
            return False
        elsewhere = {*self.graph.passed, *self.graph.levels, *self.graph.background.functions, *self.program.taken}
        return (
            self.flow.frames_of[function.key] == [frame]
            and function.key not in elsewhere
            and _names(function, variable)
            and means_variable(self.program, function, variable, self.texts)
            and means_function(function, CLEARING, self.texts)
        )

    def untouched(self, level: Level, touching: Collection[int], births: Collection[int]) -> bool:
        """From where the array begins, no way to the statement goes through anything that touches it, nor through the
        statement itself.
        """
        inside = self.flow.members(level)
        entering, _ = self.flow.boundary(level, self.flow.succs, self.flow.preds)
        seen = {u for u, _ in entering}
        work = list(seen)
        while work:
            n = work.pop()
            if n in births:
                continue
            if n in touching or n in inside:
                return False
            if n < len(self.graph.nodes) and isinstance(self.graph.nodes[n].action, Lost):
                return False
            for p in self.flow.preds[n]:
                if p not in seen:
                    seen.add(p)
                    work.append(p)
        return bool(entering)

    def leads_to(self, level: Level, reader: int) -> bool:
        """Every way to a reader goes through the statement."""
        inside = self.flow.members(level)
        seen = {self.flow.entry}
        work = [self.flow.entry]
        while work:
            for s in self.flow.succs[work.pop()]:
                if s == reader and s not in inside:
                    return False
                if s not in seen and s not in inside:
                    seen.add(s)
                    work.append(s)
        return True


def _place(span: Span) -> tuple[str, int, int]:
    return span.file, span.begin, span.end


def _names(function: ast.Function, variable: ast.Variable) -> bool:
    """The function names the variable, so that it is declared there."""
    found = (x for e in expressions(function.body) for x in walk(e))
    return any(isinstance(x, ast.VarRef) and x.var == variable.key for x in found)


def _zero(e: ast.Expr) -> bool:
    """All bits of the value are zero."""
    work: Sequence[ast.Expr] = [e]
    while work:
        more: list[ast.Expr] = []
        for item in work:
            match item:
                case ast.InitList(items=items):
                    more.extend(items)
                case ast.Cast(operand=inner):
                    more.append(inner)
                case ast.IntLit(value=value):
                    if value != 0:
                        return False
                case ast.FloatLit(value=value):
                    if value is None or str(value) != "0.0":
                        return False
                case _:
                    return False
        work = more
    return True

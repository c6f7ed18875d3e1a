"""Tests that only keep NULL from being freed: ``if (buf) free(buf);``, and the same in other words.

Whatever such a test finds, the program does the same after it.  So all ways from the test come together again, and on
none of them is anything but what frees the buffer, or sets its pointer to NULL: ``if (!buf) goto no; free(buf); no:``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from opi_xform.graph.graph import Graph, Lost
from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.walk import within
from opi_xform.ownership.allocation.deallocations import Deallocation
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.model.lvalues import in_same_words
from opi_xform.ownership.spelling.mentions import plain


@dataclass(frozen=True, slots=True)
class FreeTests:
    """nodes: of the tests, with what they read.  levels: ``if`` statements that go with what they keep from NULL."""

    nodes: frozenset[int]
    levels: frozenset[Level]


def free_tests(program: Program, flow: Flow, buffer: Buffer, deallocations: Iterable[Deallocation]) -> FreeTests:
    """The tests before what frees a buffer."""
    return _Tests(program, flow, buffer, deallocations).run()


def between(graph: Graph, n: int, passes: Callable[[int], bool]) -> set[int] | None:
    """The nodes between a branch and where all ways from it are one again; None where others than these come first."""
    start = graph.nodes[n].block
    found: set[int] = set()  # blocks
    open_ = dict.fromkeys(graph.succs[start])
    while len(open_) > 1:
        ready = next((b for b in open_ if all(p == start or p in found for p in graph.preds[b])), None)
        if ready is None or not graph.succs[ready] or not all(map(passes, graph.blocks[ready])):
            return None
        del open_[ready]
        found.add(ready)
        open_.update(dict.fromkeys(graph.succs[ready]))
    if start in open_ or not found.isdisjoint(open_):
        return None
    return {m for b in found for m in graph.blocks[b]}


class _Tests:
    """Of one buffer: ``run``."""

    def __init__(self, program: Program, flow: Flow, buffer: Buffer, deallocations: Iterable[Deallocation]) -> None:
        self.program = program
        self.flow = flow
        self.buffer = buffer
        nodes = program.graph.nodes
        going = [d for d in deallocations if not d.stays]  # what a call does besides, it does where there is memory
        self.freeing = {(nodes[d.node].frame, flow.stmt[d.node]): d for d in going}

    def run(self) -> FreeTests:
        nodes, levels = set[int](), set[Level]()
        for level, inside in self.around():
            levels.add(level)
            nodes.update(inside)
        nodes.update(self.ahead())
        nodes.update(self.of_rows())
        return FreeTests(frozenset(nodes), frozenset(levels))

    def around(self) -> Iterator[tuple[Level, set[int]]]:
        """``if (buf) free(buf);``: right with a NULL pointer as well."""
        nodes = self.program.graph.nodes
        for (frame, stmt), freed in self.freeing.items():
            n = freed.node
            stmts = self.flow.lowered(frame).stmts
            at = stmts[stmt].parent
            while at >= 0 and isinstance(stmts[at].stmt, ast.Block):
                at = stmts[at].parent
            if at < 0 or not isinstance(stmts[at].stmt, ast.If):
                continue
            test = stmts[at].stmt
            assert isinstance(test, ast.If)
            inside = self.flow.members((frame, at))
            if (
                test.other is None
                and self.is_null_test(test.cond)
                and all(nodes[m].frame in freed.wrappers or self.flow.stmt[m] in (at, stmt) for m in inside)
                and all(self.is_part_of(freed, m) for m in inside if self.flow.stmt[m] == stmt)
            ):
                test_nodes = {m for m in inside if nodes[m].frame == frame and self.flow.stmt[m] == at and m != n}
                yield (frame, at), test_nodes

    def ahead(self) -> Iterator[int]:
        """Tests in other words, of a buffer that is no row."""
        graph = self.program.graph
        freed = {d.node for d in self.freeing.values()}
        for frame in () if self.buffer.carrier.rows else dict.fromkeys(frame for frame, _ in self.freeing):
            for n in self.flow.by_frame[frame]:
                info = graph.statement(graph.nodes[n])
                test = info.stmt if info is not None and isinstance(graph.nodes[n].action, ins.Branch) else None
                if isinstance(test, ast.If) and self.is_null_test(test.cond, True):
                    inside = between(graph, n, self.passes)
                    if inside is not None and not inside.isdisjoint(freed):
                        yield from (m for m in self.flow.by_frame[frame] if self.flow.stmt[m] == self.flow.stmt[n])

    def of_rows(self) -> Iterator[int]:
        """``if (rows[d] != NULL) { free(rows[d]); rows[d] = NULL; }``, of one row by the same words."""
        for (frame, stmt), freed in self.freeing.items() if self.buffer.carrier.rows else ():
            stmts = self.flow.lowered(frame).stmts
            block = stmts[stmt].parent
            at = stmts[block].parent if block >= 0 else -1
            body, test = (stmts[i].stmt if i >= 0 else None for i in (block, at))
            if not isinstance(body, ast.Block) or not isinstance(test, ast.If) or test.other is not None:
                continue
            row = self.tested(test.cond)
            if row is None or len(body.body) != 2 or body.body[0] is not stmts[stmt].stmt:
                continue
            same = _is_same(row, _freed(body.body[0])) and _is_same(row, _cleared(body.body[1]))
            inside = [m for m in self.flow.members((frame, at)) if self.flow.stmt[m] == stmt]
            if same and self.is_null_test(test.cond) and all(self.is_part_of(freed, m) for m in inside):
                yield from (m for m in self.flow.by_frame[frame] if self.flow.stmt[m] == at)

    def passes(self, m: int) -> bool:
        """The node is a part of what frees the buffer, or sets its pointer to NULL."""
        node = self.program.graph.nodes[m]
        freed = self.freeing.get((node.frame, self.flow.stmt[m]))
        if any(node.frame in d.wrappers for d in self.freeing.values()) or (freed and self.is_part_of(freed, m)):
            return True
        action, given = node.action, self.program.values.operands.get(m, ())
        sets = isinstance(action, ins.Define) and action.target == ins.Var(self.buffer.carrier.variable)
        return sets and bool(given) and given[-1].constant == 0

    def is_part_of(self, freed: Deallocation, m: int) -> bool:
        """A node of a statement that frees the buffer does nothing else but to set the carrier to NULL."""
        graph = self.program.graph
        match graph.nodes[m].action:
            case ins.CallInstr() | Lost():
                return m == freed.node or any(graph.frames[w].call == m for w in freed.wrappers)
            case ins.Define(target=ins.Var(key=key), value=value):
                own = graph.nodes[m].frame in freed.wrappers
                return own or (key == self.buffer.carrier.variable and zero_constant(value))
            case ins.Store() | ins.CopyBytes() | ins.Escape():
                return graph.nodes[m].frame in freed.wrappers
            case _:
                return True

    def tested(self, cond: ast.Expr, either: bool = False) -> ast.Expr | None:
        """What is compared with NULL; ``either``: whether it is that, too."""
        e = plain(cond)
        while either and isinstance(e, ast.Unary) and e.op == "!":
            e = plain(e.operand)
        if isinstance(e, ast.Binary) and (e.op == "!=" or (either and e.op == "==")):
            left, right = plain(e.left), plain(e.right)
            null = [x for x in (left, right) if isinstance(x, ast.IntLit) and x.value == 0]
            return None if not null else left if null[0] is right else right
        return e

    def is_null_test(self, cond: ast.Expr, either: bool = False) -> bool:
        """``buf`` or ``buf != NULL``, of the carrier itself; ``either``: or that it is NULL."""
        e = self.tested(cond, either)
        if e is None:
            return False
        if (
            self.buffer.carrier.rows
            and isinstance(e, ast.Index)
            and isinstance(plain(e.index), (ast.VarRef, ast.IntLit))
            and self.buffer.carrier.variable not in self.program.members
        ):
            e = plain(e.base)
        return self.program.names(e, self.buffer.carrier.variable)


def _freed(stmt: ast.Stmt) -> ast.Expr | None:
    """What a statement ``free(e);`` frees."""
    call = plain(stmt.expr) if isinstance(stmt, ast.ExprStmt) else None
    return plain(call.args[0]) if isinstance(call, ast.Call) and len(call.args) == 1 else None


def _cleared(stmt: ast.Stmt) -> ast.Expr | None:
    """What a statement ``e = NULL;`` sets."""
    e = plain(stmt.expr) if isinstance(stmt, ast.ExprStmt) else None
    if not isinstance(e, ast.Assign) or e.op or not isinstance(value := plain(e.value), ast.IntLit) or value.value:
        return None
    return plain(e.target)


def _is_same(row: ast.Expr, other: ast.Expr | None) -> bool:
    """Both are one pointer, by the same words, which only look."""
    return in_same_words(other, row) and not any(isinstance(e, ast.Call) for e in within(row))

"""Statements and control flow together: where in the program graph a statement inserted in the source is executed.

A call put before a statement is executed on the edges that enter the statement, in every copy of its function; one put
after it on the edges that leave it the normal way.  Edges connect nodes: blocks without nodes are passed through.
What is executed has a node, and each way back one outside of the statements that it leads back to (``ins.passing``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from opi_xform.graph.graph import Bind, Graph, Lost, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.lowering.turned import turned_loop
from opi_xform.ir.span import Span

Edge = tuple[int, int]
Level = tuple[int, int]  # (frame, index of a statement of its function)
_LOOPS = (ast.For, ast.While, ast.DoWhile)


class Flow:
    """``succs[v]``/``preds[v]``: nodes that follow and precede node v; ``entry`` and ``exit`` are two more vertices.

    ``stmt[n]``: the statement of node n in its frame, -1 for a Bind.
    """

    def __init__(self, graph: Graph, threads: tuple[Span, ...] = ()) -> None:
        """threads: text that several threads may run."""
        self.graph = graph
        self.threads = threads
        count = len(graph.nodes)
        self.entry, self.exit = count, count + 1
        self.stmt = [self._statement(n) for n in range(count)]
        self.by_frame: list[list[int]] = [[] for _ in graph.frames]
        for node in graph.nodes:
            self.by_frame[node.frame].append(node.number)
        self.inner: list[list[int]] = [[] for _ in graph.frames]
        self.call_stmt = [-1] * len(graph.frames)
        self.frames_of: dict[str, list[int]] = {}
        for frame in graph.frames:
            self.frames_of.setdefault(frame.function, []).append(frame.number)
            if frame.parent >= 0 and frame.call >= 0:
                self.inner[frame.parent].append(frame.number)
                self.call_stmt[frame.number] = self.stmt[frame.call]
        self.succs = self.contracted(graph.succs)
        self.preds = mirrored(self.succs)
        self._boundaries: dict[Level, tuple[tuple[Edge, ...], tuple[Edge, ...]]] = {}
        self.exits: dict[int, list[int]] = {}  # per frame: the nodes by which it is left
        for node in graph.nodes:
            if isinstance(node.action, Unbind):
                self.exits.setdefault(node.action.callee, []).append(node.number)
        self._ends: dict[str, tuple[int, ...]] = {}
        self.up: list[dict[int, int]] = []  # per frame: enclosing frame -> statement of the call in it
        for frame in graph.frames:
            up: dict[int, int] = {}
            if frame.parent >= 0:
                if frame.parent < len(self.up):
                    up.update(self.up[frame.parent])
                up[frame.parent] = self.call_stmt[frame.number]
            self.up.append(up)

    def _statement(self, n: int) -> int:
        node = self.graph.nodes[n]
        match node.action:
            case Bind():
                return -1
            case Unbind(callee=callee):
                call = self.graph.frames[callee].call
                return self._statement(call) if call >= 0 else -1
            case Lost(call=call_instr):
                return call_instr.stmt
            case ins.Instr(stmt=stmt):
                return stmt

    def contracted(self, edges: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """Node to node, given the edges between blocks."""
        graph = self.graph
        first: dict[int, tuple[int, ...]] = {}

        def starts(block: int) -> tuple[int, ...]:
            """The nodes that come first from the start of a block, through empty ones."""
            found = first.get(block)
            if found is not None:
                return found
            out: dict[int, None] = {}
            seen = {block}
            work = [block]
            while work:
                at = work.pop()
                if graph.blocks[at]:
                    out[graph.blocks[at][0]] = None
                    continue
                if not edges[at]:
                    out[self.exit] = None
                for s in edges[at]:
                    if s not in seen:
                        seen.add(s)
                        work.append(s)
            first[block] = tuple(sorted(out))
            return first[block]

        succs: list[tuple[int, ...]] = [()] * (len(graph.nodes) + 2)
        for number, block in enumerate(graph.blocks):
            for a, b in pairwise(block):
                succs[a] = (b,)
            if block:
                targets: dict[int, None] = {}
                for s in edges[number]:
                    targets.update(dict.fromkeys(starts(s)))
                succs[block[-1]] = tuple(targets)
        succs[self.entry] = starts(0) if graph.blocks else ()
        return tuple(succs)

    # --- statements ----------------------------------------------------------------------------------------------

    def lowered(self, frame: int) -> ins.Lowered:
        return self.graph.lowered[self.graph.frames[frame].function]

    def info(self, level: Level) -> ins.StmtInfo:
        return self.lowered(level[0]).stmts[level[1]]

    def end(self, function: str, stmt: int) -> int:
        """Statements of a function are numbered in preorder: those inside ``stmt`` are ``stmt`` up to this."""
        ends = self._ends.get(function)
        if ends is None:
            stmts = self.graph.lowered[function].stmts
            found = list(range(1, len(stmts) + 1))
            for i in range(len(stmts) - 1, -1, -1):
                parent = stmts[i].parent
                if parent >= 0:
                    found[parent] = max(found[parent], found[i])
            ends = self._ends[function] = tuple(found)
        return ends[stmt]

    def levels(self, node: int) -> Iterator[Level]:
        """The innermost statement around a node in each frame, from its own frame outward."""
        frame, stmt = self.graph.nodes[node].frame, self.stmt[node]
        while frame >= 0:
            if stmt >= 0:
                yield frame, stmt
            stmt = self.call_stmt[frame]
            frame = self.graph.frames[frame].parent

    def chain(self, node: int) -> Iterator[Level]:
        """Every statement around a node, innermost first, through the calls that lead to it."""
        for frame, stmt in self.levels(node):
            stmts = self.lowered(frame).stmts
            while stmt >= 0:
                yield frame, stmt
                stmt = stmts[stmt].parent

    def inside(self, level: Level, node: int) -> bool:
        """The node is executed inside the statement, or inside a function that it calls."""
        frame, stmt = level
        at = self.graph.nodes[node].frame
        found = self.stmt[node] if at == frame else self.up[at].get(frame, -1)
        return stmt <= found < self.end(self.graph.frames[frame].function, stmt)

    def members(self, level: Level) -> set[int]:
        """All nodes executed inside one execution of a statement, those of the functions it calls included."""
        frame, stmt = level
        end = self.end(self.graph.frames[frame].function, stmt)
        out = {n for n in self.by_frame[frame] if stmt <= self.stmt[n] < end}
        work = [f for f in self.inner[frame] if stmt <= self.call_stmt[f] < end]
        while work:
            at = work.pop()
            out.update(self.by_frame[at])
            work.extend(self.inner[at])
        return out

    def boundary(
        self, level: Level, succs: Sequence[Sequence[int]], preds: Sequence[Sequence[int]]
    ) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
        """Edges into a statement from outside, and out of it, those of its own returns left out; in a given graph."""
        if succs is self.succs:
            known = self._boundaries.get(level)
            if known is None:
                known = self._boundaries[level] = self._boundary(level, succs, preds)
            return known
        return self._boundary(level, succs, preds)

    def _boundary(
        self, level: Level, succs: Sequence[Sequence[int]], preds: Sequence[Sequence[int]]
    ) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
        inside = self.members(level)
        entering = sorted((u, v) for v in inside for u in preds[v] if u not in inside)
        leaving = []
        for u in inside:
            for v in succs[u]:
                if v not in inside:
                    node = self.graph.nodes[u]
                    if node.frame != level[0] or not isinstance(node.action, ins.ReturnInstr):
                        leaving.append((u, v))
        return tuple(entering), tuple(sorted(leaving))

    # --- jumps ---------------------------------------------------------------------------------------------------

    def entered_inside(self, function: str, stmt: int) -> bool:
        """A label or case inside the statement is reached from outside it."""
        stmts = self.graph.lowered[function].stmts
        end = self.end(function, stmt)
        labels = set()
        for i in range(stmt + 1, end):
            s = stmts[i].stmt
            if isinstance(s, ast.Label):
                labels.add(s.label)
            elif isinstance(s, ast.Case) and self._target(stmts, i, (ast.Switch,)) < stmt:
                return True
        return any(
            isinstance(info.stmt, ast.Goto) and info.stmt.label in labels and not stmt <= i < end
            for i, info in enumerate(stmts)
        )

    def escaping(self, function: str, stmt: int) -> list[int]:
        """Statements inside ``stmt`` that jump out of it: break, continue and goto."""
        stmts = self.graph.lowered[function].stmts
        end = self.end(function, stmt)
        labels = {s.stmt.label for s in stmts[stmt:end] if isinstance(s.stmt, ast.Label)}
        out = []
        for i in range(stmt, end):
            match stmts[i].stmt:
                case ast.Break():
                    leaves = self._target(stmts, i, (*_LOOPS, ast.Switch)) < stmt
                case ast.Continue():
                    leaves = self._target(stmts, i, _LOOPS) < stmt
                case ast.Goto(label=label):
                    leaves = label not in labels
                case _:
                    leaves = False
            if leaves:
                out.append(i)
        return out

    @staticmethod
    def _target(stmts: tuple[ins.StmtInfo, ...], i: int, kinds: tuple[type[ast.Stmt], ...]) -> int:
        at = stmts[i].parent
        while at >= 0 and not isinstance(stmts[at].stmt, kinds):
            at = stmts[at].parent
        return at

    def depth(self, level: Level) -> int:
        """How deep a statement stands, frames first: orders what is inserted on one edge."""
        frame, stmt = level
        frames = 0
        while self.graph.frames[frame].parent >= 0:
            frame = self.graph.frames[frame].parent
            frames += 1
        stmts = self.lowered(level[0]).stmts
        inner = 0
        while stmts[stmt].parent >= 0:
            stmt = stmts[stmt].parent
            inner += 1
        return frames * 100_000 + inner


def mirrored(succs: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    preds: list[list[int]] = [[] for _ in succs]
    for v, targets in enumerate(succs):
        for t in targets:
            preds[t].append(v)
    return tuple(tuple(p) for p in preds)


def is_loop(stmt: ast.Stmt) -> bool:
    if isinstance(stmt, ast.DoWhile) and isinstance(stmt.cond, ast.IntLit) and stmt.cond.value == 0:
        return False  # what is in it is done once
    return isinstance(stmt, _LOOPS) or turned_loop(stmt) is not None

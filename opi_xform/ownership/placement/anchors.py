"""Statements that calls can be put before or after, in the order in which a person would think of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from opi_xform.graph.statements import Flow, Level, is_loop
from opi_xform.ir import ast
from opi_xform.ir.span import Span

_NEVER = (ast.Block, ast.Case, ast.Label, ast.Null, ast.OpaqueStmt)
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Goto)


class Anchors:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    def usable(self, level: Level, where: str) -> bool:
        """A statement inserted here is executed exactly when the anchor is entered (or left the normal way)."""
        info = self.flow.info(level)
        function = self.flow.lowered(level[0]).function.key
        if (isinstance(info.stmt, _NEVER) and not self.is_region(level)) or not info.stmt.span.editable:
            return False
        if info.role == "init" or in_threads(self.flow.threads, info.stmt.span):
            return False
        if not info.in_block and info.role not in ("then", "else", "body"):
            return False  # the statement of a label that is itself a body
        if where == "before":
            return not self.flow.entered_inside(function, level[1])
        return not isinstance(info.stmt, _JUMPS) and not self.flow.escaping(function, level[1])

    def is_region(self, level: Level) -> bool:
        """The statement is what OpenMP's threads run: what is put before it stands before its directive."""
        return self.flow.info(level).stmt.span in self.flow.threads

    def wrap(self, level: Level) -> bool:
        """Braces are needed: the anchor is the whole body of an if or a loop."""
        return not self.flow.info(level).in_block

    def outermost_init(self, level: Level) -> Level:
        """The loop, for the first part of a ``for``."""
        info = self.flow.info(level)
        return (level[0], info.parent) if info.role == "init" else level

    def _own(self, node: int) -> Iterator[Level]:
        for level in self.flow.levels(node):
            yield self.outermost_init(level)

    def befores(self, node: int, has_site: Callable[[Level], bool]) -> list[Level]:
        """Where to acquire: loops and regions around, outermost first, without a site; the statement; calls to it."""
        chain = self.flow.chain(node)
        loops = [x for x in chain if (is_loop(self.flow.info(x).stmt) or self.is_region(x)) and not has_site(x)]
        return list(dict.fromkeys([*reversed(loops), *self._own(node)]))

    def loops(self, node: int, has_site: Callable[[Level], bool]) -> list[Level]:
        """The loops around with a site, innermost first."""
        return [x for x in self.flow.chain(node) if is_loop(self.flow.info(x).stmt) and has_site(x)]

    def controls(self, node: int) -> list[Level]:
        """Where to release: ifs, loops and regions around, outermost first; the statement itself; calls to it."""
        chosen = []
        for level in self.flow.chain(node):
            stmt = self.flow.info(level).stmt
            if is_loop(stmt) or isinstance(stmt, (ast.If, ast.Switch, ast.DoWhile)) or self.is_region(level):
                chosen.append(level)
        return list(dict.fromkeys([*reversed(chosen), *self._own(node)]))

    def above(self, node: int, function: str, stmt: int) -> list[Level]:
        """The statements around an anchor of ``node``, innermost first."""
        chain = list(self.flow.chain(node))
        for i, (frame, index) in enumerate(chain):
            if index == stmt and self.flow.graph.frames[frame].function == function:
                return [x for x in chain[i + 1 :] if not isinstance(self.flow.info(x).stmt, _NEVER)]
        return []

    def declaring_block(self, function: str, key: str) -> int | None:
        """The block whose end is the end of a local variable."""
        stmts = self.flow.graph.lowered[function].stmts
        for info in stmts:
            if isinstance(info.stmt, ast.DeclStmt) and key in info.stmt.variables:
                if info.parent >= 0 and isinstance(stmts[info.parent].stmt, ast.Block):
                    return info.parent
                return None
        return None

    def declaration(self, function: str, key: str) -> int | None:
        for i, info in enumerate(self.flow.graph.lowered[function].stmts):
            if isinstance(info.stmt, ast.DeclStmt) and key in info.stmt.variables:
                return i
        return None

    def return_touches(self, level: Level, nodes: Iterable[int]) -> bool:
        """The value returned is made with the buffer."""
        function = self.flow.lowered(level[0]).function.key
        levels = [(frame, level[1]) for frame in self.flow.frames_of[function]]
        return any(self.flow.inside(x, n) for x in levels for n in nodes)


def in_threads(threads: Iterable[Span], span: Span) -> bool:
    """A statement lies in a region, or in a function that one calls; the statement that is the region does not."""
    here = (span.begin, span.end)
    around = (t for t in threads if t.file == span.file and (t.begin, t.end) != here)
    return any(t.begin <= span.begin and span.end <= t.end for t in around)

"""What a message and a line that reads its buffer have in common: bytes of the message, or none.

It is what words are chosen by.  Which sites convert does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from islpy import Set

from opi_xform.ir import ast
from opi_xform.memory.poly import Poly
from opi_xform.ownership.explain.reaching.ways import in_turn
from opi_xform.ownership.liveness.buffer_events import PADDING, SIGNS
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Use
from opi_xform.ownership.model.lvalues import in_same_words
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import Roots
from opi_xform.ownership.spelling.mentions import plain
from opi_xform.regions.sets import BudgetExceeded

TRIES = 8  # others of a line that are asked


def meets(judge: Judge, use: Use, n: int) -> bool | None:
    """What a line reads by a node, and by others that are told as that line, and the message have bytes in common.

    None: that is shown of none, and not shown for all.
    """
    found = _meets(judge, use, n)
    nodes, names = judge.program.graph.nodes, names_of(judge.program)
    frame, line = nodes[n].frame, (names.span(n).file, names.span(n).line)
    others = (m for m, of in judge.accesses.items() if m != n and any(a.kind == "R" for a in of))
    others = (m for m in others if nodes[m].frame == frame and (names.span(m).file, names.span(m).line) == line)
    for m in sorted(others)[:TRIES] if found is False else ():
        other = _meets(judge, use, m)
        if other is not False and _needs(judge, use, m):
            return other
    return found


def reads_what_comes(roots: Roots, argument: ast.Expr, frame: int, e: ast.Expr, there: int) -> bool:
    """A read names a place as far inside a block as a receive's message begins: ``a[n + i]``, of ``a + n``."""
    argument = plain(argument)
    while isinstance(argument, ast.VarRef):
        known = roots.given(argument.var, frame)
        if known is None:
            return False
        argument, frame = plain(known[0]), known[1]
    match argument:
        case ast.Binary(op="+", right=begin) | ast.AddrOf(operand=ast.Index(index=begin)):
            terms = [*_terms(e.index)] if frame == there and isinstance(e, ast.Index) else []
            return len(terms) > 1 and any(in_same_words(term, begin) for term in terms)
        case _:
            return False


def _terms(e: ast.Expr) -> Iterator[ast.Expr]:
    while isinstance(e, ast.Binary) and e.op == "+":
        yield e.right
        e = e.left
    yield e


def _needs(judge: Judge, use: Use, n: int) -> bool:
    """What a node needs of the buffer after a use is of the message: nothing else comes there before."""
    assert use.lo is not None  # else nothing is shown of any node
    assert use.length is not None
    try:
        with judge.regions.budget():
            sent = judge.region(use.node, use.lo, use.length, True)
            return sent is None or not _live(judge, use, n).intersect(sent).is_empty()
    except BudgetExceeded:
        judge.regions.context.reset_operations()
        return False


def _meets(judge: Judge, use: Use, n: int) -> bool | None:
    """Of one node: for all numbers with which both have any, or for none.

    None: neither is shown, or both may be of other turns of a loop.
    """
    if use.lo is None or use.length is None:
        return None
    found: set[bool] = set()
    nest, nodes = judge.program.nest, judge.program.graph.nodes
    own = frozenset(nest.chain(nodes[n].block)).difference(nest.chain(nodes[use.node].block))
    try:
        with judge.regions.budget():
            sent = judge.region(use.node, use.lo, use.length, True)
            if sent is not None and _spared(judge, use, n, sent):
                return False
            for a in judge.accesses.get(n, ()):
                if a.kind != "R":
                    continue
                if sent is None or a.lo is None or a.length is None or not _same_turn(judge, use, n, (a.lo, a.length)):
                    return None
                read = judge.region(n, a.lo, a.length, False)
                if read is None:
                    return None
                both = read.intersect(sent)
                if both.is_empty():
                    found.add(False)
                    continue
                read, both = (judge.regions.forget_scope(s, own, -1) for s in (read, both))  # in some turn it does
                return True if read.params().intersect(sent.params()).is_subset(both.params()) else None
    except BudgetExceeded:
        judge.regions.context.reset_operations()
        return None
    return False if found else None


def written_before(judge: Judge, use: Use, n: int) -> bool:
    """What a node reads may lie in a message, all of which is written before: what it needs would lie beside that."""
    if use.lo is None or use.length is None:
        return False
    reads = [a for a in judge.accesses.get(n, ()) if a.kind == "R" and a.lo is not None and a.length is not None]
    try:
        with judge.regions.budget():
            sent = judge.region(use.node, use.lo, use.length, True)
            if sent is None or not _spared(judge, use, n, sent):
                return False
            regions = (judge.region(n, a.lo, a.length, False) for a in reads if a.lo is not None)
            return any(r is not None and not r.intersect(sent).is_empty() for r in regions)
    except BudgetExceeded:
        judge.regions.context.reset_operations()
        return False


def _spared(judge: Judge, use: Use, n: int, sent: Set) -> bool:
    """What a node needs of the buffer after a use is none of the message's bytes: those are written before."""
    live = _live(judge, use, n)
    return not live.is_empty() and live.intersect(sent).is_empty()


def _live(judge: Judge, use: Use, n: int) -> Set:
    """What a node needs of the buffer after a use."""
    assumed: frozenset[str] = frozenset() if judge.strict else frozenset({PADDING, SIGNS})
    return judge.here(use, judge.live(None, frozenset([n]), assumed)[0].get(use.node, judge.regions.none))


def _same_turn(judge: Judge, use: Use, n: int, read: tuple[Poly, Poly]) -> bool:
    """A number by which both regions are told is the same one: both are of one turn of each loop that gives it."""
    symbols, nest, nodes = judge.symbols, judge.program.nest, judge.program.graph.nodes
    assert use.lo is not None
    assert use.length is not None
    given = {loop for p in (use.lo, use.length, *read) for loop in symbols.scope(symbols.resolve(p))}
    shared = given.intersection(nest.chain(nodes[use.node].block), nest.chain(nodes[n].block))
    return not shared or in_turn(judge.program, use.node, n, shared)

"""Which sizes a program itself makes negative, so that nobody can assume the contrary (assumption A3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.memory.poly import ZERO, Poly
from opi_xform.memory.symbols import CUT, Symbols
from opi_xform.memory.values import Values

_SMALL = frozenset({"%", "<", ">", "<=", ">=", "==", "!=", "not"})
MOST_VALUES = 64  # that a size may have, as far as they are looked at


def negative(graph: Graph, values: Values, value: Poly, nonneg: Callable[[Poly], bool]) -> bool:
    """The program itself gives it a negative number on some path, or it has more values than are looked at.

    nonneg: a number is known not to be negative where the size is.  Unless that is known, what a loop takes away in
    its turns, or in some of them, gets negative, what is negative in the first turn is so, and so is what is nothing
    but taken away.  What a loop adds is looked at by itself.

    Of what functions do that are not copied it is not known where: one such number there is enough.  What deeper
    levels of a function hand to each other is not known either, where its buffers are those of one activation.
    """
    if graph.background.negative or values.owners:
        return True
    symbols = values.symbols
    size = symbols.resolve(value)
    # with what each was made from, and whether it is of an earlier turn, of which nothing was tested
    work, seen = deque[tuple[Poly, tuple[Poly, ...], bool]]([(size, (), False)]), set[tuple[Poly, bool]]()
    while work and len(seen) < MOST_VALUES:
        item, made_from, earlier = work.popleft()
        changes = [item - one for one in made_from]
        if any((change.constant or 0) < 0 for change in changes):  # further turns take this away once more
            if not nonneg(size):
                return True
            continue
        if (item, earlier) in seen:
            continue
        seen.add((item, earlier))
        added = next((change for change in changes if _added(change)), None)
        if added is not None:  # further turns add this once more
            work.append((added, (), earlier))
            continue
        shown = symbols.is_nonneg if earlier else nonneg
        less = _taken(item) or _falling(values, item) or _below(values, item)
        if (item.constant or 0) < 0 or (less and not shown(item)):
            return True
        made_from = (*made_from, item)
        for s in item.symbols():
            inside = _inside(values, s)
            before = earlier or inside != s or inside in values.cells
            merged = (symbols.resolve(item.substitute({s: p}.get)) for p in values.joins.get(inside, ()))
            work += [(p, made_from, before) for p in merged]
            work += [(p, made_from, earlier or inside != s) for p in _made_of(values, inside)]
    return bool(work) and not nonneg(size)


def before_turns(nest: LoopNest, symbols: Symbols, block: int, size: Poly) -> int:
    """Where it is asked whether a size is negative, of a loop around a block that makes as many turns.

    Inside of that loop it never is, since there is a turn.  So it is the header of the first loop that does not change
    the size; or the block, where all do.
    """
    scope = symbols.scope(size)
    outer = [loop for loop in nest.chain(block) if loop not in scope]
    first = min(outer, key=lambda loop: len(nest.chain(nest.loops[loop].header)), default=None)
    return block if first is None else nest.loops[first].header


def _added(change: Poly) -> bool:
    return bool(change.terms) and all(c > 0 for _, c in change.terms)


def _taken(item: Poly) -> bool:
    """All that is not known is taken away: ``-n``, ``1 - n``."""
    unknown = [c for m, c in item.terms if m]
    return bool(unknown) and all(c < 0 for c in unknown)


def _falling(values: Values, item: Poly) -> bool:
    """It may get less with the turns of a loop."""
    return any(c < 0 and any(_turns(values, s) for s in m) for m, c in item.terms)


def _below(values: Values, item: Poly) -> bool:
    """It may be a negative number where what changes with the turns of loops is nothing, as in the first of them."""
    first = item.substitute({s: ZERO for s in item.symbols() if _turns(values, s)}.get)
    return (first.constant or 0) < 0


def _turns(values: Values, s: int) -> bool:
    """How often a loop has run, or what it changes, also when it has been left; or what is computed of these.

    Of additions nothing is left here: it is a quotient, a remainder, a test.  The latter two are small numbers,
    whatever they are computed of.
    """
    table = values.symbols.table
    seen, work = {s}, [s]
    while work:
        at = _inside(values, work.pop())
        info = table[at]
        if info.kind == "count" or at in values.cells or (info.kind == "op" and info.key[0] in _SMALL):
            return True
        more = {x for p in info.operands for x in p.symbols()} if info.kind == "op" else set[int]()
        work += sorted(more - seen)
        seen |= more
    return False


def _inside(values: Values, s: int) -> int:
    """What a number was in the loops that have been left."""
    table = values.symbols.table
    while table[s].kind == "exit":
        inside = table[s].key[1]
        assert isinstance(inside, int)
        s = inside
    return s


def _made_of(values: Values, s: int) -> list[Poly]:
    """What ``s`` is the quotient or the remainder of, or becomes in a type with fewer bits: it may have that sign."""
    info = values.symbols.table[s]
    if info.kind != "op" or info.key[0] not in ("/", "%", CUT):
        return []
    return [values.symbols.resolve(p) for p in info.operands]

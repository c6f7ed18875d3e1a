"""What bears on the bytes that are live, and what a live region can do without where it has too many cases.

Each branch on the way back through a program can double the cases of a live region, although most conditions have
nothing to do with the object.  A number bears on it when it stands in a place that is read or written, when it decides
whether a write or a message of the object runs, or when such a number was made of it.  The others can be left out: the
region is then that of any of their values, which holds more, never less.

Which numbers are left out is a matter of cost alone.  Whatever the choice, no byte is lost:

- Only bytes that are live, and bytes that may pass a stretch unharmed, are made simpler.  Of both, more is safe.
- What a write covers, and what a loop is sure to have written, is never made simpler.  It is taken off exactly, for
  each value of its symbols, also from a region that no longer tells of them.
- What passes all turns before turn k is what none of them stops, and a turn stops what does not pass it.  Where more
  may pass a turn, less is stopped, and more comes through: the two complements cancel out (``Live.before``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from islpy import Set

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.memory.poly import Poly, symbol
from opi_xform.memory.values import Values
from opi_xform.regions.sets import Regions
from opi_xform.values.arithmetic.floating import is_unknown_floating

MOST_GUARDS = 16
MOST_LEFT = 8  # symbols of a loop whose names after it are told whatever they are
MANY = 24  # cases of a region from which on it is made simpler
TOO_MANY = 72  # from which on it is told by places only


class Happens(Protocol):
    @property
    def kill(self) -> Set | None: ...

    @property
    def use(self) -> Set | None: ...


class Bearing:
    """The symbols that bear on one object, found when they are asked for."""

    def __init__(
        self,
        graph: Graph,
        nest: LoopNest,
        values: Values,
        regions: Regions,
        events: Mapping[int, Sequence[Happens]],
        queries: Iterable[int],
        busy: Iterable[int],
    ) -> None:
        self.graph = graph
        self.nest = nest
        self.values = values
        self.symbols = values.symbols
        self.regions = regions
        self.events = events
        self.queries = queries
        self.busy = busy
        self.found: set[int] | None = None
        self.places: set[int] | None = None
        self.named: dict[int, Set | None] = {}  # ``leaving``, by loop

    def simpler(self, s: Set) -> Set:
        """The set, or a superset with fewer cases where it has many.  Not for what is written: that must not grow."""
        for most, needed in ((MANY, self.bears), (TOO_MANY, self.is_place)):
            if s.n_basic_set() <= most:
                break
            unwanted = [name for name, m in self.regions.monomials(s).items() if not any(map(needed, m))]
            if unwanted:
                s = self.regions.drop(s, unwanted).coalesce()
        return s

    def leaving(self, loop: int) -> Set | None:
        """What a loop's symbols are called after it: each exit symbol equals the one inside.

        An equation that is left out takes nothing away: the symbol after the loop may then be anything.
        """
        if loop not in self.named:
            self.named[loop] = self.names_of(loop)
        return self.named[loop]

    def names_of(self, loop: int) -> Set | None:
        pairs = self.symbols.exits.get(loop, {})
        out: Set | None = None
        named = [pair for pair in sorted(pairs.items()) if self.may_count(pair[1])]
        if len(named) > MOST_LEFT:
            named = [(outer, inside) for outer, inside in named if self.bears(outer)]
        for outer, inside in named[: 3 * MOST_LEFT]:
            if self.symbols.definition(outer) is not None:
                closed = self.symbols.resolve(symbol(outer))
                left = closed
            else:
                left = symbol(outer)
            same = self.regions.compare("==", left, symbol(inside))
            out = same if out is None else out.intersect(same)
        return out

    def may_count(self, s: int) -> bool:
        """The symbol may stand in a subscript or comparison: it is no state of memory, and no floating value."""
        info = self.symbols.table[s]
        while info.kind == "exit":
            inside = info.key[1]
            assert isinstance(inside, int)
            info = self.symbols.table[inside]
        match info.kind:
            case "version":
                return False
            case "phi":
                cell = info.key[1]
                return not (isinstance(cell, tuple) and cell[0] == "v")
            case "load":
                return info.key[2] != "float"
            case "opaque":
                return not is_unknown_floating(info)
            case _:
                return True

    def bears(self, s: int) -> bool:
        """The symbol has to do with the object, or counts turns."""
        if self.found is None:
            self.found = self.closure(self.seeds())
        while s not in self.found:
            info = self.symbols.table[s]
            if info.kind != "exit":
                return info.kind == "count"
            inside = info.key[1]
            assert isinstance(inside, int)
            s = inside
        return True

    def is_place(self, s: int) -> bool:
        """The symbol stands in a place that is read or written, or counts turns."""
        return s in self.in_places() or self.symbols.table[s].kind == "count"

    def in_places(self) -> set[int]:
        """Symbols of places that are read or written."""
        if self.places is None:
            regions = [r for found in self.events.values() for e in found for r in (e.kill, e.use) if r is not None]
            self.places = set[int]().union(*map(self.regions.symbols_of, regions))
        return self.places

    def seeds(self) -> set[int]:
        """Symbols of places, and of the conditions of writes, messages and turns."""
        out = set(self.in_places())
        blocks = {self.graph.nodes[n].block for n in self.queries}
        killing = [n for n, found in self.events.items() if any(event.kill is not None for event in found)]
        blocks.update(self.graph.nodes[n].block for n in killing)
        branches = {b for block in blocks for b in self.guards(block)}
        branches.update(source for loop in self.busy for source, _ in self.nest.loops[loop].exits)
        for b in branches:
            condition = self.values.conditions.get(self.graph.blocks[b][-1]) if self.graph.blocks[b] else None
            if condition is not None:
                out.update(self.symbols.resolve(condition.left - condition.right).symbols())
        return out

    def guards(self, block: int) -> list[int]:
        """The nearest branches that decide whether the block is reached."""
        out: list[int] = []
        while block and len(out) < MOST_GUARDS:
            parent = self.nest.idom[block]
            if len(self.graph.succs[parent]) > 1 and self.graph.preds[block] == (parent,):
                out.append(parent)
            block = parent
        return out

    def closure(self, seeds: set[int]) -> set[int]:
        """Those symbols, and all that they are made of."""
        out, work = set[int](), sorted(seeds)
        while work:
            s = work.pop()
            if s in out:
                continue
            out.add(s)
            info = self.symbols.table[s]
            made: tuple[Poly, ...] = self.values.joins.get(s, ())
            closed = self.symbols.definition(s)
            made = made if closed is None else (*made, closed)
            for p in made:
                work.extend(self.symbols.resolve(p).symbols())
            if info.kind == "exit":
                inside = info.key[1]
                assert isinstance(inside, int)
                work.append(inside)
        return out

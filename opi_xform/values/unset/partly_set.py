"""Local numbers that are set on some of the paths that meet: ``if (comm != MPI_COMM_NULL) { first = …; last = …; }``.

Such a number has, after the paths meet, the value that it was given: to use it where nobody set it is undefined
(C 6.3.2.1p2), or finds any number where its address is taken.  So there any value will do.  The one that is chosen
keeps what the number has to do with others that the other paths set, too: after ``width = last - first + 1`` on one
path, and ``first = 0; last = -1;`` on the other, it is ``last - first + 1`` of what these are then.

Not so for a constant: a flag that is set on one path and tested on both is a mistake that programs live with, as what
nobody set is often 0.  Nor for a variable that begins anew in each turn of a loop of its function: where it is set in
the first turn only, it mostly still has its value in the second.

A test of such a number tells no more than that it is the same at each test, but for that of a loop that counts up to
it: where nobody set it, the test finds this or that, and a program may be right with both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly, symbol
from opi_xform.memory.symbols import Key
from opi_xform.memory.values import Comparison, Values
from opi_xform.record import dataclass

NOBODY = "indeterminate"  # what a variable is where it begins

Merged = tuple[int, tuple[Poly, ...]]  # a symbol, and what it joins, one value for each path


@dataclass(frozen=True, slots=True)
class PartlySet:
    """What is known of such numbers in one program graph.

    variables: by key.  In ``values.partly`` stand their symbols, each with what stands for it where it is tested.
    known: what stands for an operation, or for what a loop left behind; it stays that, as such numbers are noted when
    they are made.  Operations share what they are of: to follow each of them anew takes exponentially long.
    """

    graph: Graph
    nest: LoopNest
    values: Values
    variables: Mapping[str, ast.Variable]
    known: dict[int, Poly | None] = field(default_factory=dict)

    def unset(self, value: Poly) -> bool:
        """It is what such a number holds where nobody has set it."""
        s = value.single
        info = self.values.symbols.table[s] if s is not None else None
        if info is None or info.kind != "opaque" or info.key[1:] != (NOBODY,):
            return False
        n = info.key[0]
        assert isinstance(n, int)
        node = self.graph.nodes[n]
        if not isinstance(node.action, ins.Birth) or self.variables[node.action.var].type.kind != "int":
            return False
        call = self.graph.frames[node.frame].call
        around = self.nest.chain(self.graph.nodes[call].block) if call >= 0 else ()
        return self.nest.chain(node.block) == around

    def where_paths_meet(self, incoming: Sequence[Poly], merged: Sequence[Merged], mark: int) -> Poly | None:
        """What such a number is there, of which ``incoming`` are its values, one for each path; None: not known.

        merged: of other numbers, at the same place.  mark: symbols from this number on come from the paths, not from
        before they part.
        """
        paths = [i for i, v in enumerate(incoming) if not self.unset(v)]
        if not paths:
            return None
        value = self.chosen(incoming[paths[0]])
        if value.constant is not None or any(self.chosen(incoming[i]) != value for i in paths):
            return None

        def joined(s: int) -> Poly | None:
            if s < mark:
                return None
            ways = ((phi, [self.chosen(values[i]).single for i in paths]) for phi, values in merged)
            return next((symbol(phi) for phi, singles in ways if all(t == s for t in singles)), None)

        return value.substitute(joined)

    def chosen(self, value: Poly) -> Poly:
        """A value in which each such number is what was chosen for it."""
        partly, defs = self.values.partly, self.values.symbols.defs
        while any(s in partly for s in value.symbols()):
            value = value.substitute(lambda s: defs[s] if s in partly else None)
        return value

    def look_again(self) -> None:
        """Takes out what tests of such numbers tell, once all is known that is made of them."""
        values = self.values
        if not values.partly:
            return
        clean = set[int]()  # all is known, so this stays what it is
        for n, comparison in list(values.conditions.items()):
            tested = self.tested(n, comparison, clean)
            if tested is None:
                del values.conditions[n]
            else:
                values.conditions[n] = tested
        for n, value in list(values.switches.items()):
            if self.comes_from(value, clean):
                scope = frozenset(self.nest.chain(self.graph.nodes[n].block))
                values.switches[n] = values.symbols.of("opaque", (n, "partly set"), scope)

    def tested(self, n: int, comparison: Comparison, clean: set[int] | None = None) -> Comparison | None:
        """What the branch at node n tells: of such numbers, no more than that they are the same at each test, unless it
        is the end of a loop that counts.

        clean: see ``comes_from``.
        """
        if not self.values.partly:
            return comparison
        difference = comparison.left - comparison.right
        block = self.graph.nodes[n].block
        for loop in self.nest.chain(block):
            info = self.nest.loops[loop]
            ends = block == info.header or block in info.latches
            if ends and any(source == block for source, _ in info.exits):
                if loop in self.values.symbols.scope(difference):
                    return comparison
                break
        as_tested = self.as_tested
        left, right = comparison.left.substitute(as_tested), comparison.right.substitute(as_tested)
        return None if self.comes_from(left - right, clean) else replace(comparison, left=left, right=right)

    def as_tested(self, s: int) -> Poly | None:
        """What stands for a symbol where such a number is not known to be what was chosen for it; None: itself."""
        found = self.values.partly.get(s)
        if found is not None:
            return found
        symbols = self.values.symbols
        info = symbols.table[s]
        if info.kind not in ("exit", "op"):
            return None
        if s in self.known:
            return self.known[s]
        if info.kind == "exit":
            loop, inside = info.key
            assert isinstance(loop, int)
            assert isinstance(inside, int)
            tested = self.as_tested(inside)
            found = None if tested is None else symbols.leave(tested, loop)
        else:
            key = self.key_as_tested(info.key)
            found = None if key == info.key else symbols.of("op", key, info.scope, info.nonneg)
        self.known[s] = found
        return found

    def key_as_tested(self, key: Key) -> Key:
        """What an operation is of, the same way."""
        out: list[object] = []
        for k in key:
            if isinstance(k, Poly):
                out.append(k.substitute(self.as_tested))
            else:
                out.append(self.key_as_tested(k) if isinstance(k, tuple) else k)
        return tuple(out)

    def comes_from(self, value: Poly, clean: set[int] | None = None) -> bool:
        """Such a number is in a value, or in what it was made of.

        clean: symbols of which it is known that there is none.  More are added.
        """
        symbols, seen = self.values.symbols, set[int]()
        work = list(value.symbols())
        while work:
            s = work.pop()
            if s in self.values.partly:
                return True
            if s in seen or (clean and s in clean):
                continue
            seen.add(s)
            info = symbols.table[s]
            if info.kind == "exit":
                inside = info.key[1]
                assert isinstance(inside, int)
                work.append(inside)
            made_of = [*self.values.joins.get(s, ()), *info.operands]
            work += [t for v in made_of for t in v.symbols()]
        if clean is not None:
            clean |= seen
        return False

"""Local numbers that are set on some of the paths that meet: ``if (comm != MPI_COMM_NULL) { first = …; last = …; }``.

Such a number has, after the paths meet, the value that it was given: to use it where nobody set it is undefined
(C 6.3.2.1p2), so there any value will do.  The one that is chosen keeps what the number has to do with others that the
other paths set, too: after ``width = last - first + 1`` on one path, and ``first = 0; last = -1;`` on the other, it is
``last - first + 1`` of what these are then.

Not so for a constant: a flag that is set on one path and tested on both is a mistake that programs live with, as what
nobody set is often 0.  Nor for a variable that begins anew in each turn of a loop of its function: where it is set in
the first turn only, it mostly still has its value in the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opi_xform.graph.graph import Graph
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.record import dataclass

NOBODY = "indeterminate"  # what a variable is where it begins

Merged = tuple[int, tuple[Poly, ...]]  # a symbol, and what it joins, one value for each path


@dataclass(frozen=True, slots=True)
class PartlySet:
    """What is known of such numbers in one program graph.  variables: by key."""

    graph: Graph
    nest: LoopNest
    symbols: Symbols
    variables: Mapping[str, ast.Variable]

    def unset(self, value: Poly) -> bool:
        """It is what such a number holds where nobody has set it."""
        s = value.single
        info = self.symbols.table[s] if s is not None else None
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
        value = incoming[paths[0]]
        if value.constant is not None or any(incoming[i] != value for i in paths):
            return None

        def joined(s: int) -> Poly | None:
            if s < mark:
                return None
            return next((symbol(phi) for phi, values in merged if all(values[i].single == s for i in paths)), None)

        return value.substitute(joined)

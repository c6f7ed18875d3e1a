"""Abstract objects: one per variable and frame, one per allocation call in the program graph, one for all else."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from opi_xform.ir import ast
from opi_xform.ir.types import Type
from opi_xform.record import dataclass

UNKNOWN = 0


@dataclass(frozen=True, slots=True)
class Object:
    """kind: ``variable``, ``heap``, ``family`` or ``unknown``.  frame: -1 for globals.  nodes: the allocation calls
    (heap): several, where what they give is there one at a time (``successive.py``).

    A family is what the cells of an array of pointers own, one buffer per index; ``members``: the allocations behind
    it.
    """

    number: int
    kind: str
    name: str
    type: Type | None = None
    variable: str | None = None
    frame: int = -1
    nodes: tuple[int, ...] = ()
    members: tuple[int, ...] = ()

    @property
    def node(self) -> int:
        """The allocation call, the first of several; -1: none."""
        return self.nodes[0] if self.nodes else -1


class Objects:
    """Numbers objects on demand; number 0 is everything that is not the program's own."""

    def __init__(
        self,
        variables: Mapping[str, ast.Variable],
        others: Collection[str] = (),
        successive: Mapping[int, int] | None = None,
    ) -> None:
        """others: variables that are not the program's own (``effects/outside.py``).  successive: allocations that
        count as one, with the first of them."""
        self.variables = variables
        self.together: dict[int, tuple[int, ...]] = {}
        for n, first in sorted((successive or {}).items()):
            self.together[first] = (*self.together.get(first, ()), n)
        self.first = dict(successive or {})
        self.others = others
        self.table: list[Object] = [Object(UNKNOWN, "unknown", "?")]
        self.by_variable: dict[tuple[int, str], int] = {}
        self.by_name: dict[str, list[int]] = {}  # by the variable's key: in all frames, ascending
        self.by_node: dict[int, int] = {}
        self.globals: set[int] = set()
        self.named: set[int] = set()  # globals that the program's text has a name for
        self.unreached: frozenset[str] = frozenset()  # variables that no call which is lost reaches: members, say
        self.exposed: set[int] = {UNKNOWN}
        self.foreign: set[int] = {UNKNOWN}  # memory that others write: what it holds is a new unknown at each read
        self.called_back: set[int] = set()  # globals of functions that unknown code may call
        self.relative: frozenset[int] = frozenset()  # calls that make datatypes with no address in them
        self.hidden: frozenset[str] = frozenset()  # functions that may give addresses away for others to keep
        self.floats_apart = False  # stores of floating numbers leave integers and addresses as they are
        self.frames: dict[int, set[int]] = {}
        self.first_frame = self.first_node = 1 << 60  # those from here on are in the background of the graph

    def variable(self, frame: int, key: str) -> int:
        var = self.variables[key]
        if var.is_global:
            frame = -1
        found = self.by_variable.get((frame, key))
        if found is None:
            found = len(self.table)
            if frame >= self.first_frame:
                self.by_variable[(frame, key)] = found
                return self.background(var.name)
            self.table.append(Object(found, "variable", var.name, var.type, key, frame))
            self.by_variable[(frame, key)] = found
            self.by_name.setdefault(key, []).append(found)
            if frame < 0:
                self.globals.add(found)
                if key not in self.unreached:
                    self.named.add(found)
                if key in self.others:
                    self.foreign.add(found)
                    self.exposed.add(found)
            else:
                self.frames.setdefault(frame, set()).add(found)
        return found

    def heap(self, node: int) -> int:
        found = self.by_node.get(node)
        if found is None:
            found = len(self.table)
            if node >= self.first_node:
                self.by_node[node] = found
                return self.background(f"allocation {node}")
            nodes = self.together.get(self.first.get(node, node), (node,))
            self.table.append(Object(found, "heap", f"allocation {nodes[0]}", nodes=nodes))
            self.by_node.update(dict.fromkeys(nodes, found))
        return found

    def background(self, name: str) -> int:
        """Memory of functions that are not copied: one object stands for any number of them, at no place known."""
        found = len(self.table)
        self.table.append(Object(found, "unknown", name))
        return found

    def family(self, array: int, members: tuple[int, ...]) -> int:
        """What the cells of an array of pointers own."""
        found = len(self.table)
        info = self.table[array]
        self.table.append(Object(found, "family", f"{info.name}[]", None, info.variable, info.frame, members=members))
        if info.variable is not None:
            self.by_name[info.variable].append(found)
        return found

    def locals_of(self, frame: int) -> set[int]:
        return self.frames.get(frame, set())

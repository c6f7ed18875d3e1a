"""The pass over the program graph once more, to be told what operands are worth at certain nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from opi_xform.calls.of_graph import calls_of
from opi_xform.effects.model import Effects
from opi_xform.graph.graph import Graph, Node
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import Poly
from opi_xform.memory.queries import PointsTo
from opi_xform.memory.values import Values
from opi_xform.values.interp import Interpreter


class Watching(Interpreter):
    """The same pass once more, to be told what operands are worth at certain nodes, before these run.

    wanted: by node: (frame, operand).  found: their values, by node and place in that list.
    """

    wanted: Mapping[int, Sequence[tuple[int, ins.Operand]]]
    found: dict[tuple[int, int], Poly]

    def step(self, node: Node) -> None:
        for i, (frame, operand) in enumerate(self.wanted.get(node.number, ())):
            self.found[node.number, i] = self.value(node, frame, operand)
        super().step(node)


def watch(
    graph: Graph,
    nest: LoopNest,
    variables: Mapping[str, ast.Variable],
    objects: Objects,
    points_to: PointsTo,
    effects: Effects,
    whole_program: bool,
    wanted: Mapping[int, Sequence[tuple[int, ins.Operand]]],
    unwritten: Collection[str] = (),
) -> tuple[Values, dict[tuple[int, int], Poly]]:
    """What ``interpret`` finds, with the values of operands: their symbols are those of these values, of no others."""
    calls = calls_of(graph, objects, points_to, effects)
    watching = Watching(calls, nest, variables, whole_program, unwritten)
    watching.wanted, watching.found = wanted, {}
    return watching.run(), watching.found

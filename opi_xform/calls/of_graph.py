"""The answers about the calls of a program graph, put together."""

from __future__ import annotations

from opi_xform.calls.calls import Calls
from opi_xform.calls.deeper import Deeper
from opi_xform.calls.summarised import Summarised
from opi_xform.effects.model import Effects
from opi_xform.graph.graph import Graph
from opi_xform.memory.objects import Objects
from opi_xform.memory.queries import PointsTo


def calls_of(graph: Graph, objects: Objects, points_to: PointsTo, effects: Effects) -> Calls:
    """What the calls of a graph do that it does not follow."""
    return Calls(graph, objects, points_to, effects, Deeper, Summarised)

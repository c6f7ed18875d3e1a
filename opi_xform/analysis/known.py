"""What is known of a program: one graph of it, where its pointers point, the values of its operands.

The order: which calls are followed, the graph, its memory, pointers that change places, pointers in structs as
variables.  Memory is points-to and values, and both once more where allocations count as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace

from opi_xform.effects.model import Effects
from opi_xform.effects.outside import foreign
from opi_xform.graph.around import Around
from opi_xform.graph.copies import build
from opi_xform.graph.graph import MAIN, Background, Graph
from opi_xform.graph.loops import LoopNest, loop_nest
from opi_xform.graph.summaries import Relevance
from opi_xform.graph.whole import Whole, called_back, entries, initialised
from opi_xform.ir import ast
from opi_xform.memory.objects import Objects
from opi_xform.memory.values import Values
from opi_xform.ownership.buffers.members import counters, promote, wanted
from opi_xform.ownership.buffers.number_tables import number_tables, promoted
from opi_xform.ownership.buffers.tables import find_tables
from opi_xform.ownership.disjoint import Apart, never_of
from opi_xform.ownership.model.buffers import Member, Program
from opi_xform.ownership.relevance import followed_all, relevant
from opi_xform.ownership.swaps import Found, placed, sound
from opi_xform.ownership.swaps import find as find_swaps
from opi_xform.pointsto.constraints import GraphPointsTo
from opi_xform.pointsto.successive import successive
from opi_xform.program.succeeding import succeeding
from opi_xform.record import dataclass
from opi_xform.values.interp import interpret

Part = Callable[[str], AbstractContextManager[None]]
"""Called with the name of a part of the analysis, around it: times are taken there."""

MEMBER_ROUNDS = 3
"""Pointers in structs that are reached through one another: each round follows one more."""


class _TakenApartError(Exception):
    """Addresses travel as bytes: a function whose calls are passed over may move them."""


def untimed(_name: str) -> AbstractContextManager[None]:
    return nullcontext()


def program(
    whole: Whole, effects: Effects, everything: bool = True, exchanges: bool = False, part: Part = untimed
) -> Program:
    """What is known of a program (``Analysis.program``)."""
    return Analysis.of(whole, effects, part).program(everything, exchanges)


@dataclass(frozen=True, slots=True)
class Shape:
    """One graph of a program.  members: pointers and numbers in structs that are variables in it."""

    graph: Graph
    nest: LoopNest
    variables: Mapping[str, ast.Variable]
    members: Mapping[str, Member] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A program, and how it is looked at: what all graphs of it have in common.

    complete: nothing outside the files calls in.  apart: what a person says of pointers.  alone: functions that are
    looked at by themselves (``graph/islands.py``); the others may do anything, but for variables that are these'
    ``own``.
    """

    whole: Whole
    effects: Effects
    around: Around
    complete: bool
    part: Part = untimed
    apart: Sequence[Apart] = ()
    alone: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()

    @classmethod
    def of(cls, whole: Whole, effects: Effects, part: Part = untimed) -> Analysis:
        """Of all that the entries of the program reach."""
        complete = entries(whole) == (MAIN,)
        with part("calls"):
            around = Around(whole, effects, complete)
        return cls(whole, effects, around, complete, part)

    def program(self, everything: bool = True, exchanges: bool = False) -> Program:
        """The analysed graph: of everything, or of all that a decision can depend on.

        everything: every call has a copy of its function, however large that gets.  exchanges: pointers that change
        places stay where they are in the graph (``ownership/swaps.py``); who asks for it has to look at
        ``Program.exchanges``.  Raises TooLargeError.
        """
        relevance = None if everything or not self.complete else self.relevance()
        try:
            return self.followed(relevance, exchanges)
        except _TakenApartError:
            assert relevance is not None
            return self.followed(followed_all(relevance), exchanges)

    def relevance(self) -> Relevance:
        lowerings, pointers, variables = self.around.lowerings, self.around.pointers, self.whole.variables
        with self.part("relevance"):
            return relevant(lowerings, self.effects, pointers, variables, called_back(self.whole))

    def followed(self, relevance: Relevance | None, exchanges: bool) -> Program:
        """The analysed graph in which these calls are followed.  Raises _TakenApartError where more have to be."""
        with self.part("graph"):
            graph = self.graph(relevance)
            shape = Shape(graph, loop_nest(graph.succs, graph.preds), self.whole.variables)
        known = self.memory(shape, graph.partial)
        swaps = find_swaps(known) if exchanges else []
        while swaps:
            found = self.exchanged(shape, swaps, known.values.objects.relative)
            right = sound(found, swaps)
            if len(right) == len(swaps):
                known.end()
                return found
            found.end()
            swaps = right
        last = [known]
        del known  # a program's values are large: two at a time are enough
        return self.promoted(last)

    def exchanged(self, shape: Shape, swaps: Sequence[Found], relative: frozenset[int]) -> Program:
        """The program with pointers that change places left where they are, whether that is right or not."""
        without, exchanges = placed(shape.graph, swaps, {}, shape.variables)
        first = self.memory(replace(shape, graph=without), exchanged=True, relative=relative)
        last = [replace(first, exchanges=exchanges)]
        del first
        return self.promoted(last, swaps)

    def graph(self, relevance: Relevance | None) -> Graph:
        whole, around = self.whole, self.around
        rooted = bool(self.complete and self.alone)
        never_fail = (
            succeeding(whole.functions, whole.variables, self.effects) if self.complete and not rooted else frozenset()
        )
        graph = build(
            around.lowerings,
            entries(whole) if self.complete else tuple(sorted(self.alone)) or entries(whole),
            self.effects,
            around.pointers,
            relevance,
            initialised(whole),
            never_fail,
            self.alone,
            around.bodies if self.alone else None,
            rooted,
        )
        if not self.alone:
            return graph
        if not rooted:  # the rest of the program may hand any number to them
            return replace(graph, background=Background(negative=True))
        # what is not followed may set and name all variables but these, and make negative numbers
        named = frozenset(key for key, v in whole.variables.items() if v.is_global) - self.own
        return replace(
            graph, passed=frozenset(whole.functions) - self.alone, background=Background(named=named, negative=True)
        )

    def promoted(self, last: list[Program], swaps: Sequence[Found] = ()) -> Program:
        """The program with pointers in structs, and numbers, as variables.  It takes the program out of the list."""
        found = last.pop()
        for _ in range(MEMBER_ROUNDS):
            if found.nest.irreducible:
                break
            through = wanted(found)
            with self.part("members"):
                more = promote(found, find_tables) if through else counters(found)
            if more is None:
                break
            with self.part("members"):
                graph, variables = promoted(more.graph, more.variables, number_tables(found) if through else ())
                graph, exchanges = placed(graph, swaps, more.members, variables)
            found.end()
            shape = Shape(graph, found.nest, variables, more.members)
            before, relative = {} if swaps else found.values.objects.first, found.values.objects.relative
            del found
            found = replace(self.memory(shape, False, before, bool(swaps), relative), exchanges=exchanges)
        return found

    def memory(
        self,
        shape: Shape,
        partial: bool = False,
        before: Mapping[int, int] | None = None,
        exchanged: bool = False,
        relative: frozenset[int] = frozenset(),
    ) -> Program:
        """What a graph's memory holds.  It is looked at once more where allocations count as one.

        partial: some calls are passed over.  Raises _TakenApartError where they may not be.  before: allocations that
        count as one in a graph that does the same: so they do here.  exchanged: pointers change places, and the graph
        does not show it.  relative: calls in a graph of the same program that make datatypes with no address in them:
        they do here.
        """
        objects, points_to, values = self.values(shape, before or {}, relative, partial)
        relative = objects.relative
        more = successive(shape.graph, objects, points_to, values, self.effects, exchanged)
        fresh = values.relative - relative
        if more or fresh:
            relative |= fresh
            del objects, points_to, values
            if before and more:  # these may have to do with those
                return self.memory(shape, partial, exchanged=exchanged, relative=relative)
            objects, points_to, values = self.values(shape, more or before or {}, relative, partial)
        whole = self.whole
        return Program(
            shape.graph,
            shape.nest,
            values,
            shape.variables,
            whole.functions,
            self.effects,
            whole.constants,
            4 if "MPICH_VERSION" in whole.constants or "MPICH_NUMVERSION" in whole.constants else 8,
            self.complete,
            points_to,
            shape.members,
            frozenset(whole.taken),
            whole.files,
            whole.unsteady,
            whole.names_proc_null,
            never_of(objects, self.apart),
            threads=whole.threads,
            freeing=whole.freeing,
            shared=whole.shared,
            alone=self.alone,
            pointers=whole.pointers,
            left_out=whole.left_out,
        )

    def values(
        self, shape: Shape, joined: Mapping[int, int], relative: frozenset[int], partial: bool
    ) -> tuple[Objects, GraphPointsTo, Values]:
        """Where pointers point, and the values of operands; joined: allocations that count as one.

        It is done once more where calls that make datatypes with no address in them are found early on.
        """
        unwritten = {key for key, member in shape.members.items() if member.raw}
        while True:
            objects = self.objects(shape, joined, relative)
            with self.part("points-to"):
                points_to = GraphPointsTo(
                    shape.graph, shape.variables, objects, self.effects, never_of(objects, self.apart)
                )
            if partial and points_to.taken_apart():
                raise _TakenApartError
            with self.part("values"):
                values = interpret(
                    shape.graph,
                    shape.nest,
                    shape.variables,
                    objects,
                    points_to,
                    self.effects,
                    self.complete,
                    unwritten,
                )
            if values.whole:
                return objects, points_to, values
            relative |= values.relative
            del objects, points_to, values  # they are large

    def objects(self, shape: Shape, joined: Mapping[int, int], relative: frozenset[int]) -> Objects:
        """The memory that a graph's program has, of which nothing is known yet."""
        known, variables, background = self.whole.variables, shape.variables, shape.graph.background
        objects = Objects(variables, foreign(known, self.complete), joined)
        objects.relative = relative
        objects.unreached = frozenset(variables.keys() - known.keys()) | self.own
        objects.first_frame, objects.first_node = background.frame, background.node
        for key in sorted(key for key, v in variables.items() if v.is_global):
            o = objects.variable(-1, key)
            seen = variables[key].kind == "extern" and (not self.complete or self.around.looks_up)
            if (seen or (self.alone and not self.complete)) and key not in self.own:
                objects.exposed.add(o)
        objects.called_back.update(objects.variable(-1, key) for key in self.around.called_back if key not in self.own)
        objects.hidden = self.around.hidden
        objects.floats_apart = self.around.floats_apart
        return objects
